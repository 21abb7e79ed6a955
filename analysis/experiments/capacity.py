"""Capacity: the greatest load at which every objective is met, for each point and variant.

Loads are rungs of a ladder, a tolerance apart. One replication finds the rung above which an
objective is no longer met; then every other replication is run near there until it has a rung of
its own that is met, below one that is not. All replications share their random numbers over loads,
so each has one load at which it crosses, found by a straight line between its two rungs. The
capacity is the mean of these loads, with Student's t interval.

All cases advance together, so that a round has work for every core; within a round the longest
units, those with most load, come first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, Final

from analysis.experiments.capacity_conclusion import conclude
from analysis.experiments.case_runs import (
    ABORTS,
    MEANT_ABORTS,
    STATIONS,
    THROUGHPUT,
    Case,
    CaseRuns,
    Question,
)
from analysis.experiments.case_words import promise_words
from analysis.experiments.experiment import Experiment, Request, Seen
from analysis.experiments.ladder import Trail, ladder_of, next_rung, pilot_rungs
from analysis.metrics.catalogue import MetricKey
from analysis.metrics.rounding import digits
from analysis.statistics.amounts import count
from analysis.study.sections import ALL_PROFILES, Capacity
from analysis.study.study import Study
from analysis.study.units import point_words

_FALL: Final = 0.1
"""Slack that a forecast loses from one rung to the next; only where it crosses zero counts."""


class CapacitySearch(Experiment):
    """Points × variants, each at the loads near its capacity."""

    name = "capacity"

    def __init__(self, study: Study) -> None:
        capacity = study.capacity
        assert capacity is not None, "the study asks for no capacity"
        self._question = Question(capacity, ladder_of(capacity), study.replications)
        self._baseline = next(iter(study.variants))
        self._cases = [
            _case(study, capacity, point, variant)
            for point in study.points
            for variant in study.variants
        ]

    def keys(self) -> tuple[MetricKey, ...]:
        """Returns the objectives, throughput, and how busy each station is."""
        objectives = [objective.key for objective in self._question.capacity.slo]
        meant = [MEANT_ABORTS] if ABORTS in objectives else []
        return tuple(dict.fromkeys([*objectives, *meant, THROUGHPUT, *STATIONS]))

    def requests(self, seen: Seen) -> list[Request]:
        """Returns what was run of every case, then what follows, the longest units first.

        Where a unit has failed, the search goes on with the rungs beside it, and without a
        replication that fails twice.
        """
        before: list[Request] = []
        new: list[tuple[int, Request]] = []
        for runs in self._all_runs(seen):
            before += runs.tried
            new += [
                (rung, self._question.request(runs.case, rung, replication))
                for replication, rung in wanted(runs.trails, len(self._question.ladder))
            ]
        new.sort(key=lambda entry: -entry[0])
        return before + [request for _, request in new]

    def _all_runs(self, seen: Seen) -> list[CaseRuns]:
        return [CaseRuns.read(case, self._question, seen) for case in self._cases]

    def progress(self, seen: Seen) -> str:
        """Returns what is sought, how many cases are done, and what is left to do."""
        every = self._all_runs(seen)
        capacity = self._question.capacity
        open_ones = [runs for runs in every if any(wanted(runs.trails, len(runs.question.ladder)))]
        if not any(runs.tried for runs in every):
            limits = [{"key": each.key, "metric": each.key.metric, "limit": each.limit}
                      for each in capacity.slo]  # fmt: skip
            promise = promise_words({"slo": limits})
            return f"greatest {capacity.load} with {promise}; {_left(every)} to run"
        text = f"{len(every) - len(open_ones)} of {len(every)} capacities found"
        if not open_ones:
            return text
        widest = max(open_ones, key=lambda runs: math.log(_bounds(runs)[1] / _bounds(runs)[0]))
        low, high = map(digits, _bounds(widest))
        where = ", ".join(filter(None, [widest.case.variant, point_words(widest.case.point)]))
        return f"{text}; {where}: between {low} and {high}; {_left(every)} to go"

    def conclusion(self, seen: Seen) -> dict[str, Any]:
        """Returns each case's capacity with its interval, and how the variants compare."""
        return conclude(self._question, self._all_runs(seen), self._baseline)


def wanted(trails: Sequence[Trail], rungs: int) -> Iterator[tuple[int, int]]:
    """Yields (replication, rung) of every unit that a case asks for next; none: it is done."""
    pilot = _pilot(trails)
    if pilot is None:
        return
    tries = pilot_rungs(trails[pilot], rungs)
    if tries:
        yield from ((pilot, rung) for rung in tries)
        return
    start, fall = _crossing_rung(trails[pilot], rungs)
    for number, trail in enumerate(trails):
        if number != pilot and not trail.given_up:
            yield from ((number, rung) for rung in next_rung(trail, rungs, start, fall))


def _pilot(trails: Sequence[Trail]) -> int | None:
    """Returns the replication that searches the whole ladder, before the others follow it."""
    return next((number for number, trail in enumerate(trails) if not trail.given_up), None)


def _crossing_rung(trail: Trail, rungs: int) -> tuple[float, float]:
    """Returns where a finished search crosses, in rungs, and how much slack a rung loses there."""
    low, high = trail.bracket(rungs)
    if low < 0 or high == rungs:
        return float(min(max(low, 0), rungs - 1)), 0.0
    above, below = max(trail.slack[low], 0.0), min(trail.slack[high], 0.0)
    fall = above - below
    share = above / fall if fall > 0 else 0.5
    return low + share * (high - low), fall / (high - low)


def _bounds(runs: CaseRuns) -> tuple[float, float]:
    """Returns the loads between which a case's capacity lies, as far as is known.

    That is the mean over replications, each of which crosses between two loads of its own: before
    it has been run, between the ends of the search.
    """
    loads = runs.question.ladder.loads
    trails = [trail for trail in runs.trails if not trail.given_up] or runs.trails
    brackets = [trail.bracket(len(loads)) for trail in trails]
    lows = [loads[max(low, 0)] for low, _ in brackets]
    highs = [loads[min(high, len(loads) - 1)] for _, high in brackets]
    return fmean(lows), fmean(highs)


def _left(every: Sequence[CaseRuns]) -> str:
    """Returns about how many rounds and units are still to be run: ``about 3 rounds, 14 units``.

    The search is gone through as it would go if the first replication crossed in the middle of what
    is known of it, and every other as near to that as what is known of it allows.
    """
    forecasts = [_forecast(runs.trails, len(runs.question.ladder)) for runs in every]
    rounds, units = max(rounds for rounds, _ in forecasts), sum(units for _, units in forecasts)
    return f"about {count(rounds, 'round')}, {count(units, 'unit')}"


def _forecast(trails: Sequence[Trail], rungs: int) -> tuple[int, int]:
    """Returns rounds and units until a case is done."""
    left = list(trails)
    crossings = _expected(left, rungs)
    rounds = units = 0
    while asked := list(wanted(left, rungs)):
        rounds, units = rounds + 1, units + len(asked)
        for number, rung in asked:
            found = {**left[number].slack, rung: _FALL * (crossings[number] - rung)}
            left[number] = replace(left[number], slack=found)
    return rounds, units


def _expected(trails: Sequence[Trail], rungs: int) -> list[float]:
    """Returns the rung, most often between two, at which each replication is taken to cross."""
    start = sum(trails[_pilot(trails) or 0].bracket(rungs)) / 2
    brackets = [trail.bracket(rungs) for trail in trails]
    return [min(max(start, low + 0.5), high - 0.5) for low, high in brackets]


def _case(study: Study, capacity: Capacity, point: Mapping[str, Any], variant: str) -> Case:
    """Returns a case with what its scenario says of its present load and its nodes."""
    scenario: Any = study.scenario(point, variant)
    workload, cluster = scenario.workload, scenario.cluster
    threads = capacity.load == "workload.threads"
    present = workload.threads if threads else workload.rate_per_s
    known = capacity.prices or {}
    prices = known.get(scenario.hardware.profile) or known.get(ALL_PROFILES)
    if prices is None:
        return Case(dict(point), variant, present, None)
    an_hour = cluster.stores * prices.store + cluster.tidb_nodes * prices.tidb_node
    return Case(dict(point), variant, present, an_hour)
