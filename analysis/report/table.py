"""The comparison a user reads first: per point, a row a metric, a column a variant, then ratios.

Fits 80 columns: what does not fit in one table becomes two, values and ratios, or more.
Plain text when the output is no terminal.

A sweep in few lines: one table an outcome, a row a point, only the axes that vary.

With many points the table says the extremes and the middle, and how often the interval excludes 1;
``summary.json`` has the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from analysis.metrics.numbers import Numbers, StudyNumber
from analysis.metrics.rounding import short, with_ends
from analysis.metrics.shown import KEY_FIGURES
from analysis.plots.axes import Axis, Point, axes_of
from analysis.plots.sweep_outcomes import OutcomeCells, compared, outcome_cells
from analysis.report.terminal import Column, plain_table, print_fitting, width_of, with_columns
from analysis.study.units import point_words

AT_LEAST_WORDS: Final = (
    "> means more than: it includes what had not ended when the run did, and would take longer"
)
LONGEST_HEADING: Final = 24
"""A longer one is broken before what it divides by."""


def print_comparison(
    console: Console,
    summary: Mapping[str, Any],
    variants: Sequence[str],
    points: Sequence[Mapping[str, Any]],
) -> None:
    """Prints every point's table."""
    keys = [figure.key for figure in KEY_FIGURES]
    values = Numbers(summary["rows"], keys=keys, points=points)
    ratios = Numbers(summary["comparisons"], keys=keys, points=points)
    for point in points:
        _print_point(console, point, variants, values, ratios)


def _print_point(
    console: Console,
    point: Mapping[str, Any],
    variants: Sequence[str],
    values: Numbers,
    ratios: Numbers,
) -> None:
    numbers = {
        figure: [values.get(point, name, figure.key) for name in variants] for figure in KEY_FIGURES
    }
    shown = [
        figure for figure in KEY_FIGURES if any(n.is_there or n.refused for n in numbers[figure])
    ]
    names = [Column("", [figure.title for figure in shown], "left")]
    columns = [
        Column(name, [value_text(numbers[figure][place], figure.scale) for figure in shown])
        for place, name in enumerate(variants)
    ]
    against = [
        Column(
            _heading(name, variants[0]),
            [ratio_text(ratios.get(point, name, figure.key)) for figure in shown],
        )
        for name in variants[1:]
    ]
    title = point_words(point)
    one = with_columns(plain_table(title, is_close=True), [*names, *columns, *against])
    if width_of(console, one) <= console.width or not against:
        console.print(one)
    else:
        print_fitting(console, title, names, columns, is_close=True)
        print_fitting(console, "", names, against, is_close=True)
    if any(number.at_least for figure in shown for number in numbers[figure]):
        console.print(Text(f"  {AT_LEAST_WORDS}", style="yellow"))
    for place, name in enumerate(variants):
        why = [numbers[figure][place].refused for figure in shown]
        if any(why):
            said = f"  {name}: latencies are refused: {next(filter(None, why))}"
            console.print(Text(said, style="yellow"))


def _heading(name: str, baseline: str) -> str:
    heading = f"{name} / {baseline}"
    return heading if len(heading) <= LONGEST_HEADING else f"{name}\n/ {baseline}"


def value_text(number: StudyNumber, scale: float = 1.0) -> Text:
    """Returns ``1.93 ± 0.04``; without an interval ``1.93 (n=1)``; a dash for no value.

    A number that is refused is a word; one that is only known to be greater says so.
    """
    if number.refused:
        return Text("refused", style="yellow")
    if not number.is_there:
        return Text("-", style="dim")
    return Text(number.text(scale), style="red" if number.at_least else "")


def ratio_text(ratio: StudyNumber) -> Text:
    """Returns ``0.512 [0.49, 0.53]``, green or red when it is for the better or the worse."""
    if not ratio.is_there:
        return Text("-", style="dim")
    if not ratio.has_interval:
        return Text(f"{short(ratio.value)} (n=1)")
    text = with_ends(ratio.value, ratio.ci_low, ratio.ci_high)
    return Text(text, style={True: "green", False: "red", None: ""}[ratio.is_better])


MOST_ROWS: Final = 40
"""Points up to which each has a row."""


def print_sweep(
    console: Console, summary: Mapping[str, Any], variants: Sequence[str], points: Sequence[Point]
) -> None:
    """Prints a table for each outcome that the study has.

    Args:
        console: where to; nothing is wider than it.
        summary: content of ``summary.json``.
        variants: the baseline first.
        points: swept settings, more than one.
    """
    axes = axes_of(points)
    for axis in axes:
        console.print(f"{axis.name}: {axis.key}", highlight=False)
    sweep = _Sweep(axes, variants, points)
    few = len(points) <= MOST_ROWS
    reasons: dict[str, None] = {}
    for cells in outcome_cells(summary):
        if few:
            _print_all(console, cells, sweep)
        else:
            _print_extremes(console, cells, sweep)
        reasons |= dict.fromkeys(_reasons(cells, sweep))
    for reason in list(reasons)[:3]:
        console.print(f"refused: {reason}", highlight=False)
    if not few:
        console.print(
            f"{len(points):,} points: only extremes are shown; all are in summary.json, and in "
            "plots", highlight=False,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sweep:
    """Axes, variants (the baseline first) and points."""

    axes: Sequence[Axis]
    variants: Sequence[str]
    points: Sequence[Point]

    def ordered(self) -> list[Point]:
        """Returns the points, the first axis varying slowest."""
        return sorted(self.points, key=lambda point: tuple(axis.index(point) for axis in self.axes))


def _reasons(cells: OutcomeCells, sweep: _Sweep) -> Iterator[str]:
    for point in sweep.points:
        for variant in sweep.variants:
            reason = cells.value(point, variant).refused
            if reason:
                yield reason


def _print_all(console: Console, cells: OutcomeCells, sweep: _Sweep) -> None:
    points, title = sweep.ordered(), cells.outcome.title
    places = [
        Column(_broken(axis.name), [axis.label(point) for point in points]) for axis in sweep.axes
    ]
    values = [
        Column(_broken(name), [_value(cells, point, name) for point in points])
        for name in sweep.variants
    ]
    ratios = [
        Column(f"{name}\n/ {sweep.variants[0]}", [_ratio(cells, point, name) for point in points])
        for name in compared(sweep.variants)
    ]
    whole = with_columns(plain_table(title), [*places, *values, *ratios])
    if width_of(console, whole) <= console.width or not ratios:
        console.print(whole)
        return
    # The other values follow from the baseline's and the ratios.
    print_fitting(console, title, places, [values[0], *ratios])


def _broken(name: str) -> str:
    """Returns a heading in as many lines as it takes not to widen its column."""
    return name if len(name) <= 10 else name.replace(".", ".\n").replace("_", "_\n")


def _value(cells: OutcomeCells, point: Point, variant: str) -> Text:
    return value_text(cells.value(point, variant), cells.outcome.scale)


def _ratio(cells: OutcomeCells, point: Point, variant: str) -> Text:
    ratio = cells.ratio(point, variant)
    if not ratio.is_there and cells.refused_at(point):
        return Text("refused", style="yellow")
    return ratio_text(ratio)


def _print_extremes(console: Console, cells: OutcomeCells, sweep: _Sweep) -> None:
    """Prints the least, middle and greatest ratio or value, where they are, and a count."""
    baseline, others = sweep.variants[0], compared(sweep.variants)
    for name in others or sweep.variants[:1]:
        told = _told(cells, sweep, name)
        if not told:
            continue
        places = [
            Column("", list(told)),
            *(
                Column(_broken(axis.name), [axis.label(point) for point, _ in told.values()])
                for axis in sweep.axes
            ),
        ]
        heading = f"{name}\n/ {baseline}" if others else _broken(name)
        shown = [Column(heading, [text for _, text in told.values()])]
        print_fitting(console, cells.outcome.title, places, shown)
    for name in others:
        console.print(f"  {_tally(cells, sweep, name)}\n", highlight=False)


def _told(cells: OutcomeCells, sweep: _Sweep, name: str) -> dict[str, tuple[Point, Text]]:
    """Returns the least, the middle and the greatest point of a variant, with what they show."""
    get: Callable[[Point, str], StudyNumber]
    get, show = (cells.ratio, _ratio) if compared(sweep.variants) else (cells.value, _value)
    numbers = [(get(point, name).value, place) for place, point in enumerate(sweep.points)]
    there = sorted(pair for pair in numbers if not math.isnan(pair[0]))
    if not there:
        return {}
    chosen = {"least": there[0], "middle": there[len(there) // 2], "greatest": there[-1]}
    return {
        label: (sweep.points[place], show(cells, sweep.points[place], name))
        for label, (_, place) in chosen.items()
    }


def _tally(cells: OutcomeCells, sweep: _Sweep, name: str) -> str:
    """Returns at how many points a variant is clearly below or above the baseline."""
    ratios = [cells.ratio(point, name) for point in sweep.points]
    known = [ratio for ratio in ratios if ratio.has_interval]
    below = sum(ratio.ci_high < 1 for ratio in known)
    above = sum(ratio.ci_low > 1 for ratio in known)
    missing = len(sweep.points) - len(known)
    text = (
        f"{name}: below {sweep.variants[0]} at {below} of {len(sweep.points)} points, above at "
        f"{above}, not told apart at {len(known) - below - above}"
    )
    return f"{text}, no interval at {missing}" if missing else text
