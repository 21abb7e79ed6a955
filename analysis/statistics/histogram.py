"""Values read off an exponential histogram: the bucket of a rank, and where in it the value lies.

Law: a rank falls into the first bucket whose cumulated count reaches it. The values of a bucket are
taken to divide it, on a log scale, into equal parts, each in the middle of its own: off by less
than the width of the bucket (a single value by half of it), and by nothing on average.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.record.histogram import BUCKETS_PER_DOUBLING, ZERO_BUCKET


def values_within(buckets: NDArray[Any], parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns a value inside each bucket.

    Args:
        buckets: indices of buckets; shape (n,).
        parts: where in each bucket, 0 at its lower end and 1 at its upper one; shape (n,).
    """
    inside = buckets - 1 + parts
    return np.where(buckets == ZERO_BUCKET, 0.0, 2.0 ** (inside / BUCKETS_PER_DOUBLING))


def place_of(rank: float, counts: Mapping[int, int]) -> tuple[int, float]:
    """Returns the bucket into which a rank falls, and where in it that value lies, in (0, 1).

    Args:
        rank: of all values, up to their number.
        counts: values by bucket; at least one.
    """
    ordered = sorted(counts)
    up_to = list(accumulate(counts[bucket] for bucket in ordered))
    place = min(bisect_left(up_to, rank), len(ordered) - 1)
    count = counts[ordered[place]]
    return ordered[place], (ceil(rank) - up_to[place] + count - 0.5) / count


def value_at(rank: float, counts: Mapping[int, int]) -> float:
    """Returns the value at a rank; arguments as of ``place_of``."""
    bucket, part = place_of(rank, counts)
    return float(values_within(np.array([bucket]), np.array([part]))[0])
