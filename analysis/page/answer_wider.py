"""The answer of a study of many points: of a sweep, or of a search for capacity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from analysis.experiments.case_words import (
    capacity_text,
    case_words,
    promise_words,
    unit_words,
)
from analysis.metrics.numbers import StudyNumber, change_text, signed
from analysis.metrics.rounding import NOT_KNOWN, digits
from analysis.page.content import capital
from analysis.page.failures import failures_anywhere
from analysis.page.findings import Findings
from analysis.page.waiting import full_points_words
from analysis.plots.axes import Axis, axes_of, place_words
from analysis.plots.sweep_outcomes import OutcomeCells, outcome_cells
from analysis.report.capacity_table import capacity_changes
from analysis.report.cells import amount, behind, plain_value

_MOST_LEVELS: Final = 4
"""Variants of which a sentence can say what each does."""


def of_sweep(found: Findings) -> Iterator[str]:
    """The range of the main variant's ratios, or of its values, over all points."""
    if found.summary["verdict"]["says"]:
        yield capital(found.summary["verdict"]["says"])
    axes = axes_of(found.points)
    told = outcome_cells(found.summary)
    for cells in told:
        if cells.outcome.key.stat == "mean" or _stands_for_locks(found, cells, told):
            said = _range(found, axes, cells)
            if said:
                yield said
    if found.document.get("operations"):
        yield failures_anywhere(found, axes)
    if limits := full_points_words(found):
        yield limits


def _stands_for_locks(found: Findings, cells: OutcomeCells, told: Sequence[OutcomeCells]) -> bool:
    """Returns whether an outcome is transactions' latency, and somewhere nobody asks for a lock."""
    if cells.outcome.key.metric != "txn_latency_ms":
        return False
    locks = [each for each in told if each.outcome.key.metric == "lock_latency_ms"]
    points = found.points
    return not locks or len(locks[0].points_told(points, found.variants)) < len(points)


class _Told(NamedTuple):
    """The main variant's number at a point, and how it is written."""

    number: StudyNumber
    point: Mapping[str, Any]
    text: str

    def at(self, axes: Sequence[Axis]) -> str:
        """Returns it with its place."""
        return f"{self.text} (at {place_words(axes, self.point)})"


def _range(found: Findings, axes: Sequence[Axis], cells: OutcomeCells) -> str:
    told = list(_told(found, cells))
    if not told:
        return ""
    is_alone = len(found.variants) == 1
    what, difference = _beginning(found, cells)
    known = sorted(
        (each for each in told if each.text != NOT_KNOWN), key=lambda one: one.number.value
    )
    if not known:
        return f"{what} {difference}{NOT_KNOWN}, it varies too much from run to run."
    beyond = _past_level(found, cells, [each.number for each in told])
    ratios = [] if is_alone else [each.number for each in known]
    alike = sum(ratio.has_interval and not ratio.told_apart for ratio in ratios)
    if alike == len(found.points):
        return f"{what} no clear difference anywhere{beyond}."
    between = known[0].at(axes)
    if len(known) > 1:
        between = f"from {between} to {known[-1].at(axes)}"
        if is_alone and known[0].number.ci_high >= known[-1].number.ci_low:
            between = f"{between}, which cannot be told apart"
    tally = _tally(found, alike, len(found.points) - len(known))
    return f"{what} {difference}{between}{tally}{beyond}."


def _beginning(found: Findings, cells: OutcomeCells) -> tuple[str, str]:
    """Returns how a sentence begins, and what comes before its difference.

    Of two variants the levels name both; of more, it is said which two are compared.
    """
    name, variants = capital(cells.outcome.name), found.variants
    if len(variants) == 1:
        return f"{name}:", ""
    levels = _levels(found, cells)
    pair = f"{found.main} against {found.baseline}"
    if not levels:
        return f"{name}, {pair}:", ""
    if len(variants) > 2:
        return f"{name}: {levels}; {pair}:", ""
    return f"{name}: {levels};", "difference "


def _levels(found: Findings, cells: OutcomeCells) -> str:
    """Returns ``0.703 to 3.5 ms with pipelined, 0.334 to 1.93 ms with in_memory``."""
    spans = {variant: _span(cells, found.points, variant) for variant in found.variants}
    if not all(spans.values()) or len(spans) > _MOST_LEVELS:
        return ""
    unit = behind(cells.outcome.unit)
    return ", ".join(f"{span}{unit} with {variant}" for variant, span in spans.items())


def _span(cells: OutcomeCells, points: Sequence[Mapping[str, Any]], variant: str) -> str:
    """Returns the least and the greatest value of a variant; nothing where none is known."""
    numbers = [cells.value(point, variant) for point in points]
    shown = [
        plain_value(number, cells.outcome.scale)
        for number in sorted(numbers, key=lambda number: number.value)
        if number.is_there and not number.at_least
    ]
    known = {float(text.replace(",", "")): text for text in shown if text != NOT_KNOWN}
    ends = dict.fromkeys([min(known), max(known)]) if known else {}
    return " to ".join(known[end] for end in ends)


def _told(found: Findings, cells: OutcomeCells) -> Iterator[_Told]:
    """Yields ratios, or values where there is one variant, at the points that have any."""
    is_alone, outcome = len(found.variants) == 1, cells.outcome
    for point in found.points:
        number = (cells.value if is_alone else cells.ratio)(point, found.main)
        if number.is_there:
            alone = amount(number, outcome.unit, outcome.scale)
            text = alone if is_alone else change_text(number)
            yield _Told(number, point, text)


def _tally(found: Findings, alike: int, without: int) -> str:
    """Returns at how many points the variants cannot be told apart, and how many say nothing."""
    number = "no ratio" if len(found.variants) > 1 else "no number"
    parts = [f"no clear difference at {alike}"] if alike else []
    parts += [f"{number} at {without}"] if without else []
    return f"; {', '.join(parts)} of {len(found.points)} points" if parts else ""


def _past_level(found: Findings, cells: OutcomeCells, known: Sequence[StudyNumber]) -> str:
    """Returns at how many points a ratio's interval lies beyond the level that a map shows."""
    level = found.run.study.contours.get(str(cells.outcome.key))
    if level is None or len(found.variants) == 1:
        return ""
    below = sum(ratio.ci_high < level for ratio in known)
    above = sum(ratio.ci_low > level for ratio in known)
    change = f"{signed(100 * (level - 1), 10.0)} %"
    return (
        f"; clearly beyond {change} at {below if level < 1 else above} of {len(found.points)} "
        f"points, clearly short of it at {above if level < 1 else below}, uncertain at "
        f"{len(known) - below - above}"
    )


def of_capacity(found: Mapping[str, Any]) -> Iterator[str]:
    """How variants differ, then how far each case goes and what was promised."""
    known = [case for case in found["cases"] if case["status"] == "found"]
    promise = promise_words(found)
    yield from capacity_changes(found)
    if not known:
        yield _beyond(found, promise)
        return
    best = max(known, key=lambda case: float(case["load"]))
    most = f"{case_words(best)} carries the most: {capacity_text(found, best)} {unit_words(found)}"
    yield f"{most}, keeping {promise}."


def _beyond(found: Mapping[str, Any], promise: str) -> str:
    """Returns what is known where no capacity lies within the search."""
    low, high = (f"{digits(end)} {unit_words(found)}" for end in found["between"])
    seen = {case["status"] for case in found["cases"]}
    is_one = len(found["cases"]) == 1
    if seen == {"above"}:
        return f"{'The' if is_one else 'Every'} case keeps {promise} up to {high} at least."
    if seen == {"below"}:
        none = "The case does not keep" if is_one else "No case keeps"
        return f"{none} {promise}, not even at {low}."
    return f"No case has a capacity that is known to lie between {low} and {high}, with {promise}."
