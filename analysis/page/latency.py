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
            "Work stopped or throughput fell. Pictures and charts show only what ended; the tables "
            "of transactions and of lock requests as TiDB sees them include the rest. "
            f"{AT_LEAST_WORDS}",
            "note",
        )
    for point in found.whole_points:
        for metric, title in LATENCIES:
            rows = [
                (Cell(label), *cells)
                for label, class_ in (("all", "all"), *_classes(found, point, metric))
                for label, cells in _rows_of(found, point, (metric, class_), label)
            ]
            if rows:
                caption = found.at(f"{title} (ms)", point)
                yield ReportTable(caption, ("", *map(stat_name, STATS)), tuple(rows))


def _classes(found: Findings, point: int, metric: str) -> list[tuple[str, str]]:
    """Returns transaction types; a lock's classes are its paths, told with the fallbacks."""
    classes = found.classes(point, metric)
    if metric != "txn_latency_ms" or len(classes) < 2:
        return []
    return [(class_, class_) for class_ in classes]


def _rows_of(
    found: Findings, point: int, of: tuple[str, str], label: str
) -> Iterator[tuple[str, list[Cell]]]:
    for name in found.variants:
        numbers = [found.value(point, name, MetricKey(*of, stat)) for stat in STATS]
        if any(number.is_there or number.refused for number in numbers):
            yield name if label == "all" else f"{name}, {label}", list(map(_cell, numbers))


def _cell(number: StudyNumber) -> Cell:
    """Returns a number over the half width of its interval."""
    cell = value_cell(number)
    value, _, half = cell.text.partition(" ± ")
    return Cell(value, cell.tone, f"± {half}") if half else cell
