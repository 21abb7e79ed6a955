"""Where the start of a run stops mattering: MSER-5.

The cut is the one that makes the mean of the rest most precise: it minimises the squared standard
error of what remains, over batch means of five. A cut is only looked for in the first half; if the
best one lies at that edge, the series is not settled.

Source: White, An effective truncation heuristic for bias reduction in simulation output, Simulation
69(6), 1997; White, Cobb, Spratt, A comparison of five steady-state truncation heuristics, WSC 2000.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

BATCH: Final = 5
FEWEST_BATCHES: Final = 10


class Cut(NamedTuple):
    """How many observations to leave out, and whether the rest is settled."""

    observations: int
    settled: bool


def mser_cut(series: NDArray[np.float64], batch: int = BATCH) -> Cut:
    """Returns the MSER cut of a series of equally spaced observations.

    Args:
        series: shape (observations,), for example transactions per window.
        batch: observations averaged into one; a series with too few batches is taken as it is.

    Returns:
        The cut in observations; ``settled`` is False if it lies at the last place looked at.
    """
    if len(series) < batch * FEWEST_BATCHES:
        batch = 1
    means = _batch_means(series, batch)
    places = len(means) // 2
    if places == 0:
        return Cut(0, settled=False)
    errors = [float(np.var(means[start:])) / (len(means) - start) for start in range(places + 1)]
    best = int(np.argmin(errors))
    return Cut(best * batch, settled=best < places)


def _batch_means(series: NDArray[np.float64], batch: int) -> NDArray[np.float64]:
    whole = len(series) // batch * batch
    means: NDArray[np.float64] = series[:whole].reshape(-1, batch).mean(axis=1)
    return means
