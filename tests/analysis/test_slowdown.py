"""Transactions that take far longer than before, from made-up courses."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from analysis.statistics.fall import Fall, fall_of_throughput
from analysis.statistics.intervals import Array
from analysis.statistics.outage import outage
from analysis.statistics.saturation import UnitCourse, Verdict
from analysis.statistics.slowdown import (
    Slowdown,
    Stragglers,
    slowdown_since,
    stragglers_since,
    straggles_from_s,
)
from tests.analysis.test_outage import NOTHING_LEFT, course
from tests.analysis.unit_courses import WINDOW_S, unit_course

BEFORE = slice(5, 40)


def lasting(
    seed: int, per_window: float, *parts: tuple[int, float], before: slice = BEFORE
) -> UnitCourse:
    """Returns the course of Poisson arrivals: so many windows with that mean stay, in windows."""
    rng = np.random.Generator(np.random.PCG64(seed))
    windows = sum(length for length, _ in parts)
    means = np.repeat([mean for _, mean in parts], [length for length, _ in parts])
    arrivals = rng.uniform(0, windows, rng.poisson(per_window * windows))
    stays = rng.exponential(means[arrivals.astype(int)])
    return by_window(arrivals + stays, stays, windows, before)


def by_window(ends: Array, stays: Array, windows: int, before: slice = BEFORE) -> UnitCourse:
    """Returns commits by window and how long they took, from ends and stays in windows."""
    inside = ends < windows
    ends, stays = ends[inside], stays[inside]
    window = ends.astype(int)
    longest = np.zeros(windows)
    np.maximum.at(longest, window, stays)
    total = np.bincount(window, stays, windows).astype(np.float64)
    committed = np.bincount(window, minlength=windows).astype(float)
    return unit_course(
        committed, before, before.start, total_s=WINDOW_S * total, longest_s=WINDOW_S * longest
    )


@pytest.mark.parametrize("per_window", [6.0, 30.0])
@pytest.mark.parametrize("seed", range(5))
def test_a_slowdown_to_the_end_is_found(per_window: float, seed: int) -> None:
    slower = lasting(seed, per_window, (40, 0.1), (50, 1.0))
    slowdown = slowdown_since(slower)
    assert slowdown is not None
    assert not slowdown.came_back
    found = outage(slower, NOTHING_LEFT, fall_of_throughput(slower), slowdown)
    assert found is not None
    assert found.verdict is Verdict.DEGRADED
    assert "latency rose" in found.reason


def test_a_slowdown_that_came_back_is_told_from_when_until_when() -> None:
    slowdown = slowdown_since(lasting(1, 30.0, (40, 0.1), (20, 1.0), (40, 0.1)))
    assert slowdown is not None
    assert slowdown.words == "latency rose from 9.85 ms to 92.2 ms between 4.10 s and 6.30 s"


def test_a_slowdown_is_not_told_beside_a_fall_that_it_comes_from() -> None:
    fall = Fall(4.0, 6.0, 300.0, 20.0, came_back=True)
    slowdown = Slowdown(4.1, 6.5, 0.01, 0.9, came_back=True)
    found = outage(unit_course(course(1, (40, 30.0)), cut=5), NOTHING_LEFT, fall, slowdown)
    assert found is not None
    assert found.reason == fall.words


def test_chance_is_no_slowdown() -> None:
    found = [
        slowdown_since(
            lasting(seed, per_window, (25 + before + after, stay), before=slice(25, 25 + before))
        )
        for per_window in (0.3, 6.0, 30.0)
        for stay in (0.1, 1.0, 5.0)
        for before, after in ((5, 12), (40, 200))
        for seed in range(50)
    ]
    assert sum(each is not None for each in found) <= 3


@pytest.mark.parametrize("seed", range(5))
def test_what_waits_for_something_and_commits_at_once_was_slow(seed: int) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    arrivals = rng.uniform(0, 100, 600)
    # A part of a cluster stands still from 50 to 60; most transactions are for it.
    stuck = (arrivals > 50) & (arrivals < 60) & (rng.uniform(size=600) < 0.7)
    ends = np.where(stuck, 60.05, arrivals + 0.02)
    slowdown = slowdown_since(by_window(ends, ends - arrivals, 100))
    assert slowdown is not None
    assert slowdown.came_back
    assert slowdown.from_s == pytest.approx(5.0, abs=0.1), "when the first began to wait"
    assert slowdown.until_s == pytest.approx(6.1)


def test_one_long_wait_is_no_slowdown() -> None:
    quick = lasting(1, 30.0, (100, 0.1))
    quick.total_s[60] += 30.0
    quick.longest_s[60] += 30.0
    assert slowdown_since(quick) is None


def stragglers(ends: Array, stays: Array, windows: int, before: slice) -> Stragglers | None:
    """Returns the stragglers among transactions that end and stay so long, in windows."""
    unit = by_window(ends, stays, windows, before)
    far = ends[(stays * WINDOW_S > straggles_from_s(unit)) & (ends < windows)]
    counts = np.bincount(far.astype(int), minlength=windows).astype(float)
    return stragglers_since(unit, counts)


def some_wait(seed: int) -> tuple[Array, Array]:
    """Returns ends and stays of 3 arrivals a window of a cluster that loses two parts at 40.

    One comes back at 160, the other at 225, and what waited for it ends in the next 5 windows.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    arrivals = rng.uniform(0, 450, 1350)
    stays = rng.exponential(0.08, 1350)
    back = rng.choice([0.0, 160.0, 225.0], 1350, p=[0.7, 0.15, 0.15])
    stuck = (arrivals > 40) & (arrivals < back)
    stays[stuck] = (back + rng.uniform(0, 5, 1350) - arrivals)[stuck]
    return arrivals + stays, stays


@pytest.mark.parametrize("seed", range(5))
def test_what_waits_among_others_that_do_not_is_found(seed: int) -> None:
    ends, stays = some_wait(seed)
    assert slowdown_since(by_window(ends, stays, 450)) is None
    found = stragglers(ends, stays, 450, BEFORE)
    assert found is not None
    assert found.from_s == pytest.approx(4.0)
    assert found.until_s == pytest.approx(23.0, abs=0.2)
    judged = outage(by_window(ends, stays, 450), NOTHING_LEFT, None, found)
    assert judged is not None
    assert judged.verdict is Verdict.DEGRADED


def test_how_many_straggled_is_told() -> None:
    found = stragglers(*some_wait(1), 450, BEFORE)
    assert found is not None
    assert found.words == (
        "144 of 1,239 transactions committed since 4.00 s took far longer than any before, up to "
        "18.8 s instead of 48.7 ms, the last until 23.00 s"
    )


def test_what_waits_for_long_was_slow_since_it_began_to() -> None:
    ends, stays = some_wait(1)
    late = (ends > 225.0) & (ends < 230.0) & (stays > 1.0)
    one = late | (stays < 1.0)
    found = slowdown_since(by_window(ends[one], stays[one], 450))
    assert found is not None
    assert (found.from_s, found.until_s) == pytest.approx((4.0, 23.0), abs=0.5)


def test_few_that_cost_much_count_and_fewer_do_not() -> None:
    arrivals = np.arange(0.0, 400.0, 0.25)
    for count, seen in ((4, False), (8, True)):
        stays = np.full(len(arrivals), 0.1)
        stays[1000 : 1000 + count] = 80.0
        assert (stragglers(arrivals + stays, stays, 400, BEFORE) is not None) is seen


def test_stragglers_are_not_told_beside_a_fall_that_they_come_from() -> None:
    fall = Fall(4.0, 6.0, 300.0, 20.0, came_back=True)
    for until_s, told in ((6.5, False), (9.0, True)):
        few = Stragglers(30, 900, 4.0, until_s, 2.0, 0.01)
        found = outage(unit_course(course(1, (40, 30.0)), cut=5), NOTHING_LEFT, fall, few)
        assert found is not None
        assert ("far longer" in found.reason) is told


def drawn(tail: str, rng: np.random.Generator, size: int) -> Array:
    """Returns values with such a tail."""
    if tail == "log-normal":
        return rng.lognormal(-2.0, 2.0, size)
    return rng.exponential(1.0, size) if tail == "exponential" else rng.pareto(1.5, size)


@pytest.mark.parametrize("tail", ["exponential", "log-normal", "Pareto"])
def test_chance_makes_no_stragglers(tail: str) -> None:
    found = []
    for per_window, stay, (before, after), seed in product(
        (0.6, 6.0, 30.0), (0.1, 1.0, 5.0), ((5, 12), (40, 200)), range(50)
    ):
        rng = np.random.Generator(np.random.PCG64(seed))
        windows = 25 + before + after
        ends = rng.uniform(0, windows, rng.poisson(per_window * windows))
        stays = stay * drawn(tail, rng, len(ends))
        found.append(stragglers(ends, stays, windows, slice(25, 25 + before)))
    assert sum(each is not None for each in found) <= 3
