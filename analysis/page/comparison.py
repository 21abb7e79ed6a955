"""The comparison: a table a point, or of many points a table an outcome; and what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from analysis.experiments.case_words import key_of
from analysis.metrics.catalogue import STATS, MetricKey, stat_name
from analysis.metrics.numbers import StudyNumber
from analysis.metrics.shown import KEY_FIGURES
from analysis.page.content import Block, Cell, PageTable, Paragraph, texts
from analysis.page.findings import Findings
from analysis.page.numbers import DASH, change_cell, value_cell
from analysis.plots.axes import axes_of
from analysis.plots.sweep_outcomes import OutcomeCells, outcome_cells
from analysis.report.expectations import claim_place
from analysis.report.precision_table import target_variants
from analysis.report.table import AT_LEAST_WORDS, MOST_ROWS
from analysis.study.units import point_words

LATENCIES: Final = (
    ("lock_latency_ms", "Lock requests, as TiDB sees them"),
    ("lock_service_ms", "Lock requests, inside TiKV"),
    ("txn_latency_ms", "Transactions"),
)
HOW_TO_READ: Final = (
    "95 % intervals over replications; changes are paired, since variants share their random "
    "draws. A change without a verdict may be chance, or is neither good nor bad by itself."
)


def comparison_tables(found: Findings) -> Iterator[PageTable]:
    """Yields the tables that a reader compares variants by."""
    if found.searched:
        return
    if found.whole_points:
        for point in found.whole_points:
            yield _at_point(found, point)
    else:
        yield from _sweep_tables(found)


def _at_point(found: Findings, point: int) -> PageTable:
    others = found.variants[1:]
    numbers = {
        figure: [found.value(point, name, figure.key) for name in found.variants]
        for figure in KEY_FIGURES
    }
    rows = [
        (
            Cell(figure.title),
            *(value_cell(number, figure.scale) for number in of),
            *(change_cell(found.ratio(point, name, figure.key)) for name in others),
        )
        for figure, of in numbers.items()
        if any(number.is_there or number.refused for number in of)
    ]
    notes = [HOW_TO_READ if others else "95 % intervals over replications."]
    if any(number.at_least for of in numbers.values() for number in of):
        notes.append(f"{AT_LEAST_WORDS}.")
    name = found.point_name(point)
    return PageTable(
        f"Comparison at {name}" if name else "Main numbers",
        ("", *found.variants, *(f"{other} against {found.baseline}" for other in others)),
        tuple(rows),
        " ".join(notes),
    )


def _sweep_tables(found: Findings) -> Iterator[PageTable]:
    """Yields a table an outcome: a row a point, or with very many only the extremes."""
    axes = axes_of(found.points)
    points = sorted(
        range(len(found.points)),
        key=lambda index: tuple(axis.index(found.points[index]) for axis in axes),
    )
    for cells in outcome_cells(found.summary):
        shown, note = list(points), HOW_TO_READ
        if len(points) > MOST_ROWS:
            shown = _spread(found, cells, points)
            note = (
                f"{len(shown)} of the {len(points):,} points, evenly spaced from the least to the "
                "greatest; summary.json has all of them."
            )
        rows = [
            (
                *(Cell(axis.label(found.points[index])) for axis in axes),
                *(
                    value_cell(cells.value(found.points[index], name), cells.outcome.scale)
                    for name in found.variants
                ),
                *(_change(cells, found.points[index], name) for name in found.variants[1:]),
            )
            for index in shown
        ]
        headings = (
            *(axis.name for axis in axes),
            *found.variants,
            *(f"{name} against {found.baseline}" for name in found.variants[1:]),
        )
        yield PageTable(cells.outcome.title, headings, tuple(rows), note, tuple(range(len(axes))))


_SHOWN: Final = 9
"""Points that stand for very many."""


def _spread(found: Findings, cells: OutcomeCells, points: Sequence[int]) -> list[int]:
    """Returns points from the least to the greatest ratio or value, evenly apart in rank."""
    get = cells.value if len(found.variants) == 1 else cells.ratio
    numbers = [(get(found.points[index], found.main), index) for index in points]
    known = sorted((number.value, index) for number, index in numbers if number.is_there)
    if len(known) <= _SHOWN:
        return [index for _, index in known]
    steps = [round(place * (len(known) - 1) / (_SHOWN - 1)) for place in range(_SHOWN)]
    return [known[step][1] for step in steps]


def _change(cells: OutcomeCells, point: Any, variant: str) -> Cell:
    ratio = cells.ratio(point, variant)
    if not ratio.is_there and cells.refused_at(point):
        return Cell("refused", "refused")
    return change_cell(ratio)


def expectation_table(found: Findings) -> Iterator[PageTable]:
    """Yields what the scenario expects, and whether it holds."""
    claims = found.summary["expectations"]
    if not claims:
        return
    rows = []
    for claim in claims:
        verdict = Cell("holds", "better") if claim["holds"] else Cell("does not hold", "worse")
        rows.append((*texts(*claim_words(claim, found.summary)), verdict))
    headings = ("expected", "bound", "found [95 %]", "verdict")
    note = "A claim holds if the whole interval is on the right side of its bound."
    yield PageTable("What the scenario claims under expect", headings, tuple(rows), note, (0, 1, 3))


def claim_words(claim: Mapping[str, Any], summary: Mapping[str, Any]) -> tuple[str, str, str]:
    """Returns what an expectation is about, its bound, and what was found."""
    class_ = "" if claim["class"] == "all" else f" {claim['class']}"
    against = f" / {claim['against']}" if claim["against"] else ""
    where = claim_place(claim["point"], summary)
    bound = [f"below {claim['below']:g}"] if claim["below"] is not None else []
    bound += [f"above {claim['above']:g}"] if claim["above"] is not None else []
    name = f"{claim['metric']}{class_} {claim['stat']}, {claim['variant']}{against}"
    shown = _HYPHEN.sub("−", claim["reason"].partition(" is not ")[0])
    place = where if where.startswith("at ") else f"at {where}"
    return f"{name} {place}" if where else name, " and ".join(bound), shown


_HYPHEN: Final = re.compile(r"(?<![\w.])-(?=\d)")


def latency_tables(found: Findings) -> Iterator[Block]:
    """Yields the quantiles of latencies at points that are shown one by one."""
    if found.summary["verdict"]["stopped"]:
        yield Paragraph(
            "Work stopped or throughput fell. Pictures and charts show only what ended; the tables "
            "of transactions and of lock requests as TiDB sees them include the rest. "
            f"{AT_LEAST_WORDS}.",
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
                yield PageTable(caption, ("", *map(stat_name, STATS)), tuple(rows))


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


def precision_table(found: Findings) -> Iterator[PageTable]:
    """Yields how certain each figure has become that was wanted certain."""
    if "precision" not in found.summary:
        return
    rows = []
    for target in found.summary["precision"]["targets"]:
        reached = DASH if target["reached"] is None else f"±{100 * target['reached']:.2g} %"
        rows.append((
            Cell(f"{target_variants(target)}, {key_of(target)}{_at(target['point'])}"),
            Cell(reached, "better" if target["met"] else "worse"),
            *texts(f"±{100 * target['wanted']:.2g} %", str(target["replications"])),
            Cell("reached" if target["met"] else "not reached"),
        ))  # fmt: skip
    headings = ("figure", "half width", "wanted", "replications", "verdict")
    yield PageTable(
        "Precision of the figures that the scenario asks for", headings, tuple(rows), words=(0, 4)
    )


def _at(point: Any) -> str:
    words = point_words(point)
    return f" at {words}" if words else ""
