"""Verdicts: overload, drift, a busy station, and quiet about everything else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.statistics.intervals import Array
from analysis.statistics.saturation import (
    DRIFT_LEVEL,
    OVERLOAD_LEVEL,
    Judgement,
    UnitCourse,
    Verdict,
    drift,
    growth_chance,
    judge,
)
from tests.analysis.unit_courses import unit_course

WINDOWS = 60
WARMUP = 10


def draws(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def course(
    seed: int = 1, served: float = 200.0, latency: Array | None = None, begun: float = 100.0
) -> UnitCourse:
    """Returns a unit that could serve ``served`` a window, of which ``begun`` arrive."""
    rng = draws(seed)
    arrivals = rng.poisson(begun, WINDOWS).astype(float)
    waiting, ended = 0.0, []
    for arrived in arrivals:
        done = min(waiting + arrived, float(rng.poisson(served)))
        waiting += arrived - done
        ended.append(done)
    if latency is None:
        latency = rng.normal(100.0, 5.0, WINDOWS)
    committed = np.array(ended)
    return unit_course(committed, cut=WARMUP, begun=arrivals, ended=committed, latency=latency)


def verdict(of_it: UnitCourse, busy: float = 0.5, *, settled: bool = False) -> Verdict:
    return judge(of_it, {"disk": 0.1, "apply": busy}, settled=settled).verdict


@pytest.mark.parametrize("seed", range(20))
def test_a_unit_that_keeps_up_is_stable(seed: int) -> None:
    assert verdict(course(seed)) is Verdict.STABLE


@pytest.mark.parametrize("seed", range(20))
def test_a_unit_that_gets_a_tenth_too_much_is_overloaded(seed: int) -> None:
    found = judge(course(seed, served=90.0), {"disk": 1.0}, settled=True)
    assert found.verdict is Verdict.OVERLOADED
    assert "transactions pile up: at the end" in found.reason


def test_a_walk_at_exactly_the_capacity_is_rarely_taken_for_overload() -> None:
    units = [course(seed, served=100.0) for seed in range(100)]
    grown = [drift(np.cumsum(unit.begun - unit.ended)[WARMUP:]).share > 1 / 3 for unit in units]
    assert sum(grown) > 20
    assert sum(verdict(unit) is Verdict.OVERLOADED for unit in units) <= 5


def test_a_backlog_that_has_built_up_and_stays_is_no_overload() -> None:
    # Two seconds of latency at a steady rate: what is in the system grows so long, then not.
    begun, delay = draws(3).poisson(100.0, WINDOWS).astype(float), 20
    ended = np.concatenate([np.zeros(delay), begun[:-delay]])
    unit = unit_course(ended, cut=delay, begun=begun, ended=ended, latency=np.full(WINDOWS, 7.0))
    assert growth_chance(np.cumsum(begun - ended)) < OVERLOAD_LEVEL
    assert judge(unit, {}, settled=True).verdict is Verdict.STABLE


def test_a_closed_loop_full_of_work_is_near_saturation_by_its_busiest_station() -> None:
    clients = np.zeros(WINDOWS)
    clients[0] = 50
    done = np.full(WINDOWS, 100.0)
    unit = unit_course(done, cut=WARMUP, begun=done + clients, ended=done, latency=np.ones(WINDOWS))
    assert judge(unit, {"disk": 0.2, "apply": 0.97}, settled=True) == Judgement(
        Verdict.NEAR_SATURATION,
        "apply 97 % busy",
    )
    assert verdict(unit, busy=0.89) is Verdict.STABLE


def test_a_latency_that_still_rises_is_not_settled_unless_a_warmup_was_found() -> None:
    rising = draws(5).normal(100.0, 5.0, WINDOWS) + np.linspace(0, 60, WINDOWS)
    found = judge(course(latency=rising), {}, settled=False)
    assert found.verdict is Verdict.UNSETTLED
    assert found.reason.startswith("lock latency still rises by 3")
    assert verdict(course(latency=rising), settled=True) is Verdict.STABLE


def test_a_drift_too_small_to_matter_is_none() -> None:
    slight = draws(5).normal(100.0, 1.0, WINDOWS) + np.linspace(0, 15, WINDOWS)
    assert drift(slight[WARMUP:]).chance < DRIFT_LEVEL
    assert verdict(course(latency=slight)) is Verdict.STABLE


def test_a_few_windows_are_not_judged() -> None:
    found = judge(replace(course(served=10.0), cut=WINDOWS - 4), {"disk": 0.5}, settled=False)
    assert found == Judgement(
        Verdict.NOT_JUDGED,
        "only 4 windows after the warm-up, 5 are needed; lengthen run.measure",
    )
    one = replace(course(), cut=WINDOWS - 1)
    assert judge(one, {"disk": 0.95}, settled=False).reason == "disk 95 % busy"
    assert judge(unit_course(np.array([])), {}, settled=False).verdict is Verdict.NOT_JUDGED


@pytest.mark.parametrize("left", [3, 4])
def test_a_few_windows_show_a_load_far_beyond_capacity(left: int) -> None:
    arrivals, served = np.full(5, 4000.0), np.full(5, 1600.0)
    piling = unit_course(served, cut=5 - left, begun=arrivals, ended=served, latency=served)
    assert judge(piling, {"apply": 1.0}, settled=False).verdict is Verdict.OVERLOADED
    filling = arrivals.copy()
    filling[5 - left] += 1000  # clients of a closed loop that begin
    full = unit_course(arrivals, cut=5 - left, begun=filling, ended=arrivals, latency=arrivals)
    assert judge(full, {"disk": 0.5}, settled=False).verdict is Verdict.NOT_JUDGED


def test_scatter_that_hangs_together_is_not_taken_for_a_trend() -> None:
    # Taken for independent, a hundred of these 400 would show a trend at a level of 0.5 %.
    rng, alarms = draws(9), 0
    for _ in range(400):
        series, level = [], 0.0
        for noise in rng.normal(0, 1, 100):
            level = 0.8 * level + noise
            series.append(100 + level)
        alarms += drift(np.array(series)).chance < DRIFT_LEVEL
    assert alarms <= 12


def test_series_without_scatter() -> None:
    assert drift(np.full(50, 3.0)) == (0.0, 1.0)
    assert drift(np.arange(50.0)).chance == 0.0
    assert drift(np.zeros(50)) == (0.0, 1.0)
    assert growth_chance(np.arange(1.0, 51.0)) < 1e-9
    assert growth_chance(np.zeros(50)) == 1.0


def test_only_refused_verdicts_refuse() -> None:
    assert [verdict for verdict in Verdict if verdict.refused] == [
        Verdict.OVERLOADED,
        Verdict.UNSETTLED,
    ]
