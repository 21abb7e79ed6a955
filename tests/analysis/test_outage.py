"""Falls of throughput and transactions without an end, from made-up courses."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.fall import fall_of_throughput, stop_of_work
from analysis.statistics.intervals import Array
from analysis.statistics.outage import Unfinished, missing, outage, piled_up_since
from analysis.statistics.saturation import UnitCourse, Verdict
from tests.analysis.unit_courses import WINDOW_S, unit_course

NOTHING_LEFT = Unfinished(count=0, oldest_s=0.0, overdue=0, longest_s=0.05, ages_s=0.0)
STUCK = Unfinished(count=40, oldest_s=3.0, overdue=38, longest_s=0.05, ages_s=0.0)


def course(seed: int, *parts: tuple[int, float]) -> Array:
    """Returns commits by window: so many windows with such a mean, part after part."""
    rng = np.random.Generator(np.random.PCG64(seed))
    return np.concatenate([rng.poisson(mean, windows) for windows, mean in parts]).astype(float)


@pytest.mark.parametrize("mean", [6.0, 100.0])
@pytest.mark.parametrize("share", [0.0, 0.33, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_a_fall_to_the_end_is_found(mean: float, share: float, seed: int) -> None:
    committed = course(seed, (40, mean), (50, share * mean))
    fall = fall_of_throughput(unit_course(committed, slice(5, 40), 5))
    assert fall is not None
    assert not fall.came_back
    assert fall.from_s == pytest.approx(4.0, abs=0.6)
    assert fall.during_per_s == pytest.approx(10 * share * mean, rel=0.35, abs=5.0)


def test_a_fall_that_came_back_is_told_from_when_until_when() -> None:
    committed = course(1, (40, 60.0), (20, 0.0), (40, 60.0))
    fall = fall_of_throughput(unit_course(committed, slice(5, 40), 5))
    assert fall is not None
    assert fall.came_back
    assert fall.words == "throughput fell from 606/s to 0/s between 4.00 s and 6.00 s"


def test_one_that_came_back_shortly_before_the_end_came_back() -> None:
    committed = course(1, (20, 48.0), (8, 10.0), (3, 48.0))
    fall = fall_of_throughput(unit_course(committed, slice(5, 20), 5))
    assert fall is not None
    assert fall.came_back
    assert fall.until_s == pytest.approx(2.8)


@pytest.mark.parametrize("seed", range(20))
def test_an_earlier_deficit_does_not_date_a_fall_back(seed: int) -> None:
    committed = course(seed, (40, 10.0), (40, 9.3), (5, 0.0), (8, 10.0))
    fall = fall_of_throughput(unit_course(committed, slice(3, 40), 3))
    assert fall is not None
    assert fall.from_s == pytest.approx(8.0, abs=0.2)


def test_a_stop_is_dated_to_its_windows_whatever_came_before() -> None:
    committed = np.repeat([93.0, 89.0, 0.0, 95.0], [10, 50, 5, 8])
    fall = fall_of_throughput(unit_course(committed, slice(3, 10), 3))
    assert fall is not None
    assert fall.words == "throughput fell from 930/s to 0/s between 6.00 s and 6.50 s"


def test_one_that_is_made_up_for_afterwards_is_found_as_well() -> None:
    committed = course(2, (40, 6.0), (20, 0.0), (2, 66.0), (40, 6.0))
    assert fall_of_throughput(unit_course(committed, slice(5, 40), 5)) is not None


def test_chance_is_no_fall() -> None:
    found = [
        fall_of_throughput(unit_course(course(seed, (40, mean), (120, mean)), slice(5, 40), 5))
        for mean in (1.0, 6.0, 100.0)
        for seed in range(200)
    ]
    assert sum(fall is not None for fall in found) <= 3


def clients(seed: int, count: int, *parts: tuple[int, float, float]) -> Array:
    """Returns commits by window of clients in a closed loop, as if each counted its own.

    Args:
        seed: of the random numbers.
        count: of clients.
        parts: windows, mean time of a transaction in windows, its coefficient of variation.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    windows = []
    for length, mean, variation in parts:
        shape = (count, 2 * int(length / mean) + 60)
        stays = rng.gamma(variation**-2, mean * variation**2, shape)
        ends = np.cumsum(stays, axis=1) - rng.uniform(0, mean, (count, 1))
        windows.append(np.histogram(ends, length, (0, length))[0])
    return np.concatenate(windows).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_few_clients_in_a_closed_loop_are_more_regular_than_poisson(seed: int) -> None:
    slower = clients(seed, 1, (12, 0.24, 0.1), (12, 0.48, 0.1))
    fall = fall_of_throughput(unit_course(slower, slice(2, 12), 2))
    assert fall is not None
    assert not fall.came_back
    assert fall.from_s == pytest.approx(1.2, abs=0.2)


def test_their_chance_is_no_fall_either() -> None:
    found = [
        fall_of_throughput(
            unit_course(clients(seed, count, (before + after, mean, variation)), slice(before))
        )
        for count, mean in ((1, 0.24), (1, 0.2), (3, 0.1), (20, 1.0))
        for variation in (0.05, 0.25, 0.5, 1.0)
        for before, after in ((3, 12), (5, 12), (8, 6), (12, 60), (40, 200))
        for seed in range(20)
    ]
    assert sum(fall is not None for fall in found) <= 3


def test_a_short_dip_and_a_small_loss_do_not_count() -> None:
    dip = course(3, (40, 1000.0), (1, 0.0), (60, 1000.0))
    assert fall_of_throughput(unit_course(dip, slice(5, 40), 5)) is None
    small = course(3, (40, 1000.0), (60, 900.0))
    assert fall_of_throughput(unit_course(small, slice(5, 40), 5)) is None


def test_without_anything_before_there_is_nothing_to_compare_with() -> None:
    assert fall_of_throughput(unit_course(course(4, (40, 6.0)), slice(0, 3), 0)) is None
    assert fall_of_throughput(unit_course(course(4, (40, 0.2)), slice(0, 20), 0)) is None


def test_what_is_stuck_is_an_outage_with_its_number_and_age() -> None:
    found = outage(unit_course(course(5, (40, 6.0)), cut=5), STUCK, None)
    assert found is not None
    assert found.verdict is Verdict.OUTAGE
    assert found.reason == (
        "40 transactions had not ended, the oldest after 3 s; the longest that ended took 50 ms; "
        "others went on to the end"
    )
    assert found.others_went_on
    alone = course(5, (30, 6.0), (10, 0.0))
    blocked = outage(unit_course(alone, cut=5), STUCK, None)
    assert blocked is not None
    assert not blocked.others_went_on


def test_what_is_under_way_is_none() -> None:
    under_way = Unfinished(count=50, oldest_s=0.08, overdue=0, longest_s=0.05, ages_s=0.0)
    assert outage(unit_course(course(6, (40, 6.0)), cut=5), under_way, None) is None


@pytest.mark.parametrize(
    ("oldest_s", "more"),
    [(0.02, ""), (16.0, "; 300 transactions had not ended, the oldest after 16 s; the longest that "
                        "ended took 17 s")],
)  # fmt: skip
def test_who_waits_as_long_as_any_that_came_back_is_told_of(oldest_s: float, more: str) -> None:
    committed = course(8, (40, 60.0), (50, 0.0), (40, 120.0))
    fall = fall_of_throughput(unit_course(committed, slice(5, 40), 5))
    assert fall is not None
    assert fall.came_back
    left = Unfinished(count=300, oldest_s=oldest_s, overdue=0, longest_s=17.0, ages_s=0.0)
    found = outage(unit_course(committed, cut=5), left, fall)
    assert found is not None
    assert (found.verdict, found.reason) == (Verdict.DEGRADED, fall.words + more)


def test_half_the_throughput_is_degraded_and_none_is_an_outage() -> None:
    for share, verdict in ((0.5, Verdict.DEGRADED), (0.0, Verdict.OUTAGE)):
        committed = course(7, (40, 60.0), (50, 60.0 * share))
        fall = fall_of_throughput(unit_course(committed, slice(5, 40), 5))
        found = outage(unit_course(committed, cut=5), NOTHING_LEFT, fall)
        assert found is not None
        assert found.verdict is verdict


def test_a_run_without_a_commit_is_an_outage() -> None:
    found = outage(unit_course(np.zeros(40), cut=5), STUCK, None)
    assert found is not None
    assert "no transaction was committed in the time measured" in found.reason


def open_loop(seed: int, arrivals: float, *served: tuple[int, float]) -> UnitCourse:
    """Returns a course: arrivals a window, of which such a share is served, part after part."""
    windows = sum(part for part, _ in served)
    begun = course(seed, (windows, arrivals))
    shares = np.concatenate([np.full(part, share) for part, share in served])
    ended = np.round(np.cumsum(begun * shares))
    committed = np.diff(ended, prepend=0.0)
    return unit_course(committed, slice(5, 20), 5, begun=begun, ended=committed)


@pytest.mark.parametrize("seed", range(5))
def test_what_piles_up_only_since_the_event_is_degraded(seed: int) -> None:
    stuck = open_loop(seed, 6.0, (20, 1.0), (30, 0.6))
    found = piled_up_since(stuck)
    assert found is not None
    assert found.verdict is Verdict.DEGRADED
    assert found.reason.startswith("transactions have piled up since 2.00 s: at the end ")


def test_an_overload_from_the_beginning_is_not_laid_to_the_event() -> None:
    found = [piled_up_since(open_loop(seed, 50.0, (60, 0.7))) for seed in range(100)]
    assert sum(each is not None for each in found) <= 3
    assert piled_up_since(open_loop(1, 6.0, (50, 1.0))) is None


def in_turn(threads: int, each_s: float, windows: int) -> tuple[UnitCourse, float, Unfinished]:
    """Returns a closed loop whose clients wait for one lock, first come, first served.

    Returns:
        The course, the time that those took together who had ended, and who had not.
    """
    ends = np.arange(each_s, windows * WINDOW_S, each_s)
    began = np.concatenate([np.zeros(threads), ends])
    stays = ends - began[: len(ends)]
    ages = windows * WINDOW_S - began[len(ends) :]
    begun, ended = (
        np.histogram(times, windows, (0.0, windows * WINDOW_S))[0].astype(float)
        for times in (began, ends)
    )
    left = Unfinished(len(ages), float(ages.max()), 0, float(stays.max()), float(ages.sum()))
    return unit_course(ended, begun=begun, ended=ended), float(stays.sum()), left


def test_a_queue_that_is_longer_than_the_run_refuses_latencies() -> None:
    found = missing(*in_turn(50, 0.3, 50))
    assert found is not None
    assert found.verdict is Verdict.UNSETTLED
    assert found.reason == (
        "50 transactions had not ended, the oldest after 5 s; latencies of the others depend on "
        "how long the run is"
    )


def test_a_run_of_many_turns_does_not() -> None:
    assert missing(*in_turn(50, 0.3, 1500)) is None
    assert missing(*in_turn(3, 0.05, 50)) is None


def test_a_stop_needs_nothing_before_it() -> None:
    stopped = course(8, (3, 14.0), (8, 0.0), (8, 14.0))
    stop = stop_of_work(unit_course(stopped, cut=2), 1)
    assert stop is not None
    assert stop.came_back
    assert (stop.from_s, stop.until_s) == pytest.approx((0.3, 1.1))
    assert stop.words == "no transaction was committed from 0.30 s to 1.10 s"
    to_the_end = stop_of_work(unit_course(course(8, (10, 14.0), (8, 0.0)), cut=2), 10)
    assert to_the_end is not None
    assert to_the_end.stopped
    assert to_the_end.words == "no transaction was committed from 1.00 s to the end"


def test_gaps_between_bursts_are_no_stop_unless_longer_than_before() -> None:
    # Sixteen clients that hold their locks for half a second, all at the same time.
    bursts = np.tile([35.0, 0, 0, 0, 0], 20)
    assert stop_of_work(unit_course(bursts, cut=10), 30) is None
    bursts[55:65] = 0
    stop = stop_of_work(unit_course(bursts, cut=10), 30)
    assert stop is not None
    assert stop.words == "no transaction was committed from 5.10 s to 6.50 s"


def test_an_empty_stretch_of_a_quiet_course_is_no_stop() -> None:
    found = [
        stop_of_work(unit_course(course(seed, (100, mean)), cut=5), 5)
        for mean in (0.5, 1.0, 6.0)
        for seed in range(100)
    ]
    assert not any(found)
    assert stop_of_work(unit_course(np.zeros(20), cut=5), 5) is None
    assert stop_of_work(unit_course(course(1, (20, 14.0)), cut=5), 30) is None
