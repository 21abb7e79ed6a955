"""What became of locks: the paths they took, why some fell back, and how each of them ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from analysis.metrics.rounding import digits
from analysis.page.content import Block, Paragraph
from analysis.page.findings import Findings
from analysis.report.table import DASH, by_variant


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
            rows = _rows(found, point, count.metric)
            if rows:
                caption = found.at(count.title, point)
                yield by_variant(caption, "", found.variants, rows, *filter(None, [count.note]))
            elif rows is not None:
                never.append(count.never)
        if never:
            yield Paragraph(f"Looked for, but never seen: {'; '.join(never)}.")


def _rows(found: Findings, point: int | None, metric: str) -> list[tuple[str, list[str]]] | None:
    """Returns a row a class that ever happened, of a point or of all together.

    None if the study does not count it.
    """
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
        ("total" if class_ == "all" else _words(class_), list(map(_times, counts.loc[class_])))
        for class_ in classes
        if counts.loc[class_].any()
    ]


def _words(class_: str) -> str:
    """Returns ``lost: crash`` for ``lost:crash``."""
    return class_.replace(":", ": ").replace("_", " ")


def _times(value: float) -> str:
    return DASH if value == 0 else digits(value)
