"""Intervals against values from tables and from scipy, and their coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis.statistics.intervals import half_widths, means, paired_ratios


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
