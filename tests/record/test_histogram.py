"""Buckets: boundaries, order, error bound."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sim.record.histogram import (
    BUCKETS_PER_DOUBLING,
    RELATIVE_ERROR,
    UPPER_BOUNDS,
    ZERO_BUCKET,
    bucket_bounds,
    bucket_of,
)

values = st.integers(min_value=1, max_value=UPPER_BOUNDS[-1])


def test_powers_of_two_close_their_bucket() -> None:
    for doubling in range(60):
        assert bucket_of(2**doubling) == doubling * BUCKETS_PER_DOUBLING
        assert bucket_of(2**doubling + 1) > doubling * BUCKETS_PER_DOUBLING


def test_zero_has_a_bucket_of_its_own() -> None:
    assert bucket_of(0) == ZERO_BUCKET
    assert bucket_bounds(ZERO_BUCKET) == (0.0, 0.0)


@given(values)
def test_a_value_is_above_the_lower_and_at_most_the_upper_bound(value: int) -> None:
    # value <= 2**(i/64) and value > 2**((i-1)/64), as integers: no rounding in the oracle.
    index = bucket_of(value)
    assert value**BUCKETS_PER_DOUBLING <= 2**index
    assert index == 0 or value**BUCKETS_PER_DOUBLING > 2 ** (index - 1)


@given(values)
def test_the_geometric_middle_is_within_the_stated_error(value: int) -> None:
    lower, upper = bucket_bounds(bucket_of(value))
    middle = (lower * upper) ** 0.5
    assert abs(Fraction(middle) / value - 1) <= RELATIVE_ERROR * 1.000001


@given(values, values)
def test_order_is_kept(left: int, right: int) -> None:
    assert (bucket_of(left) <= bucket_of(right)) or left > right
