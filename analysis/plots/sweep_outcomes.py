"""The outcomes that a sweep is read by, and their values and ratios by point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analysis.metrics.numbers import Numbers, StudyNumber
from analysis.metrics.row_table import point_text
from analysis.metrics.shown import OUTCOMES, ShownFigure
from analysis.plots.style import Look
from analysis.study.units import Point

NO_VALUE: Final = "refused, or only a bound"
"""What a cross in a picture means."""


class OutcomeCells:
    """Values and ratios of one outcome, by point and variant."""

    def __init__(self, outcome: ShownFigure, values: Numbers, ratios: Numbers) -> None:
        self.outcome = outcome
        self._values, self._ratios = values, ratios
        self._refused = {
            point for point, number in values.of(outcome.key) if number.refused or number.at_least
        }

    @property
    def any_refused(self) -> bool:
        """Whether a value is refused somewhere, or only a bound is known."""
        return bool(self._refused)

    def points_told(self, points: Sequence[Point], variants: Sequence[str]) -> list[Point]:
        """Returns the points at which any variant has a value, or one that is refused."""

        def is_told(point: Point) -> bool:
            numbers = [self.value(point, name) for name in variants]
            return any(number.is_there or number.refused for number in numbers)

        return list(filter(is_told, points))

    def refused_at(self, point: Point) -> bool:
        """Whether a variant has no value there that could be compared."""
        return point_text(point) in self._refused

    def value(self, point: Point, variant: str) -> StudyNumber:
        """Returns the value."""
        return self._values.get(point, variant, self.outcome.key)

    def ratio(self, point: Point, variant: str) -> StudyNumber:
        """Returns the comparison with the baseline."""
        return self._ratios.get(point, variant, self.outcome.key)


@dataclass(frozen=True, slots=True)
class SweepView:
    """One outcome as pictures of a sweep show it.

    Attributes:
        cells: its values and ratios.
        looks: by variant, the baseline first.
        level: ratio at which there is a line, or a contour; None: at none.
    """

    cells: OutcomeCells
    looks: Mapping[str, Look]
    level: float | None

    @property
    def baseline(self) -> str:
        """What the other variants are compared with."""
        return next(iter(self.looks))

    @property
    def others(self) -> tuple[str, ...]:
        """The variants that have a ratio."""
        return tuple(self.looks)[1:]


def outcome_cells(
    summary: Mapping[str, Any], outcomes: Sequence[ShownFigure] = OUTCOMES
) -> list[OutcomeCells]:
    """Returns the outcomes that a study has, in the order in which they are shown."""
    keys = {outcome.key for outcome in outcomes}
    values, ratios = (Numbers(summary[rows], keys=keys) for rows in ("rows", "comparisons"))
    return [
        OutcomeCells(outcome, values, ratios)
        for outcome in outcomes
        if any(number.is_there or number.refused for _, number in values.of(outcome.key))
    ]
