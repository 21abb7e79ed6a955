"""Confidence intervals for means of correlated series: batch means.

Source: Law, Simulation Modeling and Analysis, 5th ed., chapter 9 (batch means).
"""

from collections.abc import Sequence
from statistics import fmean, stdev

from scipy import stats

BATCHES = 30
CONFIDENCE = 0.999


def mean_interval(series: Sequence[int]) -> tuple[float, float]:
    """Returns the ends of the 99.9 % interval of a series' mean; the first batch is warm-up."""
    size = len(series) // (BATCHES + 1)
    means = [fmean(series[i * size : (i + 1) * size]) for i in range(1, BATCHES + 1)]
    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, BATCHES - 1))
    half = quantile * stdev(means) / BATCHES**0.5
    return fmean(means) - half, fmean(means) + half
