"""An estimate beside what a finished study has found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from analysis.report.estimate_table import Compared, Measured

if TYPE_CHECKING:
    from sim.estimate import Estimate

_PERCENT: Final = 100.0


def compared(
    estimate: Estimate, point: Mapping[str, Any], variant: str, summary: Mapping[str, Any]
) -> list[Compared]:
    """Returns every figure of an estimate beside the one that was simulated."""
    found = {
        (row["metric"], row["class"]): row
        for row in summary["rows"]
        if row["variant"] == variant and row["stat"] == "mean" and row["point"] == dict(point)
    }

    def measured(metric: str, class_: str, scale: float) -> Measured | None:
        row = found.get((metric, class_))
        if row is None or row.get("value") is None:
            return None
        high, low = row.get("ci_high"), row.get("ci_low")
        half = None if high is None or low is None else (high - low) / 2 * scale
        return Measured(row["value"] * scale, half)

    kib, places = 1 / 1024, estimate.write_bytes_per_txn
    writes = "disk_write_bytes_per_txn"
    rows = [
        Compared(
            "transactions (1/s)",
            estimate.txn_per_s if estimate.in_balance else None,
            measured("txn_per_s", "all", 1.0),
        ),
        Compared(
            "txn latency, mean (ms)",
            estimate.response_ms,
            measured("txn_latency_ms", "all", 1.0),
        ),
        Compared(
            "lock latency, mean (ms)",
            estimate.lock_latency_ms,
            measured("lock_latency_ms", "all", 1.0),
        ),
        Compared(
            "disk writes per txn (KiB)",
            None if estimate.bytes_per_txn is None else estimate.bytes_per_txn * kib,
            measured(writes, "all", kib),
        ),
    ]
    rows += [
        Compared(f"  {place}", size * kib, measured(writes, place, kib))
        for place, size in places.items()
    ]
    rows.append(
        Compared("fsyncs (1/s)", estimate.fsyncs_per_s, measured("fsync_per_s", "all", 1.0))
    )
    return [*rows, *_stations(estimate, measured)]


def _stations(
    estimate: Estimate, measured: Callable[[str, str, float], Measured | None]
) -> Iterator[Compared]:
    for station in estimate.stations:
        name = station.name
        busy = measured("cpu_busy", name, _PERCENT) or measured("disk_busy", name, _PERCENT)
        yield Compared(f"{name} busy (%)", station.utilisation * _PERCENT, busy)
