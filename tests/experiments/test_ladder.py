"""Rungs of the ladder, and which of them a search tries."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.experiments.ladder import Trail, ladder_of, next_rung, pilot_rungs
from analysis.metrics.catalogue import MetricKey
from analysis.statistics.crossing import NO_SLACK
from analysis.study.sections import Capacity, Objective


def capacity(
    low: float, high: float, tolerance: float = 0.05,
    load: Literal["workload.threads", "workload.rate"] = "workload.rate",
) -> Capacity:  # fmt: skip
    slo = (Objective(MetricKey("lock_latency_ms", stat="p99"), 5.0),)
    return Capacity(slo=slo, load=load, between=(low, high), tolerance=tolerance)


def test_rungs_are_a_tolerance_apart_and_end_where_the_search_does() -> None:
    ladder = ladder_of(capacity(200.0, 4000.0))
    assert (ladder.texts[0], ladder.texts[-1]) == ("200/s", "4000/s")
    steps = [high / low for low, high in zip(ladder.loads, ladder.loads[1:], strict=False)]
    assert all(1.02 < step < 1.08 for step in steps)


def test_rungs_are_the_same_for_another_search() -> None:
    narrow, wide = ladder_of(capacity(300.0, 900.0)), ladder_of(capacity(100.0, 4000.0))
    assert set(narrow.texts[1:-1]) < set(wide.texts)


def test_threads_are_whole_and_never_twice() -> None:
    ladder = ladder_of(capacity(1, 40, load="workload.threads"))
    assert ladder.texts[:6] == (1, 2, 3, 4, 5, 6)
    assert len(set(ladder.texts)) == len(ladder)
    assert list(ladder.loads) == sorted(ladder.loads)


def walk(truth: float, rungs: int, pilot_truth: float | None = None) -> Trail:
    """Searches a straight slack that crosses at ``truth``; further replications follow a pilot."""
    trail = Trail({})
    for _ in range(rungs + 1):
        if pilot_truth is None:
            tries = pilot_rungs(trail, rungs)
        else:
            tries = next_rung(trail, rungs, pilot_truth, 0.05)
        if not tries:
            return trail
        assert not {*tries} & {*trail.slack}
        found = {rung: max(0.05 * (truth - rung), NO_SLACK) for rung in tries}
        trail = replace(trail, slack={**trail.slack, **found})
    raise AssertionError("the search does not end")


@given(st.integers(2, 80), st.floats(-0.2, 1.2), st.floats(-0.2, 1.2))
def test_a_search_ends_between_two_neighbours_or_at_an_end(
    rungs: int, share: float, other: float
) -> None:
    truth = share * (rungs - 1) + 0.01
    for trail in (walk(truth, rungs), walk(truth, rungs, other * (rungs - 1))):
        low, high = trail.bracket(rungs)
        assert high == low + 1
        assert low == min(max(math.floor(truth), -1), rungs - 1)


def test_the_first_replication_takes_few_runs() -> None:
    assert max(len(walk(truth + 0.3, 61).slack) for truth in range(61)) <= 9


def test_a_further_replication_takes_two_runs_near_the_first_one() -> None:
    assert len(walk(33.4, 61, 33.3).slack) == 2
    assert len(walk(36.4, 61, 33.3).slack) <= 4


def test_the_upper_end_is_tried_only_if_all_below_is_met() -> None:
    assert 60 not in walk(20.5, 61).slack
    assert 60 in walk(99.0, 61).slack


def test_a_rung_that_failed_is_gone_round() -> None:
    trail = Trail({10: 0.2, 13: -0.2}, failed=frozenset({12}))
    assert next_rung(trail, 61, 11.5, 0.1) == [11]
    assert next_rung(replace(trail, slack={10: 0.2, 11: 0.1, 13: -0.2}), 61, 11.5, 0.1) == []


def test_what_only_did_not_settle_is_asked_again_above() -> None:
    trail = Trail({10: 0.5, 11: NO_SLACK}, unsettled=frozenset({11}))
    assert next_rung(trail, 61, 10.5, 0.1) == [12]
    luck = Trail({10: 3.0, 11: NO_SLACK, 12: 2.0}, unsettled=frozenset({11}))
    assert luck.bracket(61) == (12, 61)
    assert pilot_rungs(luck, 61)
    overload = Trail({10: 0.5, 11: NO_SLACK, 12: NO_SLACK}, unsettled=frozenset({11, 12}))
    assert next_rung(overload, 61, 10.5, 0.1) == []


def test_a_pilot_that_learns_nothing_from_an_end_cuts_in_three() -> None:
    assert pilot_rungs(Trail({}), 60) == [20, 40]
    assert pilot_rungs(Trail({20: 5.0, 40: NO_SLACK}), 60) == [27, 33]
    assert 36 in pilot_rungs(Trail({20: 0.8, 40: -0.2}), 60)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_two_failures_are_enough(count: int) -> None:
    assert Trail({}, failed=frozenset(range(count))).given_up == (count == 2)
