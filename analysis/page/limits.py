"""What limits a variant: its busiest stations; and where the time and the bytes go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analysis.metrics.catalogue import (
    CPU_STATIONS,
    DISK_STATIONS,
    LOCK_STATIONS,
    WRITE_PLACES,
    MetricKey,
)
from analysis.metrics.rounding import short
from analysis.page.content import Block, Cell, Items, PageTable
from analysis.page.findings import Findings
from analysis.page.numbers import DASH, share_text
from analysis.report.capacity_table import FULL
from sim.fact_names import WRITE_CAUSES

STATIONS: Final = CPU_STATIONS | DISK_STATIONS
GROUPED: Final = frozenset({"raft_log"})
"""Takes all that waits in one group: it is busy long before it is full, and limits nothing."""


def limit_blocks(found: Findings) -> Iterator[Block]:
    """Yields utilisation by station, and a sentence a variant."""
    for point in found.whole_points:
        stations = {
            (metric, class_): max(_busy(found, point, name, metric, class_) for name in
                                  found.variants)
            for metric in ("cpu_busy", "disk_busy")
            for class_ in found.classes(point, metric)
        }  # fmt: skip
        ordered = sorted(stations, key=lambda key: -stations[key])
        if not ordered:
            continue
        rows = [
            (
                Cell(STATIONS[class_]),
                *(
                    Cell(share_text(found.value(point, name, MetricKey(metric, class_))))
                    for name in found.variants
                ),
            )
            for metric, class_ in ordered
        ]
        yield Items(tuple(_sentence(found, point, name, ordered) for name in found.variants))
        where = found.point_name(point)
        yield PageTable(
            f"Share of the time that a station is busy{f', at {where}' if where else ''}",
            ("station", *found.variants),
            tuple(rows),
            "Mean over nodes; a poller is busy while it is in a round, fsync included. A raft log "
            "that is always busy is no limit: what waits joins the "
            "next write.",
        )
    if not found.whole_points and not found.searched:
        yield from _busiest_by_point(found)


def _busy(found: Findings, point: int, variant: str, metric: str, class_: str) -> float:
    return found.amount(point, variant, MetricKey(metric, class_))


def _sentence(found: Findings, point: int, variant: str, stations: list[tuple[str, str]]) -> str:
    candidates = [key for key in stations if key[1] not in GROUPED] or stations
    metric, class_ = max(candidates, key=lambda key: _busy(found, point, variant, *key))
    share = _busy(found, point, variant, metric, class_)
    name = STATIONS[class_]
    where = f" at {found.point_name(point)}" if found.point_name(point) else ""
    if share >= FULL:
        return f"{variant}{where}: limited by the {name}, {100 * share:.0f} % busy."
    return (
        f"{variant}{where}: no station is full; the busiest is the {name}, {100 * share:.0f} % "
        "busy."
    )


_MOST_ROWS: Final = 40


def _busiest_by_point(found: Findings) -> Iterator[PageTable]:
    """Yields the busiest station of each point and variant of a sweep."""
    columns = found.columns()
    busy = columns[
        columns["metric"].isin(("cpu_busy", "disk_busy")) & ~columns["class"].isin(GROUPED)
    ].dropna(subset=["value"])
    if busy.empty:
        return
    top = busy.loc[busy.groupby(["point_index", "variant"])["value"].idxmax()]
    cells = {
        (int(index), str(name)): f"{class_} {100 * value:.0f} %"
        for index, name, class_, value in zip(
            top["point_index"], top["variant"], top["class"], top["value"], strict=True
        )
    }
    places = sorted({index for index, _ in cells})
    rows = tuple(
        (
            Cell(found.point_name(index)),
            *(Cell(cells.get((index, name), DASH)) for name in found.variants),
        )
        for index in places[:_MOST_ROWS]
    )
    more = len(places) - len(rows)
    note = f"{more:,} more in summary.json." if more else ""
    yield PageTable("Busiest station by point", ("point", *found.variants), rows, note)


def time_tables(found: Findings) -> Iterator[PageTable]:
    """Yields where a lock request's time goes, on average."""
    for point in found.whole_points:
        steps = [one for one in found.classes(point, "lock_station_ms") if "/" not in one]
        if not steps:
            continue
        ordered = sorted(steps, key=lambda step: list(LOCK_STATIONS).index(step))
        rows = [
            (
                Cell(LOCK_STATIONS[step]),
                *(Cell(_ms(_step(found, point, name, step))) for name in found.variants),
            )
            for step in ordered
        ]
        total = [sum(_step(found, point, name, step) for step in steps) for name in found.variants]
        rows.append((Cell("in all"), *(Cell(_ms(value)) for value in total)))
        where = found.point_name(point)
        caption = f"Where a lock request's time goes, mean (ms){f', at {where}' if where else ''}"
        yield PageTable(caption, ("step", *found.variants), tuple(rows))


def _step(found: Findings, point: int, variant: str, step: str) -> float:
    return found.amount(point, variant, MetricKey("lock_station_ms", step))


def _ms(value: float) -> str:
    return DASH if value == 0 else _at_least(value)


def _at_least(value: float) -> str:
    return "< 0.001" if value < 0.001 else short(value)


def byte_tables(found: Findings) -> Iterator[PageTable]:
    """Yields what a transaction writes, by place and by cause."""
    for point in found.whole_points:
        present = found.classes(point, "disk_write_bytes_per_txn")
        where = found.point_name(point)
        for title, parts in (("place", WRITE_PLACES), ("cause", WRITE_CAUSES)):
            shown = [part for part in parts if part in present]
            if not shown:
                continue
            rows = tuple(
                (
                    Cell(part.replace("_", " ")),
                    *(Cell(_kib(found, point, name, part)) for name in found.variants),
                )
                for part in (*shown, "all")
            )
            caption = f"Disk writes per transaction by {title} (KiB)"
            yield PageTable(
                f"{caption}, at {where}" if where else caption, (title, *found.variants), rows
            )


def _kib(found: Findings, point: int, variant: str, part: str) -> str:
    size = found.amount(point, variant, MetricKey("disk_write_bytes_per_txn", part)) / 1024
    return DASH if size == 0 else _at_least(size)
