"""What limits a variant: its busiest stations; and where the time and the bytes go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from analysis.metrics.catalogue import LOCK_STATIONS, STATIONS, WRITE_PLACES, MetricKey
from analysis.metrics.rounding import short
from analysis.metrics.shown import TO_KIB
from analysis.page.content import Block, Items
from analysis.page.findings import Findings
from analysis.page.waiting import busiest_by_case, busy_keys, limit_text
from analysis.report.cells import share_text
from analysis.report.table import DASH, ReportTable, by_variant
from analysis.study.units import at_point
from sim.fact_names import WRITE_CAUSES


def limit_blocks(found: Findings) -> Iterator[Block]:
    """Yields utilisation by station, and a sentence a variant."""
    for point in found.whole_points:
        keys = busy_keys(found, point)
        if not keys:
            continue
        yield Items(tuple(_sentence(found, point, name) for name in found.variants))
        yield by_variant(
            found.at("Share of the time that a station is busy", point), "station", found.variants,
            (
                (STATIONS[key.class_],
                 [share_text(found.value(point, name, key)) for name in found.variants])
                for key in keys
            ),
            "Mean over nodes. A raft log that is always busy limits nothing: waiting writes join "
            "the next one.",
        )  # fmt: skip
    if not found.whole_points and not found.searched:
        yield from _busiest_by_point(found)


def _sentence(found: Findings, point: int, variant: str) -> str:
    who = at_point(variant, found.points[point])
    return f"{who}: {limit_text(found, point, variant)}."


_MOST_ROWS: Final = 40


def _busiest_by_point(found: Findings) -> Iterator[ReportTable]:
    """Yields the busiest station of each point and variant of a sweep."""
    cells = {
        case: f"{station.class_} {100 * station.share:.0f} %"
        for case, station in busiest_by_case(found).items()
    }
    if not cells:
        return
    places = sorted({index for index, _ in cells})
    more = len(places) - _MOST_ROWS
    yield by_variant(
        "Busiest station by point", "point", found.variants,
        (
            (found.point_name(index), [cells.get((index, name), DASH) for name in found.variants])
            for index in places[:_MOST_ROWS]
        ),
        *([f"{more:,} more in summary.json."] if more > 0 else []),
    )  # fmt: skip


def time_tables(found: Findings) -> Iterator[ReportTable]:
    """Yields where a lock request's time goes, on average."""
    for point in found.whole_points:
        steps = [one for one in found.classes(point, "lock_station_ms") if "/" not in one]
        if not steps:
            continue
        times_ms = {
            LOCK_STATIONS[step]: _amounts(found, point, "lock_station_ms", step)
            for step in sorted(steps, key=list(LOCK_STATIONS).index)
        }
        times_ms["total"] = [sum(of) for of in zip(*times_ms.values(), strict=True)]
        caption = found.at("Where a lock request's time goes, mean (ms)", point)
        yield _amount_table(found, caption, "step", times_ms)


def byte_tables(found: Findings) -> Iterator[ReportTable]:
    """Yields what a transaction writes, by place and by cause."""
    metric = "disk_write_bytes_per_txn"
    for point in found.whole_points:
        present = found.classes(point, metric)
        for title, parts in (("place", WRITE_PLACES), ("cause", WRITE_CAUSES)):
            shown = [part for part in parts if part in present]
            if shown:
                sizes = {
                    part.replace("_", " "): _amounts(found, point, metric, part, TO_KIB)
                    for part in shown
                } | {"total": _amounts(found, point, metric, "all", TO_KIB)}
                caption = found.at(f"Disk writes per transaction by {title} (KiB)", point)
                yield _amount_table(found, caption, title, sizes)


def _amounts(
    found: Findings, point: int, metric: str, class_: str, scale: float = 1.0
) -> list[float]:
    key = MetricKey(metric, class_)
    return [found.amount(point, name, key) * scale for name in found.variants]


def _amount_table(
    found: Findings, caption: str, heading: str, amounts: Mapping[str, Sequence[float]]
) -> ReportTable:
    rows = ((name, list(map(_amount, of))) for name, of in amounts.items())
    return by_variant(caption, heading, found.variants, rows)


def _amount(value: float) -> str:
    if value == 0:
        return DASH
    return "< 0.001" if value < 0.001 else short(value)
