"""Crossings of known curves, of noise, and beyond what was tried."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics.crossing import (
    MOST_SLACK,
    NO_SLACK,
    crossing_of,
    falling,
    probability_met,
    slacks,
)

LOADS = np.array([100.0, 200.0, 400.0, 800.0])


def test_slack_is_nothing_at_the_limit_and_one_at_half_of_it() -> None:
    assert slacks(np.array([5.0, 2.5, 10.0]), 5.0).tolist() == [0.0, 1.0, -0.5]


def test_no_value_has_no_slack_and_nothing_has_the_most() -> None:
    assert slacks(np.array([math.nan, 0.0, 1e-9]), 5.0).tolist() == [
        NO_SLACK, MOST_SLACK, MOST_SLACK
    ]  # fmt: skip


def test_a_limit_of_nothing_is_met_by_nothing_alone() -> None:
    assert slacks(np.array([0.0, 0.001]), 0.0).tolist() == [MOST_SLACK, NO_SLACK]


def test_a_queue_crosses_where_theory_says() -> None:
    # M/M/1: latency 1 / (1000 - load) s; at most 4 ms up to a load of 750. Its slack is straight.
    loads = np.array([500.0, 700.0, 800.0, 900.0])
    crossing = crossing_of(loads, slacks(1e3 / (1000.0 - loads), 4.0))
    assert crossing.load == pytest.approx(750.0)
    assert (crossing.low, crossing.high) == (700.0, 800.0)


def test_exactly_at_the_limit_is_met() -> None:
    crossing = crossing_of(LOADS, np.array([1.0, 0.0, -0.5, -0.5]))
    assert (crossing.load, crossing.low, crossing.high) == (200.0, 200.0, 400.0)


def test_an_overloaded_run_counts_as_an_infinite_latency() -> None:
    crossing = crossing_of(LOADS[:2], np.array([0.5, NO_SLACK]))
    assert crossing.load == pytest.approx(100.0 + 100.0 * 0.5 / 1.5)


def test_a_crossing_beyond_what_was_tried_is_infinite() -> None:
    above = crossing_of(LOADS, np.full(4, 0.1))
    below = crossing_of(LOADS, np.full(4, -0.1))
    assert (above.load, above.low, above.high) == (math.inf, 800.0, math.inf)
    assert (below.load, below.low, below.high) == (-math.inf, -math.inf, 100.0)
    assert not above.seen
    assert not below.seen
    assert not crossing_of(np.array([]), np.array([])).seen


def test_a_lucky_run_above_an_unlucky_one_is_taken_with_it() -> None:
    # -0.1 and 0.5 do not fall: both become 0.2, and the crossing lies above them.
    crossing = crossing_of(LOADS, np.array([1.0, -0.1, 0.5, -0.4]))
    assert (crossing.low, crossing.high) == (400.0, 800.0)
    assert crossing.load == pytest.approx(400.0 + 400.0 * 0.2 / 0.6)


curves = st.lists(st.floats(NO_SLACK, MOST_SLACK), min_size=1, max_size=12)


@given(curves)
def test_the_crossing_lies_in_its_bracket(curve: list[float]) -> None:
    loads = np.arange(1.0, len(curve) + 1.0)
    crossing = crossing_of(loads, np.array(curve))
    assert crossing.low <= crossing.load <= crossing.high
    assert crossing.seen == (math.isfinite(crossing.low) and math.isfinite(crossing.high))


@given(curves)
def test_a_falling_curve_falls_and_keeps_its_mean(curve: list[float]) -> None:
    fitted = falling(np.array(curve))
    assert np.all(np.diff(fitted) <= 1e-9)
    assert fitted.mean() == pytest.approx(np.mean(curve), abs=1e-9)


@given(curves, st.floats(0.0, 2.0))
def test_more_slack_never_crosses_earlier(curve: list[float], more: float) -> None:
    loads = np.arange(1.0, len(curve) + 1.0)
    before, after = (crossing_of(loads, np.array(curve) + add).load for add in (0.0, more))
    assert after >= before - 1e-9


def test_noise_averages_out() -> None:
    noise = np.random.Generator(np.random.PCG64(1)).normal(0, 0.1, (200, 9))
    loads = np.linspace(600.0, 900.0, 9)
    slack = slacks(1e3 / (1000.0 - loads), 4.0) + noise
    found = np.array([crossing_of(loads, row).load for row in slack])
    assert found.mean() == pytest.approx(750.0, abs=3.0)


def test_probability_is_that_of_one_more_crossing() -> None:
    crossings = np.array([90.0, 100.0, 110.0, 104.0])
    spread = crossings.std(ddof=1) * math.sqrt(1.25)
    expected = stats.t.sf(95.0, 3, loc=101.0, scale=spread)
    assert probability_met(np.array([95.0]), crossings)[0] == pytest.approx(expected)
    assert probability_met(np.array([101.0]), crossings)[0] == pytest.approx(0.5)


def test_probability_without_spread_is_a_step_and_needs_two() -> None:
    assert probability_met(np.array([9.0, 10.0, 11.0]), np.full(3, 10.0)).tolist() == [1, 1, 0]
    assert math.isnan(probability_met(np.array([9.0]), np.array([10.0]))[0])
