"""The figures that a reader looks at first, each with its words and in a unit that reads well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from analysis.metrics.catalogue import MetricKey

TO_KIB: Final = 1 / 1024
TO_MB: Final = 1e-6


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A figure of a study as it is shown.

    Attributes:
        key: which one.
        title: its name, with the unit in parentheses.
        scale: from the published unit to the shown one.
        file: how files that show it over a sweep are called.
    """

    key: MetricKey
    title: str
    scale: float = 1.0
    file: str = ""

    @property
    def name(self) -> str:
        """The title without the unit."""
        return self.title.partition(" (")[0]

    @property
    def unit(self) -> str:
        """The unit alone; may be empty."""
        return self.title.partition(" (")[2].rstrip(")")


def _shown(key: str, title: str, scale: float = 1.0, file: str = "") -> ShownFigure:
    return ShownFigure(MetricKey.parse(key), title, scale, file)


KEY_FIGURES: Final = (
    _shown("lock_latency_ms", "lock latency, mean (ms)"),
    _shown("lock_latency_ms.p50", "lock latency, p50 (ms)"),
    _shown("lock_latency_ms.p99", "lock latency, p99 (ms)"),
    _shown("lock_service_ms", "lock service, mean (ms)"),
    _shown("lock_wait_per_txn_ms", "lock waits per txn (ms)"),
    _shown("txn_latency_ms", "txn latency, mean (ms)"),
    _shown("txn_latency_ms.p99", "txn latency, p99 (ms)"),
    _shown("txn_per_s", "transactions (1/s)"),
    _shown("tpmc", "tpmC (1/min)"),
    _shown("disk_write_bytes_per_txn", "disk writes per txn (KiB)", TO_KIB),
    _shown("disk_write_bytes_per_s", "disk writes (MB/s)", TO_MB),
    _shown("fsync_per_s", "fsyncs (1/s)"),
    _shown("network_bytes_per_s", "network (MB/s)", TO_MB),
    _shown("proposals_per_txn", "proposals per txn"),
    _shown("txn_failures", "failed transactions (%)", 100.0),
)
"""Of a comparison of variants at a point, in order."""
KEY_FIGURE_OF: Final = {figure.key: figure for figure in KEY_FIGURES}

OUTCOMES: Final = (
    _shown("lock_latency_ms", "lock latency, mean (ms)", file="lock_latency"),
    _shown("lock_latency_ms.p99", "lock latency, p99 (ms)", file="lock_latency_p99"),
    _shown("txn_latency_ms.p99", "transaction latency, p99 (ms)", file="txn_latency_p99"),
    _shown("disk_write_bytes_per_txn", "disk writes per transaction (KiB)", TO_KIB,
           file="disk_bytes_per_txn"),
    _shown("txn_per_s", "transactions (1/s)", file="txn_per_s"),
)  # fmt: skip
"""Of a sweep."""

HEADLINES: Final = (
    _shown("lock_latency_ms", "Lock latency, mean (ms)"),
    _shown("lock_latency_ms.p99", "Lock latency, p99 (ms)"),
    _shown("txn_latency_ms.p99", "Transaction latency, p99 (ms)"),
    _shown("disk_write_bytes_per_txn", "Disk writes per transaction (KiB)", TO_KIB),
    _shown("disk_write_bytes_per_s", "Disk writes per second (MB)", TO_MB),
    _shown("txn_per_s", "Transactions per second"),
)
"""Of a report."""
