"""Intervals over independent replications, and how many replications a precision takes.

Each replication gives one value; values are independent and, being means over many transactions,
near normal, so Student's t applies. One replication gives no interval: NaN, never zero width.

Source: Law, Simulation Modeling and Analysis, 5th ed., chapters 9.4 (replication/deletion), 9.5.3
(batch means), 9.4.1 (relative precision) and 10.2 (paired t under common random numbers).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

CONFIDENCE: Final = 0.95
BATCHES: Final = 30
"""Of a long series, beside the first, which is left out as warm-up."""
MOST_GROWTH: Final = 2
"""A round brings at most so many times what there is: the variance that asks for it is a guess."""

Array = NDArray[np.float64]


def half_widths(values: Array, confidence: float = CONFIDENCE) -> Array:
    """Returns the half width of the t interval of each row's mean.

    Args:
        values: shape (..., replications); NaN where a replication has no value.
        confidence: two-sided.

    Returns:
        Shape (...); NaN for rows with fewer than two values.
    """
    count = np.sum(~np.isnan(values), axis=-1)
    squares = np.nansum((values - means(values)[..., None]) ** 2, axis=-1)
    return half_widths_of(np.sqrt(squares / np.maximum(count - 1, 1)), count, confidence)


def half_widths_of(
    deviations: Array | float, counts: NDArray[Any], confidence: float = CONFIDENCE
) -> Array:
    """Returns half widths of means whose values have been summed up elsewhere.

    Args:
        deviations: of the sample, between replications; one each, or one for all.
        counts: replications.
        confidence: two-sided.

    Returns:
        The shape of ``counts``; NaN for fewer than two replications.
    """
    quantile = stdtrit(np.maximum(counts - 1, 1.0), 0.5 + confidence / 2)
    half = quantile * deviations / np.sqrt(np.maximum(counts, 1.0))
    return np.where(counts >= 2, half, np.nan)


def means(values: Array) -> Array:
    """Returns each row's mean over the replications that have a value; NaN if none has."""
    count = np.sum(~np.isnan(values), axis=-1)
    return np.where(count > 0, np.nansum(values, axis=-1) / np.maximum(count, 1), np.nan)


def mean_and_ends(values: Array) -> tuple[float, float | None, float | None]:
    """Returns the mean of some values and the ends of its interval, which a single one has not."""
    mean, half = float(means(values)), float(half_widths(values))
    return (mean, None, None) if len(values) < 2 else (mean, mean - half, mean + half)


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


def mean_interval(
    series: Sequence[int], confidence: float = CONFIDENCE
) -> tuple[float, float, float]:
    """Returns the mean of one long, correlated series and the ends of its interval: batch means.

    Args:
        series: in order of time, at least 31 values.
        confidence: two-sided.
    """
    size = len(series) // (BATCHES + 1)
    kept = np.asarray(series[size : size * (BATCHES + 1)], dtype=np.float64)
    batches = kept.reshape(BATCHES, size).mean(axis=1)
    mean, half = float(batches.mean()), float(half_widths(batches, confidence))
    return mean, mean - half, mean + half


def relative_half_widths(values: Array) -> Array:
    """Returns each row's half width over the size of its mean; rows are those of ``half_widths``.

    Returns:
        Shape (...); 0 where all values agree, infinite where they differ around a mean of 0, NaN
        for fewer than two values.
    """
    half, size = half_widths(values), np.abs(means(values))
    relative = half / np.where(size > 0, size, 1.0)
    return np.where((size > 0) | ~(half > 0), relative, np.inf)


def replications_needed(values: Array, target: float) -> int:
    """Returns how many replications there should be in all for a relative half width.

    Args:
        values: shape (replications,), at least two, none NaN.
        target: relative half width, such as 0.05.

    Returns:
        ``len(values)`` if they are precise enough; otherwise what their variance asks for, one more
        at least and ``MOST_GROWTH`` times as many at most.

    Raises:
        ValueError: if fewer than two values are given, which have no variance.
    """
    present = len(values)
    if present < 2:
        raise ValueError("a variance needs two replications")
    if relative_half_widths(values) <= target:
        return present
    counts = np.arange(present + 1, MOST_GROWTH * present + 1, dtype=np.float64)
    half = half_widths_of(values.std(ddof=1), counts)
    enough = half <= target * abs(values.mean())
    return int(counts[np.argmax(enough)] if enough.any() else counts[-1])
