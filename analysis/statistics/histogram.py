"""Values read off an exponential histogram: the bucket of a rank, and where in it the value lies.

Law: a rank falls into the first bucket whose cumulated count reaches it. Where in the bucket a
value lies is interpolated on a log scale, so it is off by the bucket's width at most.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.record.histogram import BUCKETS_PER_DOUBLING, ZERO_BUCKET


def values_within(buckets: NDArray[Any], parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns a value inside each bucket.

    Args:
        buckets: indices of buckets; shape (n,).
        parts: of each bucket's values, the share up to the one asked for; shape (n,).
    """
    inside = buckets - 1 + parts
    return np.where(buckets == ZERO_BUCKET, 0.0, 2.0 ** (inside / BUCKETS_PER_DOUBLING))


def place_of(rank: float, counts: Mapping[int, int]) -> tuple[int, float]:
    """Returns the bucket into which a rank falls, and the share of its values up to there.

    Args:
        rank: of all values, up to their number.
        counts: values by bucket; at least one.
    """
    ordered = sorted(counts)
    up_to = list(accumulate(counts[bucket] for bucket in ordered))
    place = min(bisect_left(up_to, rank), len(ordered) - 1)
    count = counts[ordered[place]]
    return ordered[place], (rank - up_to[place] + count) / count


def value_at(rank: float, counts: Mapping[int, int]) -> float:
    """Returns the value at a rank; arguments as of ``place_of``."""
    bucket, part = place_of(rank, counts)
    return float(values_within(np.array([bucket]), np.array([part]))[0])
