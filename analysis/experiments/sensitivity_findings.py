"""What trajectories, samples and walks have shown about one outcome, as numbers and as a sentence.

Law: whatever is said of a ratio is computed on its logarithm. Effects and deviations are told on
that scale, where they add; base, walks and ranges as ratios again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from analysis.experiments.sensitivity_sentence import Told, sentence
from analysis.experiments.walks import Walk
from analysis.metrics.catalogue import QUANTILES
from analysis.statistics.intervals import half_widths
from analysis.statistics.sensitivity import (
    Effects,
    Indices,
    effect_of_noise,
    morris_effects,
    sobol_indices,
)
from analysis.study.plan import ResolvedStudy
from sim.record.histogram import RELATIVE_ERROR
from sim.scenario.resolved_study import MetricKey, Sensitivity

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One figure whose conclusion is questioned."""

    key: MetricKey
    variant: str
    baseline: str | None
    """None: the value itself."""
    thresholds: tuple[float, ...]
    """Levels whose crossing would change a conclusion: those of ``expect`` and of maps."""

    @classmethod
    def of(cls, key: MetricKey, study: ResolvedStudy) -> Self:
        """Returns what a study asks about a metric."""
        names = list(study.variants)
        variant, baseline = (names[1], names[0]) if len(names) > 1 else (names[0], None)
        levels = {
            limit
            for claim in study.expect
            if (claim.metric, claim.class_, claim.stat) == (key.metric, key.class_, key.stat)
            and (claim.variant, claim.against) == (variant, baseline)
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
        """Returns an outcome as it is told: a ratio, or the value itself."""
        return value if self.baseline is None else math.exp(value)

    def scaled(self, shown: float) -> float:
        """Returns what is told on the scale of effects."""
        return shown if self.baseline is None else math.log(shown)


@dataclass(frozen=True, slots=True)
class Findings:
    """Of one outcome, on the scale of effects."""

    base: Array
    """Shape (replications,)."""
    deviation: float
    """Between replications at the centre; NaN with fewer than two."""
    floor: float
    """mu_star that luck alone stays below; 0 if it is not known."""
    effects: Effects
    kept: Sequence[int]
    indices: Indices | None
    """Of the kept factors."""
    walks: Array
    """Shape (kept, steps)."""
    tried: Array
    """All values seen, of any point."""

    @property
    def above_noise(self) -> NDArray[np.bool_]:
        """Which factors move the outcome more than luck does."""
        return np.asarray(np.nan_to_num(self.effects.mu_star) > self.floor)


@dataclass(frozen=True, slots=True)
class SeenValues:
    """One outcome at all points, on the scale of effects; NaN where a unit is missing.

    Attributes:
        base: at the centre, of shape (replications,).
        screened: on trajectories, of shape (trajectories, factors + 1).
        sampled: in blocks, of shape (samples, kept + 2).
        walks: of shape (kept, steps).
    """

    base: Array
    screened: Array
    sampled: Array
    walks: Array


def findings_of(
    asked: Sensitivity, trajectories: Array, kept: Sequence[int], values: SeenValues
) -> Findings:
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
    return Findings(
        base=base,
        deviation=deviation,
        floor=floor,
        effects=effects,
        kept=kept,
        indices=sobol_indices(values.sampled, asked.seed) if kept else None,
        walks=values.walks,
        tried=tried[~np.isnan(tried)],
    )


def conclusion_of(outcome: Outcome, found: Findings, asked: Sensitivity) -> dict[str, Any]:
    """Returns one outcome for ``summary.json``; NaN becomes null."""
    base = _base(outcome, found)
    walks = _walks(outcome, found, asked)
    says = sentence(
        Told(
            words=outcome.words,
            base=base,
            logarithmic=outcome.baseline is not None,
            thresholds=outcome.thresholds,
            varies=found.effects.varies,
            screened=found.effects.used > 1,
            walks=walks,
            tried=tuple(outcome.shown(value) for value in found.tried),
        )
    )
    return {
        "metric": outcome.key.metric,
        "class": outcome.key.class_,
        "stat": outcome.key.stat,
        "variant": outcome.variant,
        "baseline": outcome.baseline,
        "scale": "value" if outcome.baseline is None else "logarithm of the ratio",
        "base": base,
        "noise": {"deviation": _number(found.deviation), "mu_star": _number(found.floor)},
        "varies": found.effects.varies,
        "morris": _morris(found, asked),
        "sobol": _sobol(found, asked),
        "walks": [walk.content(outcome.shown) for walk in walks],
        "tried": {
            "points": len(found.tried),
            "least": _number(outcome.shown(found.tried.min()) if len(found.tried) else math.nan),
            "greatest": _number(outcome.shown(found.tried.max()) if len(found.tried) else math.nan),
        },
        "thresholds": list(outcome.thresholds),
        "says": says,
    }


def _base(outcome: Outcome, found: Findings) -> dict[str, Any]:
    there = found.base[~np.isnan(found.base)]
    if not len(there):
        return {"value": None, "ci_low": None, "ci_high": None, "replications": 0}
    middle, half = float(there.mean()), float(half_widths(there[None, :])[0])
    half += outcome.histogram_error(middle)
    ends = [outcome.shown(middle + half * sign) for sign in (-1, 1)]
    return {
        "value": _number(outcome.shown(middle)),
        "ci_low": _number(ends[0]),
        "ci_high": _number(ends[1]),
        "replications": len(there),
    }


def _morris(found: Findings, asked: Sensitivity) -> dict[str, Any]:
    effects = found.effects
    columns = (effects.mu, effects.mu_star, effects.mu_star_conf, effects.sigma)
    return {
        "used": effects.used,
        "of": asked.trajectories,
        "effects": [
            {
                "factor": factor.key,
                "mu": _number(mu),
                "mu_star": _number(star),
                "mu_star_conf": _number(conf),
                "sigma": _number(sigma),
                "above_noise": bool(above),
            }
            for factor, above, mu, star, conf, sigma in zip(
                asked.factors, found.above_noise, *columns, strict=True
            )
        ],
    }


def _sobol(found: Findings, asked: Sensitivity) -> dict[str, Any] | None:
    indices = found.indices
    if indices is None:
        return None
    columns = (indices.first, indices.first_conf, indices.total, indices.total_conf)
    return {
        "used": indices.used,
        "of": asked.samples,
        "indices": [
            {
                "factor": asked.factors[place].key,
                "first": _number(first),
                "first_conf": _number(first_conf),
                "total": _number(total),
                "total_conf": _number(total_conf),
            }
            for place, first, first_conf, total, total_conf in zip(
                found.kept, *columns, strict=True
            )
        ],
    }


def _walks(outcome: Outcome, found: Findings, asked: Sensitivity) -> list[Walk]:
    """Returns the kept factors' walks, those with the greatest total index first."""
    walks = []
    for row, place in enumerate(found.kept):
        total = total_conf = math.nan
        if found.indices is not None:
            total, total_conf = found.indices.total[row], found.indices.total_conf[row]
        walks.append(
            Walk.of(
                asked.factors[place],
                found.walks[row],
                total=float(total),
                total_conf=float(total_conf),
                levels=[outcome.scaled(level) for level in outcome.thresholds],
            )
        )
    return sorted(walks, key=lambda walk: -np.nan_to_num(walk.total))


def _number(value: float) -> float | None:
    """Returns ten digits, on which JSON readers agree; None for NaN."""
    return None if math.isnan(value) else float(f"{value:.10g}")
