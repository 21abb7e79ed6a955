"""Queues with known answers as units of a study: M/M/1 and M/M/c, first come first served.

They leave facts as the model does, through the same recorder, so that everything behind the facts
is what is tried: Parquet, sums by executors, the warm-up's cut, intervals, verdicts. The queue
starts empty. A customer is a transaction: ``lock_latency`` is its time in the system, ``lock_wait``
its time in the queue of several servers, recorded in the window in which it leaves. A service
takes as many milliseconds on average as there are servers, so all queues have the same arrivals.

Source: Lindley 1952 (waiting times by recursion); Erlang 1917 (M/M/c).
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sim.record import FactSink, Recorder
from sim.record.histogram import UPPER_BOUNDS, ZERO_BUCKET
from sim.scenario import Scenario
from sim.streams import Streams
from sim.unit_result import UnitResult
from sim.units import NS_PER_S

SERVICE_NS: Final = 1_000_000
"""Mean service of one server alone."""

WINDOW_NS: Final = 100_000_000
_BOUNDS: Final = np.array(UPPER_BOUNDS, dtype=np.int64)

Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class QueueRun:
    """Times of a unit."""

    seed: int
    measure_ns: int
    warmup_ns: int | None = None
    window_ns: int = WINDOW_NS
    checks: bool = False


@dataclass(frozen=True, slots=True)
class QueueScenario:
    """One queue; ``study`` tells the studies of a benchmark apart."""

    run: QueueRun
    servers: int
    load: float
    """Arrivals per time that all servers together need for one."""
    study: int = 0
    operations: tuple[()] = ()
    """Nothing is done to it; whoever judges a unit asks."""


@dataclass(frozen=True, slots=True)
class Customers:
    """When each arrives, begins to be served, and leaves; ascending arrivals, in ns."""

    arrival: Times
    begin: Times
    end: Times


def run_queue_of(scenario: Scenario, replication: int, sink: FactSink) -> UnitResult:
    """Leaves the facts of the queue that a scenario stands for.

    Its rate is that of arrivals, its scheduler's workers are the servers, and its warehouses number
    the studies.
    """
    run, workload = scenario.run, scenario.workload
    assert workload.rate_per_s is not None, "a queue has arrivals"
    queue = QueueScenario(
        QueueRun(run.seed, run.measure_ns, run.warmup_ns, run.window_ns),
        servers=scenario.tikv.scheduler_worker_pool_size,
        load=workload.rate_per_s * SERVICE_NS / NS_PER_S,
        study=workload.warehouses,
    )
    return run_unit(queue, replication, sink)


def run_unit(scenario: QueueScenario, replication: int, sink: FactSink) -> UnitResult:
    """Leaves the facts of one queue; the name that the pipeline calls it by."""
    customers = simulate(scenario, replication)
    run = scenario.run
    windows = _simulated_ns(run) // run.window_ns
    recorder = Recorder(run.window_ns, sink)
    in_order = np.argsort(customers.end, kind="stable")
    end = customers.end[in_order]
    stay = end - customers.arrival[in_order]
    wait = (customers.begin - customers.arrival)[in_order]
    edges = np.arange(windows + 1, dtype=np.int64) * run.window_ns
    begun = np.diff(np.searchsorted(customers.arrival, edges))
    busy = np.diff(_work_until(customers, edges))
    left = np.searchsorted(end, edges)
    for window in range(windows):
        part = slice(left[window], left[window + 1])
        recorder.counter("txns", "all").value += part.stop - part.start
        recorder.counter("txns_started").value += int(begun[window])
        recorder.counter("busy_ns", "server").value += int(busy[window])
        recorder.counter("capacity_ns", "server").value += scenario.servers * run.window_ns
        _add_all(recorder, "lock_latency", stay[part])
        if scenario.servers > 1:
            _add_all(recorder, "lock_wait", wait[part])
        recorder.roll(int(edges[window + 1]))
    recorder.close(int(edges[-1]))
    served = int(left[-1])
    return UnitResult(
        events=served,
        transactions=served,
        simulated_ns=int(edges[-1]),
        checked=0,
        violations=(),
    )


def simulate(scenario: QueueScenario, replication: int) -> Customers:
    """Returns all customers that arrive in the time simulated."""
    run = scenario.run
    streams = Streams(run.seed, replication)
    prefix = f"queue-{scenario.servers}-{scenario.load}-{scenario.study}"
    gap_ns = SERVICE_NS / scenario.load
    expected = _simulated_ns(run) / gap_ns
    count = int(expected + 8 * math.sqrt(expected) + 16)
    gaps = streams.stream(f"{prefix}/arrivals").block_of("exponential", count)
    service = streams.stream(f"{prefix}/service").block_of("exponential", count)
    arrival = np.cumsum(gaps) * gap_ns
    arrival = arrival[arrival < _simulated_ns(run)]
    service = service[: len(arrival)] * SERVICE_NS * scenario.servers
    begin = (
        _one_server(arrival, service)
        if scenario.servers == 1
        else _many_servers(arrival, service, scenario.servers)
    )
    return Customers(
        *(times.round().astype(np.int64) for times in (arrival, begin, begin + service))
    )


def _simulated_ns(run: QueueRun) -> int:
    """Returns how long a unit runs: half as long again if its warm-up is to be found."""
    return run.measure_ns + (run.measure_ns // 2 if run.warmup_ns is None else run.warmup_ns)


def _one_server(arrival: NDArray[np.float64], service: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lindley's recursion as a running maximum: a customer begins when all before have left."""
    before = np.cumsum(service) - service
    begin: NDArray[np.float64] = before + np.maximum.accumulate(arrival - before)
    return begin


def _many_servers(
    arrival: NDArray[np.float64], service: NDArray[np.float64], servers: int
) -> NDArray[np.float64]:
    """The next in the queue takes the server that is free first."""
    free = [0.0] * servers
    begin = []
    for at, needs in zip(arrival.tolist(), service.tolist(), strict=True):
        start = max(at, free[0])
        heapq.heapreplace(free, start + needs)
        begin.append(start)
    return np.array(begin)


def _work_until(customers: Customers, edges: Times) -> Times:
    """Returns the time that all servers together have worked until each edge."""
    return _area(customers.begin, edges) - _area(np.sort(customers.end), edges)


def _area(times: Times, edges: Times) -> Times:
    """Returns the sum of what has passed since each time that lies before an edge."""
    order = np.sort(times)
    before = np.searchsorted(order, edges)
    sums = np.concatenate([[0], np.cumsum(order)])
    area: Times = before * edges - sums[before]
    return area


def _add_all(recorder: Recorder, metric: str, values: Times) -> None:
    """Adds values in bulk: what ``Series.add`` would do with each."""
    if not len(values):
        return
    series = recorder.series(metric)
    series.count += len(values)
    series.sum += int(values.sum())
    series.max = max(series.max, int(values.max()))
    found = np.where(values > 0, np.searchsorted(_BOUNDS, values), ZERO_BUCKET)
    buckets, counts = np.unique(found, return_counts=True)
    for bucket, count in zip(buckets.tolist(), counts.tolist(), strict=True):
        series.buckets[bucket] = series.buckets.get(bucket, 0) + count
