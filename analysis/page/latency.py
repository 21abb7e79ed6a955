"""Quantiles of latencies, of points that are shown one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analysis.metrics.catalogue import STATS, MetricKey, stat_name
from analysis.metrics.numbers import StudyNumber
from analysis.page.content import Block, Paragraph
from analysis.page.findings import Findings
from analysis.report.cells import value_cell
from analysis.report.comparison import AT_LEAST_WORDS
from analysis.report.table import Cell, ReportTable

LATENCIES: Final = (
    ("lock_latency_ms", "Lock requests, as TiDB sees them"),
    ("lock_service_ms", "Lock requests, inside TiKV"),
    ("txn_latency_ms", "Transactions"),
)


def latency_tables(found: Findings) -> Iterator[Block]:
    """Yields the quantiles of latencies at points that are shown one by one."""
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
            rows = tuple(_rows(found, point, metric))
            if rows:
                caption = found.at(f"{title} (ms)", point)
                yield ReportTable(caption, ("", *map(stat_name, STATS)), rows)


def _rows(found: Findings, point: int, metric: str) -> Iterator[tuple[Cell, ...]]:
    """Yields all transactions, then each type; a lock's classes are told with the fallbacks."""
    types = found.classes(point, metric) if metric == "txn_latency_ms" else []
    for class_ in ("all", *(types if len(types) > 1 else ())):
        for name in found.variants:
            numbers = [found.value(point, name, MetricKey(metric, class_, stat)) for stat in STATS]
            if any(number.is_there or number.refused for number in numbers):
                label = name if class_ == "all" else f"{name}, {class_}"
                yield (Cell(label), *map(_cell, numbers))


def _cell(number: StudyNumber) -> Cell:
    """Returns a number over the half width of its interval."""
    cell = value_cell(number)
    value, _, half = cell.text.partition(" ± ")
    return Cell(value, cell.tone, f"± {half}") if half else cell
