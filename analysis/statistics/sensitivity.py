"""Which inputs move an output: Morris' elementary effects, Sobol' indices, and what is only noise.

Array wrappers over SALib. Inputs are shares: 0 and 1 are the ends of a factor's range, on its own
scale, so that effects of all factors compare. An output that does not vary has indices of 0, not
NaN; a trajectory or block with a missing value (NaN) is left out whole, since the estimators need
their partners. SALib's analysis of Sobol' indices takes the seed 0 for "none"; here every
seed is one.

Sources: Morris, Technometrics 33 (1991) 161-174; Campolongo, Cariboni, Saltelli, Environmental
Modelling & Software 22 (2007) 1509-1518 (mu*); Saltelli et al., Computer Physics Communications 181
(2010) 259-270 (first order and, after Jansen, total order); Herman, Usher, SALib, JOSS 2 (2017) 97.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy.special import ndtri

from analysis.statistics.intervals import CONFIDENCE, Array

FLOOR_CONFIDENCE: Final = 0.95
_RESAMPLES: Final = 1000

_FEWEST: Final = 2
"""Trajectories or blocks below which there is no spread, hence no interval."""

_SAME: Final = 1e-12
"""Relative spread that is rounding, not variation."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Elementary effects of each factor over its whole range; arrays of shape (factors,).

    Attributes:
        mu: mean effect, in the output's unit; its sign says the direction.
        mu_star: mean of the effects' absolute values.
        mu_star_conf: half width of its interval, bootstrapped over trajectories.
        sigma: deviation of the effects; large beside mu_star: interactions or curvature.
        used: trajectories that were whole.
        varies: whether the output varied at all.
    """

    mu: Array
    mu_star: Array
    mu_star_conf: Array
    sigma: Array
    used: int
    varies: bool


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of the output's variance, by factor; arrays of shape (factors,).

    Attributes:
        own: would vanish if the factor were known, on average: its first-order index.
        own_conf: half width of its interval, bootstrapped over blocks.
        total: would be left if all others were known; its own effect and its interactions.
        total_conf: likewise.
    """

    own: Array
    own_conf: Array
    total: Array
    total_conf: Array


@dataclass(frozen=True, slots=True)
class Indices(Shares):
    """Shares straight from blocks.

    Attributes:
        used: blocks that were whole.
        varies: whether the output varied at all.
    """

    used: int
    varies: bool


def morris_trajectories(factors: int, trajectories: int, levels: int, seed: int) -> Array:
    """Returns walks through the levels that change one factor a step.

    Args:
        factors: at least 1.
        trajectories: how many walks.
        levels: values of each factor, even.
        seed: of the walks.

    Returns:
        Shares, of shape (trajectories, factors + 1, factors).
    """
    from SALib.sample import morris

    shares = morris.sample(_problem(factors), trajectories, num_levels=levels, seed=seed)
    return np.asarray(shares, dtype=np.float64).reshape(trajectories, factors + 1, factors)


def morris_effects(shares: Array, values: Array, levels: int, seed: int) -> Effects:
    """Returns the elementary effects that trajectories have shown.

    Args:
        shares: as ``morris_trajectories`` gave them.
        values: of the output, of shape (trajectories, factors + 1); NaN: missing.
        levels: as the trajectories were drawn with.
        seed: of the bootstrap.
    """
    from SALib.analyze import morris

    whole = ~np.isnan(values).any(axis=1)
    factors, used = shares.shape[2], int(whole.sum())
    kept = values[whole]
    if used < _FEWEST or not _varies(kept):
        empty = _without_variance(factors, used)
        return Effects(empty, empty, empty, empty, used, varies=False)
    found = morris.analyze(
        _problem(factors), shares[whole].reshape(-1, factors), kept.ravel(),
        num_resamples=_RESAMPLES, conf_level=CONFIDENCE, num_levels=levels, seed=_seed(seed),
    )  # fmt: skip
    names = ("mu", "mu_star", "mu_star_conf", "sigma")
    mu, mu_star, conf, sigma = (np.asarray(found[name], dtype=np.float64) for name in names)
    return Effects(mu, mu_star, conf, sigma, used, varies=True)


def over_true_steps(effects: Effects, shares: Array, true_shares: Array) -> Effects:
    """Returns effects over the steps that factors made, where these were rounded to whole numbers.

    A switch, for one, is only ever moved over its whole range, not over two thirds of it.

    Args:
        effects: over the steps of ``shares``.
        shares: as ``morris_trajectories`` gave them.
        true_shares: of the same shape: where in its range each factor was.
    """
    steps, true_steps = (
        np.abs(np.diff(of, axis=1)).sum(axis=(0, 1)) for of in (shares, true_shares)
    )
    scale = steps / np.where(true_steps > 0, true_steps, np.nan)
    return replace(
        effects,
        mu=effects.mu * scale,
        mu_star=effects.mu_star * scale,
        mu_star_conf=effects.mu_star_conf * scale,
        sigma=effects.sigma * scale,
    )


def effect_of_noise(deviation: float, trajectories: int, levels: int) -> float:
    """Returns the mu_star that a factor without any influence stays below, in 95 % of studies.

    Each of its effects is the difference of two values that only luck tells apart, over the step
    between two levels. Values under common random numbers differ by less than that, so this is an
    upper bound for them.

    Args:
        deviation: of the output between replications at one point.
        trajectories: effects that mu_star is the mean of.
        levels: of the trajectories.
    """
    step = levels / (2.0 * (levels - 1.0))
    one_effect = math.sqrt(2.0) * deviation / step
    mean, spread = math.sqrt(2.0 / math.pi), math.sqrt(1.0 - 2.0 / math.pi)
    quantile = float(ndtri(FLOOR_CONFIDENCE))
    return one_effect * (mean + quantile * spread / math.sqrt(max(trajectories, 1)))


def sobol_blocks(factors: int, samples: int, seed: int) -> Array:
    """Returns the samples from which first and total indices are computed.

    Args:
        factors: at least 1.
        samples: a power of two.
        seed: of the scrambling.

    Returns:
        Shares, of shape (samples, factors + 2, factors): in each block a point, that point with one
        factor after the other taken from a second point, and the second point.
    """
    from SALib.sample import sobol

    shares = sobol.sample(_problem(factors), samples, calc_second_order=False, seed=_seed(seed))
    return np.asarray(shares, dtype=np.float64).reshape(samples, factors + 2, factors)


def sobol_indices(values: Array, seed: int) -> Indices:
    """Returns the shares of variance that blocks have shown.

    Args:
        values: of the output, of shape (samples, factors + 2); NaN: missing.
        seed: of the bootstrap.
    """
    from SALib.analyze import sobol

    whole = ~np.isnan(values).any(axis=1)
    factors, used = values.shape[1] - 2, int(whole.sum())
    kept = values[whole]
    if used < _FEWEST or not _varies(kept):
        empty = _without_variance(factors, used)
        return Indices(empty, empty, empty, empty, used, varies=False)
    found = sobol.analyze(
        _problem(factors), kept.ravel(), calc_second_order=False, num_resamples=_RESAMPLES,
        conf_level=CONFIDENCE, seed=_seed(seed),
    )  # fmt: skip
    names = ("S1", "S1_conf", "ST", "ST_conf")
    own, own_conf, total, total_conf = (np.asarray(found[name], float) for name in names)
    return Indices(own, own_conf, total, total_conf, used, varies=True)


def _problem(factors: int) -> dict[str, Any]:
    names = [f"x{place}" for place in range(factors)]
    return {"num_vars": factors, "names": names, "bounds": [[0.0, 1.0]] * factors}


def _varies(values: Array) -> bool:
    return float(np.ptp(values)) > _SAME * float(np.max(np.abs(values)))


def _without_variance(factors: int, used: int) -> Array:
    """Returns 0 for an output that does not vary, NaN if too little of it was seen."""
    return np.full(factors, 0.0 if used >= _FEWEST else np.nan)


def _seed(seed: int) -> int:
    return seed + 1
