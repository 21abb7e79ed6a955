"""The value at a place inside a histogram's bucket: interpolated on a log scale.

It is within the bucket's width of the exact one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sim.record.histogram import BUCKETS_PER_DOUBLING, ZERO_BUCKET


def values_within(buckets: NDArray[np.int64], parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns a value for each bucket.

    Args:
        buckets: indices of buckets; shape (n,).
        parts: of each bucket's values, the share up to the one asked for; shape (n,).
    """
    inside = buckets - 1 + parts
    return np.where(buckets == ZERO_BUCKET, 0.0, 2.0 ** (inside / BUCKETS_PER_DOUBLING))
