"""Intervals for the mean of one long, correlated series: batch means.

Source: Law, Simulation Modeling and Analysis, 5th ed., chapter 9 (batch means).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from analysis.statistics.intervals import CONFIDENCE, half_widths

BATCHES: Final = 30


def mean_interval(
    series: Sequence[int], confidence: float = CONFIDENCE
) -> tuple[float, float, float]:
    """Returns mean, lower and upper end of its interval; the first batch is left out as warm-up.

    Args:
        series: in order of time, at least 31 values.
        confidence: two-sided.
    """
    size = len(series) // (BATCHES + 1)
    kept = np.asarray(series[size : size * (BATCHES + 1)], dtype=np.float64)
    means = kept.reshape(BATCHES, size).mean(axis=1)
    mean, half = float(means.mean()), float(half_widths(means[None, :], confidence)[0])
    return mean, mean - half, mean + half
