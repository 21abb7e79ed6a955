"""What is said where no verdict fits never denies what the figures show."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.intervals import Array
from analysis.statistics.saturation import Verdict
from analysis.statistics.unjudged import Done, not_judged, unsteady
from tests.analysis.unit_courses import unit_course

CRASH = Done(10**9, "crash_store")


def reason(committed: Array, before: int, done: Done = CRASH, *slow: float) -> str:
    """Returns what is said of transactions of 10 ms, but for slow ones in the last window."""
    total = 0.01 * committed
    longest = np.where(committed > 0, 0.01, 0.0)
    total[-1] += sum(slow)
    longest[-1] = max(longest[-1], *slow, 0.0)
    unit = unit_course(committed, slice(before), total_s=total, longest_s=longest)
    found = not_judged(unit, 10**9, done)
    assert found.verdict is Verdict.NOT_JUDGED
    said = "averages are over what happens at fixed times, from 1 s: "
    assert found.reason.startswith(said)
    return found.reason.removeprefix(said)


def test_too_little_before_it_is_said() -> None:
    early = np.full(10, 2.0)
    assert reason(early, 2) == (
        "too little before it to compare with, 3 windows after the warm-up and 20 commits are "
        "needed; let it happen later"
    )
    by_chance = Done(2 * 10**8, "partition")
    assert reason(early, 2, by_chance).startswith("too little before partition at 0.20 s to ")


def test_a_lower_throughput_that_may_be_chance_is_said() -> None:
    fewer = np.repeat([3.0, 2.0], 8)
    assert reason(fewer, 8) == (
        "throughput 33 % lower from then on, which may be chance after so few commits"
    )


def test_that_nothing_took_longer_is_not_said_if_the_mean_did() -> None:
    held = "throughput did not fall by 20 %"
    longer = f"{held}, nor did transactions take 3 times as long on average, as far as can be told"
    steady = np.full(20, 5.0)
    assert reason(steady, 10) == longer
    more = "; the longest took 500 ms, before 10 ms at most"
    assert reason(steady, 10, CRASH, 0.5) == longer + more
    assert reason(steady, 10, CRASH, 2.0) == (
        f"{held}, but mean latency rose from 10 ms to 50 ms, by so few transactions that it may be "
        "chance; the longest took 2 s, before 10 ms at most"
    )


def test_dips_that_nothing_precedes_are_told_as_such() -> None:
    # Sixteen clients of a cluster in which a store was isolated for 200 ms again and again.
    dips = np.array([133, 183, 80, 0, 111, 183, 99, 0, 92, 181, 117, 0, 73, 180, 181, 180, 183.0])
    partition = Done(240_000_000, "partition")
    found = unsteady(unit_course(dips, slice(1, 2), 3), partition)
    assert found is not None
    assert (found.verdict, found.reason) == (
        Verdict.NOT_JUDGED,
        "in 3 of 14 windows less than half as much was committed as on average, and whether "
        "partition did it cannot be told: too little before the first, at 0.24 s, to compare with, "
        "3 windows after the warm-up and 20 commits are needed; let it happen later",
    )
    assert unsteady(unit_course(dips, slice(0, 3), 3), partition) is None, (
        "there is enough to compare with"
    )


@pytest.mark.parametrize("mean", [0.5, 6.0, 100.0])
def test_chance_is_no_dip(mean: float) -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    courses = rng.poisson(mean, (200, 60)).astype(float)
    assert not any(unsteady(unit_course(each, cut=5), CRASH) for each in courses)
