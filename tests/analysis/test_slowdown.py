"""Transactions that take far longer than before, from made-up courses."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.fall import Fall, fall_of_throughput
from analysis.statistics.intervals import Array
from analysis.statistics.outage import outage
from analysis.statistics.saturation import Verdict
from analysis.statistics.slowdown import Slowdown, Stays, slowdown_since
from tests.analysis.test_outage import NOTHING_LEFT, WINDOW_S, course


def lasting(seed: int, per_window: float, *parts: tuple[int, float]) -> tuple[Array, Stays]:
    """Returns the course of Poisson arrivals: so many windows with that mean stay, in windows."""
    rng = np.random.Generator(np.random.PCG64(seed))
    windows = sum(length for length, _ in parts)
    means = np.repeat([mean for _, mean in parts], [length for length, _ in parts])
    arrivals = rng.uniform(0, windows, rng.poisson(per_window * windows))
    stays = rng.exponential(means[arrivals.astype(int)])
    return by_window(arrivals + stays, stays, windows)


def by_window(ends: Array, stays: Array, windows: int) -> tuple[Array, Stays]:
    """Returns commits by window and how long they took, from ends and stays in windows."""
    inside = ends < windows
    ends, stays = ends[inside], stays[inside]
    window = ends.astype(int)
    longest = np.zeros(windows)
    np.maximum.at(longest, window, stays)
    total = np.bincount(window, stays, windows).astype(np.float64)
    committed = np.bincount(window, minlength=windows).astype(float)
    return committed, Stays(WINDOW_S * total, WINDOW_S * longest)


@pytest.mark.parametrize("per_window", [6.0, 30.0])
@pytest.mark.parametrize("seed", range(5))
def test_a_slowdown_to_the_end_is_found(per_window: float, seed: int) -> None:
    committed, stays = lasting(seed, per_window, (40, 0.1), (50, 1.0))
    slowdown = slowdown_since(committed, stays, slice(5, 40), 5, WINDOW_S)
    assert slowdown is not None
    assert not slowdown.came_back
    fall = fall_of_throughput(committed, slice(5, 40), 5, WINDOW_S)
    found = outage(committed, NOTHING_LEFT, fall, 5, slowdown)
    assert found is not None
    assert found.verdict is Verdict.DEGRADED
    assert "latency rose" in found.reason


def test_a_slowdown_that_came_back_is_told_from_when_until_when() -> None:
    committed, stays = lasting(1, 30.0, (40, 0.1), (20, 1.0), (40, 0.1))
    slowdown = slowdown_since(committed, stays, slice(5, 40), 5, WINDOW_S)
    assert slowdown is not None
    assert slowdown.words == "latency rose from 9.85 ms to 92.2 ms between 4.10 s and 6.30 s"


def test_a_slowdown_is_not_told_beside_a_fall_that_it_comes_from() -> None:
    fall = Fall(4.0, 6.0, 300.0, 20.0, came_back=True)
    slowdown = Slowdown(4.1, 6.5, 0.01, 0.9, came_back=True)
    found = outage(course(1, (40, 30.0)), NOTHING_LEFT, fall, 5, slowdown)
    assert found is not None
    assert found.reason == fall.words


def test_chance_is_no_slowdown() -> None:
    found = [
        slowdown_since(
            *lasting(seed, per_window, (25 + before + after, stay)),
            slice(25, 25 + before),
            25,
            WINDOW_S,
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
    committed, stays = by_window(ends, ends - arrivals, 100)
    slowdown = slowdown_since(committed, stays, slice(5, 40), 5, WINDOW_S)
    assert slowdown is not None
    assert slowdown.came_back
    assert slowdown.from_s == pytest.approx(5.0, abs=0.1), "when the first began to wait"
    assert slowdown.until_s == pytest.approx(6.1)


def test_one_long_wait_is_no_slowdown() -> None:
    committed, stays = lasting(1, 30.0, (100, 0.1))
    stays.total_s[60] += 30.0
    stays.longest_s[60] += 30.0
    assert slowdown_since(committed, stays, slice(5, 40), 5, WINDOW_S) is None
