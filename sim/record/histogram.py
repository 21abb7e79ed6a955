"""Exponential histogram buckets: Prometheus native histograms, schema 6.

Bucket ``i`` holds the integers in ``(base**(i - 1), base**i]`` with ``base = 2**(2**-6)``, so two
histograms merge by adding counts, exactly, in any order. Boundaries are whole numbers found by
integer roots, so a value falls into the same bucket on every machine, which a floating logarithm
near a power of two does not guarantee.

Source: Prometheus, native histogram specification, "Standard exponential schemas".
"""

from __future__ import annotations

from bisect import bisect_left
from math import isqrt
from typing import Final

SCHEMA: Final = 6
BUCKETS_PER_DOUBLING: Final = 2**SCHEMA
BASE: Final = 2.0 ** (1.0 / BUCKETS_PER_DOUBLING)
RELATIVE_ERROR: Final = BASE**0.5 - 1.0
"""How far a bucket's geometric middle can be from any value in it: 0.54 %."""

ZERO_BUCKET: Final = -1
"""Holds the value 0, which no exponential bucket can."""

_DOUBLINGS: Final = 62


def _integer_bound(index: int) -> int:
    """Returns ``floor(2**(index / 64))``: nested integer square roots are exact."""
    bound = 1 << index
    for _ in range(SCHEMA):
        bound = isqrt(bound)
    return bound


UPPER_BOUNDS: Final[list[int]] = [
    _integer_bound(index) for index in range(_DOUBLINGS * BUCKETS_PER_DOUBLING + 1)
]
"""Largest values of the buckets: the last is 2**62, which is 146 years in nanoseconds."""


def bucket_of(value: int) -> int:
    """Returns the index of the bucket that holds ``value`` (an integer >= 0, at most 2**62).

    Values are whole numbers, so buckets between 1 and 64 that hold no integer stay empty.
    """
    if value <= 0:
        return ZERO_BUCKET
    return bisect_left(UPPER_BOUNDS, value)


def bucket_bounds(index: int) -> tuple[float, float]:
    """Returns ``(lower, upper)`` of a bucket; the lower bound is outside, the upper one inside."""
    if index <= ZERO_BUCKET:
        return (0.0, 0.0)
    return (BASE ** (index - 1), BASE**index)
