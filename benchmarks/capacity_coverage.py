"""How often a capacity's 95 % interval holds the true capacity, on a queue where that is known.

In an M/M/1 queue the time from arrival to departure is exponential with rate mu - lambda, so its
99th percentile meets a limit up to lambda = mu - ln(100) / limit. The search is the one that
studies use; only the units are runs of the queue, by Lindley's recursion over arrays, with
replications that share their draws over loads as the model's do. Latencies are read from the
model's own histogram buckets.

Run it with ``python -m benchmarks.capacity_coverage``; at most 4 minutes.

Source: Lindley, The theory of queues with a single server, 1952; Kleinrock, Queueing Systems,
volume 1, 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from analysis.experiments.capacity import CapacitySearch
from analysis.experiments.experiment import Request, Seen
from analysis.metrics.catalogue import MetricKey
from analysis.statistics.saturation import Verdict
from analysis.study.sections import Capacity, Objective
from analysis.study.study import point_key
from sim.record.histogram import BASE
from sim.streams import Streams

Array = NDArray[np.float64]

STUDIES: Final = 400
SERVICE_RATE: Final = 1000.0
P99: Final = MetricKey("txn_latency_ms", stat="p99")
_MEASURED_S: Final = 60.0
"""A finite run's percentile is a little low, and its capacity a little high: by 0.5 % after 20 s,
0.3 % after 40 s, 0.2 % after 60 s at a utilisation of 0.8, whatever the tolerance of the search.
"""
_MS: Final = 1000.0
_LOAD: Final = "workload.rate"


@dataclass(frozen=True, slots=True)
class Queue:
    """An M/M/1 queue whose capacity is known."""

    capacity_per_s: float
    measured_s: float
    warmup_s: float = 2.0

    @property
    def limit_ms(self) -> float:
        """The 99th percentile at the capacity."""
        return math.log(100.0) / (SERVICE_RATE - self.capacity_per_s) * _MS


@dataclass
class Replication:
    """The draws of one replication, which all loads share."""

    queue: Queue
    study: int
    number: int

    @cached_property
    def draws(self) -> tuple[Array, Array]:
        """Gaps between arrivals and service times, both of mean 1."""
        count = int(1.1 * SERVICE_RATE * (self.queue.warmup_s + self.queue.measured_s))
        streams = Streams(self.study, self.number)
        gaps = streams.stream("arrivals").block_of("exponential", count)
        return gaps, streams.stream("service").block_of("exponential", count)

    def p99_ms(self, rate_per_s: float) -> float:
        """Returns the 99th percentile of the time that customers of the measured time stay."""
        gaps, services = self.draws
        arrived_s = np.cumsum(gaps) / rate_per_s
        last = int(np.searchsorted(arrived_s, self.queue.warmup_s + self.queue.measured_s))
        first = int(np.searchsorted(arrived_s, self.queue.warmup_s))
        assert last < len(gaps), "more arrivals than draws"
        service_s = services[:last] / SERVICE_RATE
        steps = np.concatenate([[0.0], service_s[:-1] - np.diff(arrived_s[:last])])
        walk = np.cumsum(steps)
        stay_ns = (walk - np.minimum.accumulate(walk) + service_s)[first:] * 1e9
        return _as_in_a_histogram(float(np.quantile(stay_ns, 0.99))) / 1e6


def _as_in_a_histogram(value_ns: float) -> float:
    """Returns the geometric middle of the bucket that holds a value."""
    return float(BASE ** (math.ceil(math.log(value_ns, BASE)) - 0.5))


@dataclass
class QueueSeen(Seen):
    """What was asked for is run at once."""

    queue: Queue
    study: int
    runs: dict[tuple[str, int], float] = field(default_factory=dict)
    replications: dict[int, Replication] = field(default_factory=dict)

    def take(self, requests: list[Request]) -> int:
        """Runs what is new; returns how much."""
        before = len(self.runs)
        for request in requests:
            name = _name(request)
            if name not in self.runs:
                number = request.replication
                replication = self.replications.setdefault(
                    number, Replication(self.queue, self.study, number)
                )
                rate_per_s = float(str(request.point[_LOAD]).removesuffix("/s"))
                self.runs[name] = replication.p99_ms(rate_per_s)
        return len(self.runs) - before

    def value(self, request: Request, key: MetricKey) -> float:
        """Returns the percentile; the queue has nothing else."""
        return self.runs.get(_name(request), math.nan) if key == P99 else math.nan

    def verdict(self, request: Request) -> Verdict | None:
        """Returns stable for what was run."""
        return Verdict.STABLE if _name(request) in self.runs else None


def _name(request: Request) -> tuple[str, int]:
    return point_key(request.point), request.replication


def search_of(queue: Queue, replications: int, tolerance: float) -> CapacitySearch:
    """Returns the search of a study of one case."""
    scenario = SimpleNamespace(
        workload=SimpleNamespace(rate_per_s=None, threads=None),
        cluster=SimpleNamespace(stores=1, tidb_nodes=1),
        hardware=SimpleNamespace(profile=""),
    )
    study: Any = SimpleNamespace(
        points=({},),
        variants={"queue": None},
        replications=replications,
        scenario=lambda point, variant: scenario,  # noqa: ARG005
        capacity=Capacity(
            slo=(Objective(P99, queue.limit_ms),),
            load="workload.rate",
            between=(0.1 * SERVICE_RATE, 0.98 * SERVICE_RATE),
            tolerance=tolerance,
        ),
    )
    return CapacitySearch(study)


def searched(queue: Queue, study: int, replications: int, tolerance: float) -> Mapping[str, Any]:
    """Returns the case that one study finds, with ``units`` it took."""
    search, seen = search_of(queue, replications, tolerance), QueueSeen(queue, study)
    while seen.take(search.requests(seen)):
        pass
    (case,) = search.conclusion(seen)["cases"]
    return {**case, "units": len(seen.runs)}


def measure(
    queue: Queue, replications: int, tolerance: float = 0.05, studies: int = STUDIES
) -> dict[str, float]:
    """Returns ``coverage``, ``bias`` and ``half_width`` over the capacity, ``units`` a study."""
    truth = queue.capacity_per_s
    cases = [searched(queue, study, replications, tolerance) for study in range(studies)]
    found = [case for case in cases if case["status"] == "found"]
    covers = [case["load_ci_low"] <= truth <= case["load_ci_high"] for case in found]
    return {
        "found": len(found),
        "coverage": round(float(np.mean(covers)), 4),
        "bias": round(float(np.mean([case["load"] for case in found])) / truth - 1.0, 5),
        "half_width": round(
            float(np.mean([case["load_ci_high"] - case["load"] for case in found])) / truth, 5
        ),
        "units": round(float(np.mean([case["units"] for case in cases])), 1),
    }


if __name__ == "__main__":
    for capacity_per_s in (500.0, 800.0):
        for replications in (5, 10):
            figures = measure(Queue(capacity_per_s, _MEASURED_S), replications)
            print(f"capacity {capacity_per_s:.0f}/s, {replications} replications:", figures)
