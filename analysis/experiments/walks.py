"""A walk: one factor from end to end of its range, the others at the centre."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, Self

from analysis.metrics.rounding import kept
from analysis.statistics.intervals import Array
from analysis.study.sections import Range

CENTRE: Final = 0.5
STEPS: Final = (0.0, 0.25, CENTRE, 0.75, 1.0)
"""Shares of the range."""


@dataclass(frozen=True, slots=True)
class LevelCrossing:
    """Where an outcome passes a level."""

    level: float
    """On the scale of effects."""
    at: str | int | float
    """The factor's value, between two steps of the walk, on a straight line."""
    side: Literal["below", "above"]
    """On which side of ``at`` the outcome is beyond the level, seen from the centre."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What one factor does alone."""

    key: str
    values: tuple[Any, ...]
    """Of the factor, at each step."""
    outcomes: tuple[float, ...]
    """On the scale of effects; NaN: missing."""
    total: float
    """The factor's total index, and the half width of its interval."""
    total_conf: float
    crossings: tuple[LevelCrossing, ...]
    """The one nearest to the centre for each level, nearest first."""

    @classmethod
    def of(
        cls,
        factor: Range,
        outcomes: Array,
        *,
        total: float,
        total_conf: float,
        levels: Sequence[float],
    ) -> Self:
        """Returns a walk and where it passes levels.

        Args:
            factor: that walks.
            outcomes: of shape (steps,), NaN where nothing was seen.
            total: its share of the variance, with interactions.
            total_conf: half width of that.
            levels: on the scale of effects.
        """
        found = [crossing for level in levels for crossing in _nearest(factor, outcomes, level)]
        nearest = sorted(found, key=lambda pair: pair[0])
        return cls(
            factor.key,
            tuple(factor.at(share) for share in STEPS),
            tuple(outcomes.tolist()),
            total,
            total_conf,
            tuple(crossing for _, crossing in nearest),
        )

    def content(self, shown: Callable[[float], float]) -> dict[str, Any]:
        """Returns the walk for ``summary.json``.

        Args:
            shown: from the scale of effects to what is shown.
        """
        return {
            "factor": self.key,
            "values": list(self.values),
            "outcomes": [kept(shown(one)) for one in self.outcomes],
            "crossings": [
                {"level": kept(shown(one.level)), "at": one.at, "side": one.side}
                for one in self.crossings
            ],
        }


def _nearest(factor: Range, outcomes: Array, level: float) -> list[tuple[float, LevelCrossing]]:
    """Returns the crossing nearest to the centre, with its distance; none without one."""
    there = [(share, one - level) for share, one in zip(STEPS, outcomes, strict=True)
             if not math.isnan(one)]  # fmt: skip
    shares = [
        left + (right - left) * before / (before - after)
        for (left, before), (right, after) in pairwise(there)
        if before * after < 0 or (before == 0) != (after == 0)
    ]
    if not shares:
        return []
    share = min(shares, key=lambda one: abs(one - CENTRE))
    side: Literal["below", "above"] = "below" if share < CENTRE else "above"
    return [(abs(share - CENTRE), LevelCrossing(level, factor.at(share, telling=3), side))]
