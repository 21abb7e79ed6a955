"""Where a falling curve crosses zero: the greatest load at which an objective is met.

The curve is an objective's *slack*, limit / value - 1: 0 at the limit, towards -1 as a latency goes
to infinity. A queue's latency grows like 1 / (capacity - load), so its slack is near a straight
line, and a straight line between two loads finds the crossing. More load means no more slack;
where a finite run says otherwise, isotonic regression makes the curve fall, so that it crosses
once.

Sources: Barlow, Bartholomew, Bremner, Brunk, Statistical Inference under Order Restrictions, 1972
(isotonic regression); Hahn, Meeker, Statistical Intervals, 1991, 4.7 (one further observation).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.special import stdtr

from analysis.statistics.intervals import Array

MOST_SLACK: Final = 9.0
"""A tenth of the limit: how far below it a value lies no longer matters."""
NO_SLACK: Final = -1.0
"""That of an infinite value: a run that was overloaded, or has no value."""


class Crossing(NamedTuple):
    """Between which loads a curve crosses, and where; infinite where that was not seen."""

    load: float
    low: float
    """The greatest load at which it is met; -inf: at none that was tried."""
    high: float
    """The least load at which it is not; inf: at none that was tried."""

    @property
    def seen(self) -> bool:
        """Whether the crossing lies between two loads that were tried."""
        return bool(np.isfinite(self.load))


def slacks(values: Array, limit: float) -> Array:
    """Returns limit / value - 1, between ``NO_SLACK`` and ``MOST_SLACK``.

    Args:
        values: any shape, not negative; NaN (no value) has no slack.
        limit: the greatest value that is allowed; with 0 any value above it has no slack.
    """
    missing = np.isnan(values)
    filled = np.where(missing, 1.0, values)
    positive = filled > 0
    ratio = limit / np.where(positive, filled, 1.0)
    slack = np.where(positive, np.minimum(ratio - 1.0, MOST_SLACK), MOST_SLACK)
    return np.where(missing, NO_SLACK, slack)


def falling(slack: Array) -> Array:
    """Returns the falling sequence nearest to ``slack`` (least squares), in the order of load."""
    if len(slack) < 2:
        return slack
    from scipy.optimize import isotonic_regression  # slow to import, and for capacities only

    fitted: Array = isotonic_regression(slack, increasing=False).x
    return fitted


def crossing_of(loads: Array, slack: Array) -> Crossing:
    """Returns where the falling curve crosses 0; shapes (tried,), loads ascending."""
    fitted = falling(slack)
    met = int(np.sum(fitted >= 0.0))
    if met == 0:
        return Crossing(-np.inf, -np.inf, float(loads[0]) if len(loads) else np.inf)
    if met == len(loads):
        return Crossing(np.inf, float(loads[-1]), np.inf)
    low, high = float(loads[met - 1]), float(loads[met])
    share = fitted[met - 1] / (fitted[met - 1] - fitted[met])
    return Crossing(low + float(share) * (high - low), low, high)


def probability_met(loads: Array, crossings: Array) -> Array:
    """Returns the probability that a run of its own meets the objectives at each load.

    A further replication's crossing is predicted from those seen, near normal: Student's t with the
    spread of one observation, not of the mean.

    Args:
        loads: any shape.
        crossings: shape (replications,), finite.

    Returns:
        The shape of ``loads``; NaN with fewer than two replications.
    """
    count = len(crossings)
    if count < 2:
        return np.full(np.shape(loads), np.nan)
    spread = float(np.std(crossings, ddof=1)) * np.sqrt(1.0 + 1.0 / count)
    distance = float(np.mean(crossings)) - loads
    if spread == 0.0:
        return np.where(distance >= 0, 1.0, 0.0)
    probability: Array = stdtr(count - 1, distance / spread)
    return probability
