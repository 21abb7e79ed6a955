"""Units: exact rounding up."""

from hypothesis import given
from hypothesis import strategies as st

from sim.units import ceil_div


@given(st.integers(0, 10**18), st.integers(1, 10**9))
def test_ceil_div_is_the_least_number_of_parts_that_hold_all(a: int, b: int) -> None:
    parts = ceil_div(a, b)
    assert parts * b >= a > (parts - 1) * b
