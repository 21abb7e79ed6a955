"""How precise a mean over replications is, and how many replications a precision takes.

Relative precision is the half width of the 95 % t interval over the mean. The number wanted is read
off the present variance, which is itself a guess: so a round at most doubles what there is, and the
next one looks again.

Source: Law, Simulation Modeling and Analysis, 5th ed., 9.4.1.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from analysis.statistics.intervals import Array, half_widths, half_widths_of, means

MOST_GROWTH: Final = 2
"""A round brings at most so many times what there is."""


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
