"""What trajectories, samples and walks have shown about one outcome.

Law: whatever is said of a ratio is computed on its logarithm, the scale of effects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.catalogue import QUANTILES, MetricKey
from analysis.metrics.rounding import kept
from analysis.statistics.intervals import Array
from analysis.statistics.polynomial_shares import Fit, polynomial_shares
from analysis.statistics.sensitivity import (
    Effects,
    Indices,
    Shares,
    effect_of_noise,
    morris_effects,
    over_true_steps,
    sobol_indices,
)
from analysis.study.sections import Range, Sensitivity
from analysis.study.study import Study
from sim.record.histogram import RELATIVE_ERROR

TRUSTED_Q2: Final = 0.9
"""From here a polynomial's shares replace those from blocks."""


@dataclass(frozen=True, slots=True)
class SensitivityOutcome:
    """One figure whose conclusion is questioned."""

    key: MetricKey
    variant: str
    baseline: str | None
    """None: the value itself."""
    thresholds: tuple[float, ...]
    """Levels whose crossing would change a conclusion: those of ``expect`` and of maps."""

    @classmethod
    def of(cls, key: MetricKey, study: Study) -> Self:
        """Returns what a study asks about a metric."""
        names = list(study.variants)
        variant, baseline = (names[1], names[0]) if len(names) > 1 else (names[0], None)
        levels = {
            limit
            for claim in study.expect
            if claim.key == key and (claim.variant, claim.against) == (variant, baseline)
            for limit in (claim.below, claim.above)
            if limit is not None and limit > 0
        }
        if baseline is not None:
            levels |= {level for name, level in study.contours.items() if name == str(key)}
            levels = levels or {1.0}
        return cls(key, variant, baseline, tuple(sorted(levels)))

    @property
    def words(self) -> str:
        """The figure's name, and what it is divided by."""
        if self.baseline is None:
            return str(self.key)
        return f"{self.key}, {self.variant} / {self.baseline}"

    def value(self, values: Sequence[float]) -> float:
        """Returns the outcome from the value of each variant, on the scale of effects.

        Args:
            values: of the baseline and the variant, or of the only variant.
        """
        if self.baseline is None:
            return values[0]
        below, above = values
        return math.log(above / below) if above > 0 and below > 0 else math.nan

    def histogram_error(self, middle: float) -> float:
        """Returns how far a quantile may be off because histograms have buckets."""
        if self.key.stat not in QUANTILES:
            return 0.0
        return abs(middle) * RELATIVE_ERROR if self.baseline is None else 2 * RELATIVE_ERROR

    def shown(self, value: float) -> float:
        """Returns an outcome as it is shown: a ratio, or the value itself."""
        return value if self.baseline is None else math.exp(value)

    def scaled(self, shown: float) -> float:
        """Returns what is shown on the scale of effects."""
        return shown if self.baseline is None else math.log(shown)


@dataclass(frozen=True, slots=True)
class SensitivityFindings:
    """Of one outcome, on the scale of effects."""

    base: Array
    """Shape (replications,)."""
    deviation: float
    """Between replications at the centre; NaN with fewer than two."""
    floor: float
    """mu_star that luck alone stays below; 0 if it is not known."""
    above_noise: NDArray[np.bool_]
    """Which factors move the outcome more than luck does."""
    effects: Effects
    kept: Sequence[int]
    indices: Indices | None
    """Of the kept factors, straight from the blocks."""
    fit: Fit | None
    """The same from a polynomial; None if there is too little for one."""
    walks: Array
    """Shape (kept, steps)."""
    tried: Array
    """All values seen, of any point."""

    @property
    def smooth(self) -> bool:
        """Whether the polynomial predicts samples that it has not seen."""
        return self.fit is not None and self.fit.q2 >= TRUSTED_Q2

    @property
    def told_shares(self) -> Shares | None:
        """Own and total shares with their half widths, from the polynomial if it is any good."""
        return self.fit if self.smooth else self.indices


@dataclass(frozen=True, slots=True)
class SeenValues:
    """One outcome at all points, on the scale of effects; NaN where a unit is missing.

    Attributes:
        base: at the centre, of shape (replications,).
        screened: on trajectories, of shape (trajectories, factors + 1).
        screened_at: true shares there, of shape (trajectories, factors + 1, factors).
        sampled_at: shares of the kept factors in blocks, of shape (samples, kept + 2, kept).
        sampled: there, of shape (samples, kept + 2).
        walks: of shape (kept, steps).
    """

    base: Array
    screened: Array
    screened_at: Array
    sampled_at: Array
    sampled: Array
    walks: Array


def findings_of(
    asked: Sensitivity, trajectories: Array, kept: Sequence[int], values: SeenValues
) -> SensitivityFindings:
    """Returns what was found about one outcome.

    Args:
        asked: levels, seed.
        trajectories: shares, of shape (trajectories, factors + 1, factors).
        kept: places of the factors that have samples and walks.
        values: of the outcome.
    """
    base = values.base
    there = base[~np.isnan(base)]
    deviation = float(np.std(there, ddof=1)) if len(there) > 1 else math.nan
    effects = morris_effects(trajectories, values.screened, asked.levels, asked.seed)
    floor = 0.0
    if not math.isnan(deviation):
        floor = effect_of_noise(deviation, effects.used, asked.levels)
    everywhere = (base, values.screened, values.sampled, values.walks)
    tried = np.concatenate([one.ravel() for one in everywhere])
    indices = sobol_indices(values.sampled, asked.seed) if kept else None
    fit = None
    if indices is not None and indices.varies:
        fit = polynomial_shares(values.sampled_at, values.sampled, asked.seed)
    return SensitivityFindings(
        base=base,
        deviation=deviation,
        floor=floor,
        above_noise=np.asarray(np.nan_to_num(effects.mu_star) > floor),
        effects=over_true_steps(effects, trajectories, values.screened_at),
        kept=kept,
        indices=indices,
        fit=fit,
        walks=values.walks,
        tried=tried[~np.isnan(tried)],
    )


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
