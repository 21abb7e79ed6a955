"""Intervals against values from tables and from scipy, and the replications that they ask for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics.intervals import (
    half_widths,
    means,
    paired_ratios,
    relative_half_widths,
    replications_needed,
)


def rows(*values: list[float]) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def test_half_width_of_five_replications() -> None:
    # t(4, 0.975) = 2.776445 (any table), s = sqrt(2.5), n = 5.
    assert half_widths(rows([1, 2, 3, 4, 5]))[0] == pytest.approx(2.776445 * math.sqrt(2.5 / 5))


def test_half_widths_are_those_of_scipy() -> None:
    values = np.random.Generator(np.random.PCG64(1)).normal(10, 3, (4, 7))
    for row, half in zip(values, half_widths(values, 0.9), strict=True):
        low, high = stats.t.interval(0.9, 6, row.mean(), stats.sem(row))
        assert half == pytest.approx((high - low) / 2)


def test_one_replication_has_no_interval() -> None:
    assert math.isnan(half_widths(rows([5.0]))[0])
    assert means(rows([5.0]))[0] == 5.0


def test_missing_values_do_not_count() -> None:
    with_gap = rows([1, math.nan, 3])
    assert means(with_gap)[0] == 2
    assert half_widths(with_gap)[0] == pytest.approx(half_widths(rows([1, 3]))[0])
    assert math.isnan(means(rows([math.nan, math.nan]))[0])


def test_a_pair_that_shares_its_draws_needs_no_interval() -> None:
    baseline = rows([1.0, 5.0, 20.0])
    ratio, low, high = paired_ratios(baseline * 0.5, baseline)
    assert (ratio[0], low[0], high[0]) == pytest.approx((0.5, 0.5, 0.5))


def test_paired_ratio_is_the_t_interval_of_logarithms() -> None:
    values, baseline = rows([2, 3, 4.4]), rows([4, 5, 8])
    logs = np.log(values / baseline)[0]
    expected = stats.t.interval(0.95, 2, logs.mean(), stats.sem(logs))
    ratio, low, high = paired_ratios(values, baseline)
    assert ratio[0] == pytest.approx(math.exp(logs.mean()))
    assert (low[0], high[0]) == pytest.approx(tuple(np.exp(expected)))


def test_pairing_removes_what_replications_share() -> None:
    draws = np.random.Generator(np.random.PCG64(2))
    shared = draws.lognormal(0, 0.5, (1, 10))
    baseline = shared * draws.lognormal(0, 0.01, (1, 10))
    _, low, high = paired_ratios(shared * 0.8, baseline)
    assert high[0] - low[0] < 0.03 < half_widths(baseline)[0]


def test_zero_against_something_is_a_ratio_without_an_interval() -> None:
    ratio, low, high = paired_ratios(rows([0, 0]), rows([3, 5]))
    assert ratio[0] == 0
    assert math.isnan(low[0])
    assert math.isnan(high[0])
    assert math.isnan(paired_ratios(rows([0, 0]), rows([0, 0]))[0][0])


def test_pairs_without_a_zero_do_not_speak_for_those_with_one() -> None:
    ratio, low, _ = paired_ratios(rows([3, 2, 4, 1, 10, 2]), rows([0, 0, 0, 0, 5, 1]))
    assert ratio[0] == pytest.approx(22 / 6)
    assert math.isnan(low[0])
    gap, low, _ = paired_ratios(rows([3, 2, math.nan]), rows([1, 1, 1]))
    assert gap[0] == pytest.approx(math.sqrt(6))
    assert low[0] < gap[0]


def test_intervals_cover_what_they_promise() -> None:
    # 4,000 studies of six replications: 95 % +- 1 % of the intervals hold the true mean.
    draws = np.random.Generator(np.random.PCG64(3)).normal(7, 2, (4000, 6))
    covered = np.abs(means(draws) - 7) <= half_widths(draws)
    assert covered.mean() == pytest.approx(0.95, abs=0.01)


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
