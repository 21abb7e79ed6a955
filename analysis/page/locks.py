"""What became of locks: the paths they took, why some fell back, and how each of them ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analysis.metrics.rounding import short
from analysis.page.content import Block, Cell, PageTable, Paragraph
from analysis.page.findings import Findings
from analysis.page.numbers import DASH

COUNTS: Final = (
    ("locks_total", "Lock requests by path; in-memory locks that fell back, by reason"),
    ("lock_fates", "How granted locks ended"),
    ("locks_lost", "Lost locks by cause"),
    ("mutual_exclusion_lost", "Keys that two transactions held at once"),
    ("prewrites_amended", "Prewrites that found their lock gone and went on"),
    ("prewrites_aborted", "Prewrites that found their lock gone and failed"),
    ("txn_aborts", "Transactions that did not commit, by reason"),
    ("region_errors", "Region errors that clients met"),
)
_PATHS: Final = "locks_total"


def lock_blocks(found: Findings) -> Iterator[Block]:
    """Yields every fallback, fate and loss by its cause; what never happened in a sentence."""
    if found.searched:
        return
    for point in _points(found):
        never = []
        for metric, title in COUNTS:
            rows = _rows(found, point, metric)
            if rows is None:
                continue
            if rows:
                where = "" if point is None else found.point_name(point)
                caption = f"{title}{f', at {where}' if where else ''}"
                yield PageTable(caption, ("", *found.variants), tuple(rows), _NOTES.get(metric, ""))
            else:
                never.append(_NEVER.get(metric, title))
        if never:
            yield Paragraph(f"Watched for, and never seen: {'; '.join(never)}.")


_NOTES: Final = {
    "locks_total": "Mean count per run, over the measured time.",
    "txn_aborts": "“rollback” is what the workload itself asks for.",
}
_NEVER: Final = {
    "locks_lost": "a lost lock",
    "mutual_exclusion_lost": "two holders of one key",
    "prewrites_amended": "a prewrite whose lock was gone and that went on",
    "prewrites_aborted": "a prewrite that failed because its lock was gone",
    "txn_aborts": "a transaction that did not commit",
    "lock_fates": "a granted lock",
    "locks_total": "a lock request",
    "region_errors": "a region error",
}


def _points(found: Findings) -> list[int | None]:
    """Returns the points that are shown one by one, or one that stands for all together."""
    return list(found.whole_points) or [None]


def _rows(found: Findings, point: int | None, metric: str) -> list[tuple[Cell, ...]] | None:
    """Returns a row a class that ever happened; None if the study does not count it."""
    columns = found.columns()
    mine = columns[(columns["metric"] == metric) & (columns["stat"] == "mean")]
    if point is not None:
        mine = mine[mine["point_index"] == point]
    if mine.empty:
        return None
    sums = mine.groupby(["class", "variant"])["value"].sum()
    keys = zip(sums.index.get_level_values(0), sums.index.get_level_values(1), strict=True)
    counts = {
        (str(class_), str(name)): float(value)
        for (class_, name), value in zip(keys, sums.to_numpy(), strict=True)
    }
    classes = sorted({class_ for class_, _ in counts}, key=lambda class_: (class_ == "all", class_))
    return [
        (
            Cell("in all" if class_ == "all" else _words(class_)),
            *(Cell(_times(counts.get((class_, name), 0.0))) for name in found.variants),
        )
        for class_ in classes
        if any(counts.get((class_, name), 0.0) for name in found.variants)
    ]


def _words(class_: str) -> str:
    """Returns ``lost: crash`` for ``lost:crash``."""
    return class_.replace(":", ": ").replace("_", " ")


def _times(value: float) -> str:
    if value == 0:
        return DASH
    return f"{value:,.0f}" if value >= 100 or value == int(value) else short(value)
