"""The answer of a sweep: the range of what is compared, over many points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from analysis.metrics.numbers import StudyNumber, change_text, signed
from analysis.metrics.rounding import NOT_KNOWN
from analysis.page.content import capital
from analysis.page.failures import failures_anywhere
from analysis.page.findings import Findings
from analysis.page.waiting import full_points_words
from analysis.plots.axes import Axis, axes_of, place_words
from analysis.plots.sweep_outcomes import OutcomeCells, outcome_cells
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
    clear = [
        each for each in known
        if is_alone or each.number.told_apart or not each.number.has_interval
    ]  # fmt: skip
    alike = len(known) - len(clear)
    if alike == len(found.points):
        return f"{what} no clear difference anywhere{beyond}."
    tally = _tally(found, alike, len(found.points) - len(known))
    if not clear:
        return f"{what} {tally}{beyond}."
    between = f"{difference}{_between(clear, axes, is_alone=is_alone)}"
    return f"{what} {between}{f'; {tally}' if tally else ''}{beyond}."


def _between(known: Sequence[_Told], axes: Sequence[Axis], *, is_alone: bool) -> str:
    """Returns the least and the greatest of what is known, each with its place."""
    least, most = known[0], known[-1]
    if len(known) == 1:
        return least.at(axes)
    if least.text == most.text:
        return f"{least.text} at each of {len(known)} points"
    alike = is_alone and least.number.ci_high >= most.number.ci_low
    but = ", which cannot be told apart" if alike else ""
    return f"from {least.at(axes)} to {most.at(axes)}{but}"


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
    """Returns ``0.703 to 3.5 ms with pipelined, 0.334 to 1.93 ms with in_memory``.

    Only points at which every variant is known are among them: a range that leaves out one
    variant's slowest points would look better than the other's.
    """
    asked = cells.points_told(found.points, found.variants)
    points = [
        point
        for point in asked
        if all(
            number.is_drawn and plain_value(number) != NOT_KNOWN
            for number in (cells.value(point, variant) for variant in found.variants)
        )
    ]
    if not points or len(found.variants) > _MOST_LEVELS:
        return ""
    unit = behind(cells.outcome.unit)
    spans = [f"{_span(cells, points, name)}{unit} with {name}" for name in found.variants]
    every = "both" if len(spans) == 2 else "all"
    where = f" (at {len(points)} of {len(found.points)} points, where {every} are known)"
    return f"{', '.join(spans)}{where if len(points) < len(asked) else ''}"


def _span(cells: OutcomeCells, points: Sequence[Mapping[str, Any]], variant: str) -> str:
    """Returns the least and the greatest value of a variant at points where it is known."""
    numbers = sorted((cells.value(point, variant) for point in points), key=lambda one: one.value)
    shown = [plain_value(number, cells.outcome.scale) for number in numbers]
    known = {float(text.replace(",", "")): text for text in shown}
    return " to ".join(known[end] for end in dict.fromkeys([min(known), max(known)]))


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
    return f"{', '.join(parts)} of {len(found.points)} points" if parts else ""


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
