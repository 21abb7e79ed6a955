"""Tables of points that are shown one by one: latencies, where time and bytes go, stations, locks.

Of the points of a sweep, which are too many for that, their busiest stations are told, and what
became of locks at all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from analysis.metrics.catalogue import (
    LOCK_STATIONS,
    STATIONS,
    STATS,
    WRITE_PLACES,
    MetricKey,
    stat_name,
)
from analysis.metrics.rounding import digits, short
from analysis.metrics.shown import TO_KIB
from analysis.page.content import Block, Items, Paragraph
from analysis.page.findings import Findings
from analysis.page.waiting import busiest_by_case, busy_keys, limit_text
from analysis.report.cells import share_text, value_cell
from analysis.report.comparison import AT_LEAST_WORDS
from analysis.report.table import DASH, Cell, ReportTable, by_variant
from analysis.study.units import at_point
from sim.fact_names import WRITE_CAUSES

LATENCIES: Final = (
    ("lock_latency_ms", "Lock requests, as TiDB sees them"),
    ("lock_service_ms", "Lock requests, inside TiKV"),
    ("txn_latency_ms", "Transactions"),
)
_MOST_ROWS: Final = 40


def latency_tables(found: Findings) -> Iterator[Block]:
    """Yields the quantiles of latencies."""
    if found.summary["verdict"]["stopped"]:
        yield Paragraph(
            "Work stopped, or throughput fell or transactions took far longer for a while. "
            "Charts over time show only what ended; pictures of tails and the tables of "
            "transactions and of lock requests as TiDB sees them include the rest. "
            f"{AT_LEAST_WORDS}",
            "note",
        )
    for point in found.whole_points:
        for metric, title in LATENCIES:
            rows = tuple(_quantiles(found, point, metric))
            if rows:
                caption = found.at(f"{title} (ms)", point)
                yield ReportTable(caption, ("", *map(stat_name, STATS)), rows)


def _quantiles(found: Findings, point: int, metric: str) -> Iterator[tuple[Cell, ...]]:
    """Yields all transactions, then each type; a lock's classes are told with the fallbacks.

    A number stands over the half width of its interval.
    """
    types = found.classes(point, metric) if metric == "txn_latency_ms" else []
    for class_ in ("all", *(types if len(types) > 1 else ())):
        for name in found.variants:
            numbers = [found.value(point, name, MetricKey(metric, class_, stat)) for stat in STATS]
            if any(number.is_there or number.refused for number in numbers):
                cells = [Cell(name if class_ == "all" else f"{name}, {class_}")]
                for cell in map(value_cell, numbers):
                    value, _, half = cell.text.partition(" ± ")
                    cells.append(Cell(value, cell.tone, f"± {half}") if half else cell)
                yield tuple(cells)


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
    def text(value: float) -> str:
        return DASH if value == 0 else "< 0.001" if value < 0.001 else short(value)

    rows = ((name, map(text, of)) for name, of in amounts.items())
    return by_variant(caption, heading, found.variants, rows)


def limit_blocks(found: Findings) -> Iterator[Block]:
    """Yields utilisation by station, and a sentence a variant on what limits it."""
    for point in found.whole_points:
        keys = busy_keys(found, point)
        if not keys:
            continue
        yield Items(tuple(
            f"{at_point(name, found.points[point])}: {limit_text(found, point, name)}."
            for name in found.variants
        ))  # fmt: skip
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


class _Count(NamedTuple):
    """What is counted of locks and transactions."""

    metric: str
    title: str
    never: str
    """What a reader is told was looked for, where it never happened."""
    note: str = ""


_COUNTS: Final = (
    _Count("locks_total", "Lock requests by path; in-memory locks that fell back, by reason",
           "lock requests", "Mean count per run, over the measured time."),
    _Count("lock_fates", "How granted locks ended", "granted locks"),
    _Count("locks_lost", "Lost locks by cause", "lost locks"),
    _Count("mutual_exclusion_lost", "Keys that two transactions held at once",
           "keys that two transactions held at once"),
    _Count("prewrites_amended", "Prewrites that found their lock gone and went on",
           "prewrites that went on without their lock"),
    _Count("prewrites_aborted", "Prewrites that found their lock gone and failed",
           "prewrites that failed because their lock was gone"),
    _Count("txn_aborts", "Transactions that did not commit, by reason",
           "transactions that did not commit",
           "“rollback” counts those that the workload itself rolls back."),
    _Count("region_errors", "Region errors that clients met", "region errors"),
)  # fmt: skip


def lock_blocks(found: Findings) -> Iterator[Block]:
    """Yields every fallback, fate and loss by its cause; what never happened in a sentence."""
    if found.searched:
        return
    points: list[int | None] = list(found.whole_points) or [None]
    for point in points:
        never = []
        for count in _COUNTS:
            rows = _counted(found, point, count.metric)
            if rows:
                caption = found.at(count.title, point)
                yield by_variant(caption, "", found.variants, rows, *filter(None, [count.note]))
            elif rows is not None:
                never.append(count.never)
        if never:
            yield Paragraph(f"Looked for, but never seen: {'; '.join(never)}.")


def _counted(found: Findings, point: int | None, metric: str) -> list[tuple[str, list[str]]] | None:
    """Returns a row a class that ever happened, ``lost: crash``, of a point or of all together.

    None if the study does not count it.
    """

    def text(times: float) -> str:
        return digits(times) if times else DASH

    columns = found.columns()
    mine = columns[(columns["metric"] == metric) & (columns["stat"] == "mean")]
    if point is not None:
        mine = mine[mine["point_index"] == point]
    if mine.empty:
        return None
    sums = mine.pivot_table(index="class", columns="variant", values="value", aggfunc="sum")
    counts = sums.reindex(columns=found.variants).fillna(0.0)
    classes = sorted(map(str, counts.index), key=lambda class_: (class_ == "all", class_))
    return [
        (
            "total" if class_ == "all" else class_.replace(":", ": ").replace("_", " "),
            list(map(text, counts.loc[class_])),
        )
        for class_ in classes
        if counts.loc[class_].any()
    ]
