"""What the units of one case of a capacity search have shown, replication by replication."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from analysis.experiments.experiment import Request, Seen
from analysis.experiments.ladder import Ladder, Trail
from analysis.metrics.catalogue import ASKED_FOR, STATIONS_OF, MetricKey
from analysis.statistics.crossing import MOST_SLACK, NO_SLACK, Crossing, crossing_of, slacks
from analysis.statistics.intervals import Array
from analysis.statistics.saturation import Verdict
from analysis.study.sections import Capacity
from sim.fact_names import LOG_WRITER

THROUGHPUT: Final = MetricKey("txn_per_s")
STATIONS: Final = tuple(
    MetricKey(metric, name)
    for metric, stations in STATIONS_OF.items()
    for name in stations
    if name != LOG_WRITER
)
"""What can be busy, over all nodes that have one."""


ABORTS: Final = MetricKey("txn_aborts_per_txn")
MEANT_ABORTS: Final = MetricKey("txn_aborts_per_txn", ASKED_FOR)
"""Rollbacks that the workload asks for, which break no promise.

Source: TPC-C 5.11, 2.4.1.4: 1 % of the new orders are rolled back.
"""


@dataclass(frozen=True, slots=True)
class Question:
    """What is sought, of every case alike."""

    capacity: Capacity
    ladder: Ladder
    replications: int

    def request(self, case: Case, rung: int, replication: int) -> Request:
        """Returns the unit of a case on a rung of the ladder."""
        point = {**case.point, self.capacity.load: self.ladder.texts[rung]}
        return Request(point, case.variant, replication)


@dataclass(frozen=True, slots=True)
class Case:
    """One variant at one point of the study."""

    point: Mapping[str, Any]
    variant: str
    present: float | None
    """The load that the scenario itself has, if it is of the kind that is searched."""
    price_per_hour: float | None
    """Of all its nodes."""


@dataclass(frozen=True, slots=True)
class ReplicationRuns:
    """One replication at all loads that it was run at, in ascending order."""

    rungs: tuple[int, ...]
    loads: Array
    """Shape (loads,)."""
    values: Array
    """Shape (objectives, loads), in published units; NaN: refused, or not there."""
    slack: Array
    """Shape (objectives, loads)."""
    worst: Array
    """Slack of the tightest objective, shape (loads,)."""
    refused: NDArray[np.bool_]
    """Shape (loads,): whether the run was overloaded, did not settle, or stopped."""
    stopped: NDArray[np.bool_]
    """Shape (loads,): whether work stopped."""
    stations: Array
    """Shape (stations, loads): share of time busy."""
    txn_per_s: Array
    """Shape (loads,)."""
    trail: Trail

    def crossing(self) -> Crossing:
        """Returns where the first objective ceases to be met.

        Each objective is followed by its own straight line between the two loads where the tightest
        one crosses, since another one may be tightest at each of the two.
        """
        whole = crossing_of(self.loads, self.worst)
        if not whole.seen:
            return whole
        own = min(crossing_of(self.loads, row).load for row in self.slack)
        return whole._replace(load=min(max(own, whole.low), whole.high))

    def binding(self) -> int | None:
        """Returns the objective that crosses first; None: it was met until overload or outage."""
        whole = crossing_of(self.loads, self.worst)
        if not whole.seen or self.refused[self._above(whole)]:
            return None
        return int(np.argmin([crossing_of(self.loads, row).load for row in self.slack]))

    def stops(self) -> bool:
        """Returns whether work stops where it crosses."""
        whole = crossing_of(self.loads, self.worst)
        return whole.seen and bool(self.stopped[self._above(whole)])

    def _above(self, crossing: Crossing) -> int:
        return int(np.searchsorted(self.loads, crossing.high))


@dataclass(frozen=True, slots=True)
class CaseRuns:
    """All replications of one case."""

    case: Case
    question: Question
    replications: tuple[ReplicationRuns, ...]
    tried: tuple[Request, ...]
    """Units that are done or have failed."""

    @classmethod
    def read(cls, case: Case, question: Question, seen: Seen) -> Self:
        """Reads all that was seen of a case."""
        replications: list[ReplicationRuns] = []
        tried: list[Request] = []
        for number in range(question.replications):
            rungs = range(len(question.ladder))
            requests = [question.request(case, rung, number) for rung in rungs]
            runs = _read_replication(requests, question, seen)
            replications.append(runs)
            tried += [requests[rung] for rung in sorted({*runs.rungs, *runs.trail.failed})]
        return cls(case, question, tuple(replications), tuple(tried))

    @property
    def trails(self) -> list[Trail]:
        """What each replication has shown, as the search needs it."""
        return [runs.trail for runs in self.replications]


def _read_replication(requests: list[Request], question: Question, seen: Seen) -> ReplicationRuns:
    verdicts = {
        rung: verdict
        for rung, request in enumerate(requests)
        if (verdict := seen.verdict(request)) is not None
    }
    rungs = tuple(verdicts)
    failed = frozenset(rung for rung, request in enumerate(requests) if seen.failed(request))
    slo = question.capacity.slo
    values = _table(seen, requests, rungs, [objective.key for objective in slo])
    meant = np.nan_to_num(_table(seen, requests, rungs, [MEANT_ABORTS])[0])
    values -= [meant * (objective.key == ABORTS) for objective in slo]
    refused = np.array([not each.carried for each in verdicts.values()], dtype=np.bool_)
    slack = np.array(
        [slacks(row, objective.limit) for row, objective in zip(values, slo, strict=True)]
    ).reshape(len(slo), len(rungs))
    slack = np.where(refused, NO_SLACK, slack)
    worst: Array = np.min(slack, axis=0, initial=MOST_SLACK)
    unsettled = frozenset(rung for rung, is_ in verdicts.items() if is_ is Verdict.UNSETTLED)
    return ReplicationRuns(
        rungs=rungs,
        loads=np.array([question.ladder.loads[rung] for rung in rungs]),
        values=values,
        slack=slack,
        worst=worst,
        refused=refused,
        stopped=np.array([each is Verdict.OUTAGE for each in verdicts.values()], dtype=np.bool_),
        stations=_table(seen, requests, rungs, STATIONS),
        txn_per_s=_table(seen, requests, rungs, [THROUGHPUT])[0],
        trail=Trail(dict(zip(rungs, map(float, worst), strict=True)), unsettled, failed),
    )


def _table(seen: Seen, requests: list[Request], rungs: Any, keys: Any) -> Array:
    """Returns values, shape (keys, rungs)."""
    table = np.full((len(keys), len(rungs)), math.nan)
    for row, key in enumerate(keys):
        table[row] = [seen.value(requests[rung], key) for rung in rungs]
    return table
