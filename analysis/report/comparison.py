"""The comparison: a table a point, or of many points a table an outcome; what of it is precise.

With very many points a table shows some, from the least ratio to the greatest, and says how often
the interval excludes 1; ``summary.json`` has the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from analysis.experiments.case_words import key_of
from analysis.metrics.numbers import Numbers
from analysis.metrics.rounding import NOT_KNOWN
from analysis.metrics.row_table import point_text
from analysis.metrics.shown import KEY_FIGURES
from analysis.plots.axes import Axis, axes_of
from analysis.plots.sweep_outcomes import OutcomeCells, outcome_cells
from analysis.report.cells import ratio_cell, value_cell
from analysis.report.table import DASH, Cell, ReportTable, texts
from analysis.study.units import Point, at_point, point_words

MOST_WHOLE_POINTS: Final = 4
"""Points up to which each has tables of its own."""
MOST_ROWS: Final = 40
"""Points of a sweep up to which each has a row."""
_STAND_FOR_MANY: Final = 9
"""Points that stand for more."""
_MOST_REASONS: Final = 3
_INTERVALS: Final = "95 % intervals over replications."
_PAIRED: Final = (
    "Ratios are paired, since variants share their random draws; one whose interval includes 1 may "
    "be chance."
)
AT_LEAST_WORDS: Final = (
    "> means more than: it includes what had not ended when the run did, and would take longer."
)
_NOT_KNOWN_WORDS: Final = (
    f"{NOT_KNOWN}: the interval is too wide to give a number; more replications narrow it."
)


def comparison_tables(
    summary: Mapping[str, Any], variants: Sequence[str], points: Sequence[Point]
) -> Iterator[ReportTable]:
    """Yields the tables that a reader compares variants by.

    Args:
        summary: content of ``summary.json``.
        variants: the baseline first.
        points: settings of the swept keys.
    """
    if len(points) > MOST_WHOLE_POINTS:
        yield from _of_sweep(summary, variants, points)
        return
    keys = [figure.key for figure in KEY_FIGURES]
    values, ratios = (
        Numbers(summary[rows], keys=keys, points=points) for rows in ("rows", "comparisons")
    )
    for point in points:
        yield _at_point(point, variants, values, ratios)


def _headings(variants: Sequence[str]) -> tuple[str, ...]:
    return (*variants, *(f"{name} / {variants[0]}" for name in variants[1:]))


def _at_point(
    point: Point, variants: Sequence[str], values: Numbers, ratios: Numbers
) -> ReportTable:
    numbers = {
        figure: [values.get(point, name, figure.key) for name in variants] for figure in KEY_FIGURES
    }
    shown = {
        figure: of
        for figure, of in numbers.items()
        if any(number.is_there or number.refused for number in of)
    }
    rows = [
        (
            Cell(figure.title),
            *(value_cell(number, figure.scale) for number in of),
            *(ratio_cell(ratios.get(point, name, figure.key)) for name in variants[1:]),
        )
        for figure, of in shown.items()
    ]
    notes = [_INTERVALS, *([_PAIRED] if variants[1:] else [])]
    notes += _not_known(rows)
    if any(number.at_least for of in shown.values() for number in of):
        notes.append(AT_LEAST_WORDS)
    for name, of in zip(variants, zip(*shown.values(), strict=True), strict=False):
        why = next((number.refused for number in of if number.refused), "")
        notes += [f"{name}: latencies are refused: {why}."] if why else []
    title = point_words(point) or "Main numbers"
    return ReportTable(
        title,
        ("", *_headings(variants)),
        tuple(rows),
        tuple(notes),
        cut_at=1 + len(variants),  # Values are read together, and so are ratios.
    )


def _not_known(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    if any(NOT_KNOWN in cell.text for row in rows for cell in row):
        yield _NOT_KNOWN_WORDS


def _of_sweep(
    summary: Mapping[str, Any], variants: Sequence[str], points: Sequence[Point]
) -> Iterator[ReportTable]:
    """Yields a table an outcome, a row a point, the first axis varying slowest.

    Of one variant, and not too many points, one table has all outcomes.
    """
    axes = axes_of(points)
    ordered = sorted(points, key=lambda point: tuple(axis.index(point) for axis in axes))
    if len(variants) == 1 and len(points) <= MOST_ROWS:
        yield _of_one(summary, variants[0], ordered, axes)
        return
    main = main_variant(variants, summary["expectations"])
    what = f"{main} / {variants[0]}" if variants[1:] else "value"
    always = [_INTERVALS, *([_PAIRED] if variants[1:] else [])]
    always += _short_names(axes)
    for cells in outcome_cells(summary):
        shown, notes = cells.points_told(ordered, variants), list(always)
        if len(shown) < len(points):
            none = f"{len(points) - len(shown):,} of {len(points):,} points"
            notes.append(f"No {cells.outcome.name} at {none}.")
        if len(shown) > MOST_ROWS:
            shown = _spread(cells, shown, main, variants[0])
            notes += [
                f"{len(shown)} of the {len(points):,} points, evenly spaced from the least to the "
                f"greatest {what}; summary.json and plots have all of them.",
                *(_tally(cells, ordered, name, variants[0]) for name in variants[1:]),
            ]
        rows = [
            (
                *(Cell(axis.label(point)) for axis in axes),
                *(value_cell(cells.value(point, name), cells.outcome.scale) for name in variants),
                *(_ratio(cells, point, name) for name in variants[1:]),
            )
            for point in shown
        ]
        notes += [*_not_known(rows), *_reasons(cells, ordered, variants)]
        first, last = len(axes) + 1, len(axes) + len(variants)
        yield ReportTable(
            cells.outcome.title,
            (*(axis.name for axis in axes), *_headings(variants)),
            tuple(rows),
            tuple(notes),
            words=tuple(range(len(axes))),
            # They follow from the baseline's and the ratios.
            spare=tuple(range(first, last)),
        )


def _of_one(
    summary: Mapping[str, Any], variant: str, points: Sequence[Point], axes: Sequence[Axis]
) -> ReportTable:
    """Returns a table with a column an outcome."""
    outcomes = outcome_cells(summary)
    rows = [
        (
            *(Cell(axis.label(point)) for axis in axes),
            *(value_cell(each.value(point, variant), each.outcome.scale) for each in outcomes),
        )
        for point in points
    ]
    notes = [_INTERVALS, *_short_names(axes), *_not_known(rows)]
    for cells in outcomes:
        notes += _reasons(cells, points, [variant])
    headings = (*(axis.name for axis in axes), *(each.outcome.title for each in outcomes))
    words = tuple(range(len(axes)))
    return ReportTable(
        f"Main numbers, {variant}", headings, tuple(rows), tuple(dict.fromkeys(notes)), words=words
    )


def _short_names(axes: Iterable[Axis]) -> Iterator[str]:
    yield from (f"{axis.name} is {axis.key}." for axis in axes if axis.name != axis.key)


def main_variant(variants: Sequence[str], claims: Sequence[Mapping[str, Any]]) -> str:
    """Returns the variant that the question is about: the one most is claimed of, or the last."""
    said = [claim["variant"] for claim in claims if claim["variant"] in variants[1:]]
    return max(reversed(variants), key=said.count) if said else variants[-1]


def _spread(cells: OutcomeCells, points: Sequence[Point], name: str, baseline: str) -> list[Point]:
    """Returns points from the least to the greatest ratio or value, evenly apart in rank."""
    get = cells.value if name == baseline else cells.ratio
    numbers = [(get(point, name), place) for place, point in enumerate(points)]
    known = sorted((number.value, place) for number, place in numbers if number.is_there)
    most = min(_STAND_FOR_MANY, len(known))
    steps = [round(place * (len(known) - 1) / max(most - 1, 1)) for place in range(most)]
    return [points[known[step][1]] for step in steps]


def _tally(cells: OutcomeCells, points: Sequence[Point], name: str, baseline: str) -> str:
    """Returns at how many points a variant is clearly below or above the baseline."""
    ratios = [cells.ratio(point, name) for point in points]
    known = [ratio for ratio in ratios if ratio.has_interval]
    below = sum(ratio.ci_high < 1 for ratio in known)
    above = sum(ratio.ci_low > 1 for ratio in known)
    missing = len(points) - len(known)
    none = f", no interval at {missing}" if missing else ""
    return (
        f"{name}: below {baseline} at {below} of {len(points)} points, above at {above}, not told "
        f"apart at {len(known) - below - above}{none}."
    )


def _reasons(
    cells: OutcomeCells, points: Sequence[Point], variants: Sequence[str]
) -> Iterator[str]:
    numbers = [cells.value(point, name) for point in points for name in variants]
    if any(number.at_least for number in numbers):
        yield AT_LEAST_WORDS
    for why in list(dict.fromkeys(filter(None, (each.refused for each in numbers))))[
        :_MOST_REASONS
    ]:
        yield f"Some latencies are refused: {why}."


def _ratio(cells: OutcomeCells, point: Point, variant: str) -> Cell:
    ratio = cells.ratio(point, variant)
    if not ratio.is_there and cells.refused_at(point):
        return Cell("refused", "refused")
    return ratio_cell(ratio)


def precision_table(found: Mapping[str, Any], unit_cpu_s: float, variants: int) -> ReportTable:
    """Returns how certain each figure has become that was wanted certain.

    Args:
        found: ``precision`` of ``summary.json``.
        unit_cpu_s: CPU time of one replication of one variant.
        variants: how many there are.
    """
    rows = []
    for target in found["targets"]:
        against = f" / {target['against']}" if target["against"] else ""
        figure = f"{target['variant']}{against}, {key_of(target)}"
        reached = DASH if target["reached"] is None else f"±{100 * target['reached']:.2g} %"
        rows.append((
            Cell(at_point(figure, target["point"])),
            Cell(reached, "better" if target["met"] else "worse"),
            *texts(f"±{100 * target['wanted']:.2g} %", str(target["replications"]),
                   "reached" if target["met"] else "not reached"),
        ))  # fmt: skip
    return ReportTable(
        "Precision of the figures that the scenario asks for",
        ("figure", "half width", "wanted", "replications", "verdict"),
        tuple(rows),
        tuple(_shortfall(found, unit_cpu_s, variants)),
        words=(0, 4),
    )


def _shortfall(found: Mapping[str, Any], unit_cpu_s: float, variants: int) -> Iterator[str]:
    """Yields how much is missing where rounds ended too early, and what that would cost."""
    targets = found["targets"]
    unmet = [target for target in targets if not target["met"]]
    wanted = max((target["still_wanted"] for target in unmet), default=0)
    if wanted:
        by_point: dict[str, int] = {}
        for target in unmet:
            units = target["still_wanted"] * (2 if target["against"] else variants)
            point = point_text(target["point"])
            by_point[point] = max(by_point.get(point, 0), units)
        minutes = sum(by_point.values()) * unit_cpu_s / 60
        yield (
            f"{len(unmet)} of {len(targets)} figures are less certain than wanted; up to "
            f"{wanted:,} more replications a case would do, {minutes:,.0f} minutes of CPU: raise "
            f"run.max_replications ({found['most_replications']}), or lengthen run.measure."
        )
    elif unmet:
        has = "has" if len(unmet) == 1 else "have"
        yield f"{len(unmet)} of {len(targets)} figures {has} no interval."
