"""Intervals over independent replications.

Each replication gives one value; values are independent and, being means over many transactions,
near normal, so Student's t applies. One replication gives no interval: NaN, never zero width.

Source: Law, Simulation Modeling and Analysis, 5th ed., chapters 9.4 (replication/deletion) and 10.2
(paired t under common random numbers).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

CONFIDENCE: Final = 0.95

Array = NDArray[np.float64]


def half_widths(values: Array, confidence: float = CONFIDENCE) -> Array:
    """Returns the half width of the t interval of each row's mean.

    Args:
        values: shape (rows, replications); NaN where a replication has no value.
        confidence: two-sided.

    Returns:
        Shape (rows,); NaN for rows with fewer than two values.
    """
    count = np.sum(~np.isnan(values), axis=1).astype(np.float64)
    enough = count >= 2
    freedom = np.where(enough, count - 1, 1.0)
    filled = np.where(np.isnan(values), 0.0, values)
    mean = filled.sum(axis=1) / np.maximum(count, 1)
    squares = np.where(np.isnan(values), 0.0, (values - mean[:, None]) ** 2).sum(axis=1)
    return half_widths_of(np.sqrt(squares / freedom), count, confidence)


def half_widths_of(
    deviations: Array | float, counts: Array, confidence: float = CONFIDENCE
) -> Array:
    """Returns half widths of means whose values have been summed up elsewhere.

    Args:
        deviations: of the sample, between replications; one each, or one for all.
        counts: replications.
        confidence: two-sided.

    Returns:
        The shape of ``counts``; NaN for fewer than two replications.
    """
    counts = np.asarray(counts, dtype=np.float64)
    quantile = stdtrit(np.maximum(counts - 1, 1.0), 0.5 + confidence / 2)
    half = quantile * deviations / np.sqrt(np.maximum(counts, 1.0))
    return np.where(counts >= 2, half, np.nan)


def means(values: Array) -> Array:
    """Returns each row's mean over the replications that have a value; NaN if none has."""
    count = np.sum(~np.isnan(values), axis=1)
    total = np.where(np.isnan(values), 0.0, values).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def mean_and_ends(values: Array) -> tuple[float, float | None, float | None]:
    """Returns the mean of some values and the ends of its interval, which a single one has not."""
    table = values[None, :]
    mean = float(means(table)[0])
    if len(values) < 2:
        return mean, None, None
    half = float(half_widths(table)[0])
    return mean, mean - half, mean + half


def paired_ratios(values: Array, baselines: Array) -> tuple[Array, Array, Array]:
    """Returns ratio, low and high of each row's comparison; both of shape (rows, replications).

    A pair is the same replication of both: it shares its random draws, so what differs is the
    variant. The ratio is the geometric mean of the pairs' ratios; its interval is a t interval of
    their logarithms. A pair that lacks one of the two does not count. If a value or a baseline is 0
    in any pair, the ratio is that of the means, without an interval: the other pairs would be those
    in which something happened.
    """
    logs = log_ratios(values, baselines)
    lost = has_zeros(values, baselines)
    middle, half = means(logs), np.where(lost, np.nan, half_widths(logs))
    of_means = _ratio_of_means(values, baselines)
    ratio = np.where(lost | np.isnan(middle), of_means, np.exp(middle))
    return ratio, np.exp(middle - half), np.exp(middle + half)


def has_zeros(values: Array, baselines: Array) -> NDArray[np.bool_]:
    """Returns which rows have a pair whose value or baseline is not positive; shape (rows,)."""
    return np.asarray(((values <= 0) | (baselines <= 0)).any(axis=-1))


def log_ratios(values: Array, baselines: Array) -> Array:
    """Returns the logarithm of each pair's ratio; NaN where one of the two is not positive."""
    positive = (values > 0) & (baselines > 0)
    logs = np.log(np.where(positive, values, 1.0) / np.where(positive, baselines, 1.0))
    return np.where(positive, logs, np.nan)


def _ratio_of_means(values: Array, baselines: Array) -> Array:
    below = means(baselines)
    usable = below > 0
    return np.where(usable, means(values) / np.where(usable, below, 1.0), np.nan)
