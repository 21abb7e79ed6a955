"""Relative half widths, and the replications that they ask for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics.intervals import relative_half_widths, replications_needed


def test_the_half_width_is_scipys_over_the_mean() -> None:
    values = np.array([9.0, 11.0, 10.5, 8.0])
    low, high = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    found = relative_half_widths(values[None, :])[0]
    assert found == pytest.approx((high - low) / 2 / values.mean())
    assert relative_half_widths(-values[None, :])[0] == pytest.approx(found)


def test_rows_without_a_mean_or_a_variance() -> None:
    rows = np.array([[0.0, 0.0, 0.0], [-1.0, 0.0, 1.0], [5.0, 5.0, 5.0], [5.0, np.nan, np.nan]])
    found = relative_half_widths(rows)
    assert found[:3].tolist() == [0.0, math.inf, 0.0]
    assert math.isnan(found[3])


def test_enough_is_enough() -> None:
    values = np.array([100.0, 101.0, 99.0, 100.0])
    assert replications_needed(values, 0.05) == 4


def test_the_number_is_the_least_that_would_do_with_this_variance() -> None:
    values = np.array([95.0, 105.0] * 5)
    target = 0.03
    needed = replications_needed(values, target)
    assert 10 < needed < 20

    def half(count: int) -> float:
        quantile = float(stats.t.ppf(0.975, count - 1))
        return quantile * float(values.std(ddof=1)) / math.sqrt(count) / 100

    assert half(needed) <= target < half(needed - 1)


def test_a_round_doubles_at_most() -> None:
    assert replications_needed(np.array([1.0, 100.0, 3.0]), 0.01) == 6
    assert replications_needed(np.array([-1.0, 1.0]), 0.5) == 4


def test_one_value_has_no_variance() -> None:
    with pytest.raises(ValueError, match="two replications"):
        replications_needed(np.array([1.0]), 0.05)


@given(
    st.lists(st.floats(0.1, 1000), min_size=2, max_size=40),
    st.floats(0.001, 0.5),
)
def test_more_are_asked_for_exactly_while_the_target_is_missed(
    drawn: list[float], target: float
) -> None:
    values = np.array(drawn)
    needed = replications_needed(values, target)
    if relative_half_widths(values[None, :])[0] <= target:
        assert needed == len(values)
    else:
        assert len(values) < needed <= 2 * len(values)
