"""The published cases of one cluster, run as ``validate`` runs them, only shorter.

Cases are points of the scenarios behind the anchors, with theirs from the same table of
publications; five idle figures are from the dashboards.
"""

from __future__ import annotations

import gc
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from analysis.statistics.histogram import place_of
from analysis.study.load import load_study
from analysis.validation.anchor import Figure
from analysis.validation.anchors import ANCHORS
from analysis.validation.published import LOCKS, Column, Locks, published
from sim.record.facts import COUNTER, HISTOGRAM, MOMENTS, MemorySink
from sim.record.histogram import bucket_bounds
from sim.scenario import Scenario
from sim.simulation import run_unit
from sim.units import NS_PER_MS, NS_PER_S

SCENARIOS: Final = Path(__file__).resolve().parents[1] / "scenarios"
STATIONS: Final = (
    "client_cpu", "tidb_cpu", "grpc", "store_cpu", "read_pool", "storage_read_pool", "scheduler",
    "store_poller", "raft_log", "apply",
)  # fmt: skip
TPMC_PER_TXN_PER_S: Final = 60 * 0.45
_NOISE: Final = 0.03
"""Of any figure: two publications of one version differ by 1 to 7 %, a short run by 1 to 2 %."""

REQUESTS: Final = ("lock", "prewrite", "commit", "get")
"""Kinds of requests whose time inside an idle TiKV is published, and fitted to."""

_PICTURE: Final = 0.1
"""Of a figure that was read off a picture, of another cluster: half of its anchor's band."""


@dataclass(frozen=True, slots=True)
class Case:
    """One workload at one number of threads, with what is published of it."""

    workload: str
    """``point_select``, ``update`` or ``tpcc``: what ``--without`` leaves out."""
    file: str
    threads: int
    locks: Locks
    theirs: Mapping[str, Figure]
    """By ``txn_per_s``, ``tpmc``, ``p95_ms``, ``mean_ms``, or ``lock_service_ms`` and its like."""
    warmup_ms: float
    """Threads start spread over 50 ms, the load of the last 50 ms counts, and 400 threads of TPC-C
    take a second to come into their stride."""
    measure_ms: float
    replications: int = 1
    noise: float = _NOISE
    """Standard deviation of the logarithm of any figure, besides that of its publications."""

    @property
    def name(self) -> str:
        """Returns ``tpcc 400 in_memory``; where no locks are asked for their kind says nothing."""
        locks = f" {self.locks}" if self.workload == "tpcc" else ""
        return f"{self.workload} {self.threads}{locks}"


def _sysbench(
    workload: str, threads: int, windows_ms: tuple[float, float], replications: int
) -> Case:
    kind = {"point_select": "point_select", "update": "update_non_index"}[workload]
    columns: tuple[Column, ...] = ("txn_per_s", "p95_ms")
    theirs: dict[str, Figure] = {
        column: published(f"oltp_{kind}", threads, column) for column in columns
    }
    file = f"validation/sysbench_{kind}.yaml"
    return Case(workload, file, threads, "in_memory", theirs, *windows_ms, replications)


def _tpcc(threads: int, locks: Locks, windows_ms: tuple[float, float]) -> Case:
    theirs = {"tpmc": published("tpcc", threads, "tpmc", locks)}
    return Case("tpcc", "tpcc_i3_4xlarge.yaml", threads, locks, theirs, *windows_ms, replications=2)


def _idle(workload: str, file: str, anchors: Mapping[str, str], measure_ms: float) -> Case:
    theirs_of = {each.name: each.theirs for each in ANCHORS}
    theirs = {column: theirs_of[name] for column, name in anchors.items()}
    return Case(
        workload, f"validation/{file}", 1, "in_memory", theirs, 100, measure_ms, noise=_PICTURE
    )


CASES: Final = (
    *(_sysbench("point_select", threads, (200, 100), 2) for threads in (300, 600, 900)),
    *(_sysbench("update", threads, (250, 1_000), 3) for threads in (300, 600, 900)),
    *(_tpcc(50, locks, (600, 3_000)) for locks in LOCKS),
    *(_tpcc(400, locks, (1_400, 2_600)) for locks in LOCKS),
    _idle("tpcc", "tpcc_idle.yaml", {"mean_ms": "TPC-C transaction, one client"}, 3_000),
    _idle(
        "idle",
        "sysbench_idle.yaml",
        {f"{kind}_service_ms": f"{kind} request inside TiKV, idle cluster" for kind in REQUESTS},
        1_000,
    ),
)
"""The ten published cases, and one client alone with TPC-C and with explicit transactions."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run of a case gave."""

    case: Case
    ours: Mapping[str, float]
    busy: Mapping[str, float]
    """Utilisation by station, 0 to 1, over all nodes that have one."""


Overrides = tuple[str, ...]
"""What all cases are run with, as ``--set`` takes it."""


def run_cases(overrides: Overrides, workers: int) -> list[Outcome]:
    """Returns the outcomes of all cases; units run in processes that begin afresh."""
    tasks = [(case, number) for case in CASES for number in range(case.replications)]
    tasks.sort(key=lambda task: -_cost(task[0]))
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        futures = {
            (case.name, number): pool.submit(run_case, case, overrides, number)
            for case, number in tasks
        }
        return [
            _mean_of([futures[case.name, number].result() for number in range(case.replications)])
            for case in CASES
        ]


def _cost(case: Case) -> float:
    busiest = max(case.theirs.get("tpmc", Figure.exactly(0)).value / 10, 1.0)
    return (case.warmup_ms + case.measure_ms) * busiest


def _mean_of(outcomes: Sequence[Outcome]) -> Outcome:
    return Outcome(
        outcomes[0].case,
        {name: fmean(each.ours[name] for each in outcomes) for name in outcomes[0].ours},
        {name: fmean(each.busy[name] for each in outcomes) for name in outcomes[0].busy},
    )


def run_case(case: Case, overrides: Overrides, replication: int) -> Outcome:
    """Runs one unit of a case; the same random numbers whatever the costs."""
    scenario = scenario_of(case, overrides)
    sink = MemorySink()
    gc.disable()
    run_unit(scenario, replication, sink)
    first = (scenario.run.warmup_ns or 0) // scenario.run.window_ns
    counts: Counter[tuple[str, str]] = Counter()
    for window, metric, class_, value in _rows(sink, COUNTER):
        if window >= first:
            counts[metric, class_] += value
    committed = sum(value for (metric, _), value in counts.items() if metric == "txns")
    per_s = committed / (scenario.run.measure_ns / NS_PER_S)
    every = {
        "txn_per_s": per_s,
        "tpmc": per_s * TPMC_PER_TXN_PER_S,
        "p95_ms": _quantile_ms(sink, first, "txn_latency", 0.95),
        "mean_ms": _mean_ms(sink, first, "txn_latency"),
    }
    every |= {
        f"{kind}_service_ms": ns / counts["requests_answered", kind] / NS_PER_MS
        for (metric, kind), ns in counts.items()
        if metric == "request_service_ns"
    }
    busy = {
        name: counts["busy_ns", name] / max(1, counts["capacity_ns", name]) for name in STATIONS
    }
    return Outcome(case, {name: every[name] for name in case.theirs}, busy)


def scenario_of(case: Case, overrides: Overrides) -> Scenario:
    """Returns a case's scenario, shortened."""
    said = [
        f"run.warmup={case.warmup_ms}ms",
        f"run.measure={case.measure_ms}ms",
        "run.window=10ms", "run.replications=1", "run.checks=false",
        *overrides,
    ]  # fmt: skip
    study = load_study(SCENARIOS / case.file, said)
    point = next(
        each for each in study.points if each.get("workload.threads", case.threads) == case.threads
    )
    return study.scenario(point, case.locks)


def _rows(sink: MemorySink, table: str) -> Iterator[tuple[Any, ...]]:
    yield from sink.rows(table)


def _quantile_ms(sink: MemorySink, first: int, metric: str, share: float) -> float:
    buckets: Counter[int] = Counter()
    for window, name, _, bucket, count in _rows(sink, HISTOGRAM):
        if name == metric and window >= first:
            buckets[bucket] += count
    if not buckets:
        return math.nan
    bucket, _ = place_of(share * buckets.total(), buckets)
    return sum(bucket_bounds(bucket)) / 2 / NS_PER_MS


def _mean_ms(sink: MemorySink, first: int, metric: str) -> float:
    rows = [
        (count, total)
        for window, name, _, count, total, _ in _rows(sink, MOMENTS)
        if name == metric and window >= first
    ]
    values = sum(count for count, _ in rows)
    return sum(total for _, total in rows) / values / NS_PER_MS if values else math.nan


def spread_of(case: Case, figure: Figure) -> float:
    """Returns the standard deviation of a published figure's logarithm.

    That of the publications, from their range as if it were two deviations wide, and what any
    figure of the case is uncertain by.
    """
    return math.hypot(math.log(figure.high / figure.low) / 2, case.noise)
