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
from collections.abc import Iterator, Mapping
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
from analysis.experiments.experiment import Experiment
from analysis.experiments.ladder import Trail, ladder_of, next_rung, pilot_rungs
from analysis.experiments.seen import Request, Seen
from analysis.metrics.catalogue import MetricKey
from analysis.study.sections import ALL_PROFILES, Capacity
from analysis.study.study import Study
from analysis.study.units import point_words

_Place = tuple[int, int, int]
"""Case, replication, rung."""

_UNITS_A_REPLICATION: Final = 2.5
"""What a further replication takes, most often: its two rungs, sometimes a third."""


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
        self._asked: set[_Place] = set()
        self._lost: set[_Place] = set()

    def keys(self) -> tuple[MetricKey, ...]:
        """Returns the objectives, throughput, and how busy each station is."""
        objectives = [objective.key for objective in self._question.capacity.slo]
        meant = [MEANT_ABORTS] if ABORTS in objectives else []
        return tuple(dict.fromkeys([*objectives, *meant, THROUGHPUT, *STATIONS]))

    def requests(self, seen: Seen) -> list[Request]:
        """Returns what was run of every case, then what follows, the longest units first.

        What was asked for before and is not seen by now has failed: the search goes on with the
        rungs beside it, and without a replication that fails twice.
        """
        self._lost |= {place for place in self._asked if seen.verdict(self._request(place)) is None}
        before: list[Request] = []
        new: list[tuple[_Place, Request]] = []
        for number, runs in enumerate(self._all_runs(seen)):
            before += runs.tried
            new += [
                (place, self._request(place))
                for replication, rung in wanted(runs)
                for place in [(number, replication, rung)]
            ]
        new.sort(key=lambda entry: -entry[0][2])
        self._asked = {place for place, _ in new}
        return before + [request for _, request in new]

    def _request(self, place: _Place) -> Request:
        number, replication, rung = place
        case, text = self._cases[number], self._question.ladder.texts[rung]
        point = {**case.point, self._question.capacity.load: text}
        return Request(point, case.variant, replication)

    def _all_runs(self, seen: Seen) -> list[CaseRuns]:
        return [
            CaseRuns.read(
                case,
                self._question,
                seen,
                [(replication, rung) for of, replication, rung in self._lost if of == number],
            )
            for number, case in enumerate(self._cases)
        ]

    def progress(self, seen: Seen) -> str:
        """Returns what is sought, how many cases are done, and what is left to do."""
        every = self._all_runs(seen)
        capacity = self._question.capacity
        open_ones = [runs for runs in every if any(wanted(runs))]
        if not any(runs.tried for runs in every):
            objectives = ", ".join(f"{each.key} ≤ {each.limit:g}" for each in capacity.slo)
            return f"greatest {capacity.load} with {objectives}; about {_left(every)} units to run"
        text = f"{len(every) - len(open_ones)} of {len(every)} capacities found"
        if not open_ones:
            return text
        widest = max(open_ones, key=lambda runs: math.log(_bounds(runs)[1] / _bounds(runs)[0]))
        low, high = _bounds(widest)
        where = ", ".join(filter(None, [widest.case.variant, point_words(widest.case.point)]))
        return (
            f"{text}; {where}: between {low:,.4g} and {high:,.4g}; "
            f"{sum(len(runs.tried) for runs in every)} units run, about {_left(every)} to go"
        )

    def conclusion(self, seen: Seen) -> dict[str, Any]:
        """Returns each case's capacity with its interval, and how the variants compare."""
        return conclude(self._question, self._all_runs(seen), self._baseline)


def wanted(runs: CaseRuns) -> Iterator[tuple[int, int]]:
    """Yields (replication, rung) of every unit that a case asks for next; none: it is done."""
    trails, rungs = runs.trails, len(runs.question.ladder)
    pilot = next((number for number, trail in enumerate(trails) if not trail.given_up), None)
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
    """Returns the loads between which a case's first replication crosses, as far as is known."""
    loads = runs.question.ladder.loads
    pilot = next((trail for trail in runs.trails if not trail.given_up), runs.trails[0])
    low, high = pilot.bracket(len(loads))
    return loads[max(low, 0)], loads[min(high, len(loads) - 1)]


def _left(every: list[CaseRuns]) -> int:
    """Returns about how many units are still to be run."""
    total = 0.0
    for runs in every:
        open_now = {number for number, _ in wanted(runs)}
        if not open_now:
            continue
        low, high = runs.trails[0].bracket(len(runs.question.ladder))
        total += 2 * math.ceil(math.log(max(high - low, 1), 3)) if 0 in open_now else 0
        total += sum(
            max(_UNITS_A_REPLICATION - len(trail.slack), 1.0 if number in open_now else 0.0)
            for number, trail in enumerate(runs.trails)
            if number > 0
        )
    return math.ceil(total)


def _case(study: Study, capacity: Capacity, point: Mapping[str, Any], variant: str) -> Case:
    """Returns a case with what its scenario says of its present load and its nodes."""
    scenario: Any = study.scenario(point, variant)
    workload, cluster = scenario.workload, scenario.cluster
    threads = capacity.load == "workload.threads"
    present = workload.threads if threads else workload.rate_per_s
    prices = capacity.prices.get(scenario.hardware.profile) or capacity.prices.get(ALL_PROFILES)
    if prices is None:
        return Case(dict(point), variant, present, None)
    an_hour = cluster.stores * prices.store + cluster.tidb_nodes * prices.tidb_node
    return Case(dict(point), variant, present, an_hour)
