"""The comparison a user reads first: per point, a row a metric, a column a variant, then ratios.

Fits 80 columns: what does not fit in one table becomes two, values and ratios, or more.
Plain text when the output is no terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from analysis.metrics.numbers import Numbers, StudyNumber
from analysis.metrics.rounding import short, with_ends
from analysis.metrics.shown import KEY_FIGURES
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
