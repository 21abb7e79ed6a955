"""A stand-in for the model: pseudo facts, deterministic, with known ratios between variants.

Lock latencies are lognormal draws shared by all variants (common random numbers) and scaled by the
variant's factor, so the ratio of means is that factor and every pair agrees on it. The first two
windows are slower and carry fewer transactions: a warm-up.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sim.record import FactSink, Recorder
from sim.scenario import Capacity, Expectation, Precision, Scenario, Sensitivity, load_study
from sim.scenario.schema.run import Run

FACTORS = {"sync": 2.0, "pipelined": 1.0, "in_memory": 0.5}
PROPOSED = {"sync": 1.0, "pipelined": 1.0, "in_memory": 0.0}
STATIONS = {"request": 0.3, "scheduler": 0.2, "propose": 0.35, "replicate": 0.15}
LOCKS_PER_TXN = 5
WARMUP_WINDOWS = 2
QUICKSTART = Path(__file__).resolve().parents[1] / "scenarios" / "quickstart.yaml"


@cache
def quickstart() -> Scenario:
    """Returns the real scenario that stubs differ from in a few values."""
    return next(iter(load_study(QUICKSTART).variants.values()))


def run_settings(**changes: Any) -> Run:
    """Returns the times of a stub scenario."""
    return replace(
        quickstart().run,
        **{"warmup_ns": 200_000_000, "measure_ns": 2_000_000_000, "replications": 3} | changes,
    )


def claim_that(metric: str, variant: str, **bounds: Any) -> Expectation:
    """Returns one entry of ``expect``."""
    said = {"stat": "mean", "class_": "all", "against": None, "below": None, "above": None}
    return Expectation(metric=metric, variant=variant, **said | bounds)


@dataclass(frozen=True)
class StubStudy:
    """Satisfies ``analysis.study.plan.ResolvedStudy``."""

    name: str = "stub"
    run: Run = field(default_factory=run_settings)
    variants: dict[str, None] = field(
        default_factory=lambda: dict.fromkeys(("pipelined", "sync", "in_memory"))
    )
    points: tuple[dict[str, Any], ...] = ({},)
    skipped: int = 0
    expect: tuple[Expectation, ...] = ()
    precision: Precision | None = None
    capacity: Capacity | None = None
    sensitivity: Sensitivity | None = None
    contours: dict[str, float] = field(default_factory=dict)

    @property
    def replications(self) -> int:
        """Returns the replications of the first round."""
        return self.run.replications

    def scenario(self, point: dict[str, Any], variant: str) -> Scenario:
        """Returns the scenario of a unit; what it is about is the study's name."""
        real = quickstart()
        in_memory, pipelined = variant == "in_memory", variant != "sync"
        return replace(
            real,
            about=self.name,
            run=self.run,
            tikv=replace(real.tikv, in_memory=in_memory, pipelined=pipelined),
            workload=replace(real.workload, threads=point.get("workload.threads", 50)),
        )

    def document(self, point: dict[str, Any], variant: str) -> dict[str, Any]:
        """Returns a scenario with all its keys, of another study."""
        study = load_study(QUICKSTART)
        return study.document(study.points[0], next(iter(study.variants)))

    def config_hash(self, point: dict[str, Any], variant: str, replication: int) -> str:
        """Returns the hash of what tells units apart."""
        threads = point.get("workload.threads", 50)
        what = f"{variant} {threads} {replication} {self.run}"
        return hashlib.sha256(what.encode()).hexdigest()

    def resolved_yaml(self) -> str:
        """Returns something to write."""
        return "about: stub\n"


@dataclass(frozen=True)
class StubResult:
    """Satisfies ``UnitResult``."""

    events: int
    transactions: int
    simulated_ns: int
    violations: list[str]


def run_unit(scenario: Scenario, replication: int, sink: FactSink) -> StubResult:
    """Leaves pseudo facts for one unit."""
    run = scenario.run
    draws = np.random.Generator(np.random.Philox(key=[run.seed, replication]))
    recorder = Recorder(run.window_ns, sink)
    windows = ((run.warmup_ns or 0) + run.measure_ns) // run.window_ns
    transactions = sum(_window(recorder, scenario, draws, window) for window in range(windows))
    recorder.close(windows * run.window_ns)
    return StubResult(transactions * 40, transactions, windows * run.window_ns, [])


def _window(recorder: Recorder, scenario: Scenario, draws: np.random.Generator, window: int) -> int:
    slow = 3.0 if window < WARMUP_WINDOWS else 1.0
    commits = int(draws.poisson((scenario.workload.threads or 0) / slow))
    unit_draws = draws.lognormal(13.5, 0.6, commits * LOCKS_PER_TXN)
    variant = scenario.tikv.lock_mode
    latencies = [int(draw * slow * FACTORS[variant]) for draw in unit_draws.tolist()]
    _record_locks(recorder, variant, latencies)
    _record_transactions(recorder, variant, commits, sum(latencies))
    recorder.roll((window + 1) * scenario.run.window_ns)
    return commits


def _record_locks(recorder: Recorder, variant: str, latencies: list[int]) -> None:
    latency = recorder.series("lock_latency", variant)
    service = recorder.series("lock_service", variant)
    for value in latencies:
        latency.add(value)
        service.add(value // 2)
    for station, share in STATIONS.items():
        spent = int(sum(latencies) * share)
        recorder.counter("lock_station_ns", f"{variant}/{station}").value += spent
    recorder.counter("locks_total", variant).value += len(latencies)


def _record_transactions(recorder: Recorder, variant: str, commits: int, locked_ns: int) -> None:
    recorder.counter("txns", "new_order").value += commits // 2
    recorder.counter("txns", "payment").value += commits - commits // 2
    for _ in range(commits):
        recorder.series("txn_latency", "new_order").add(10_000_000 + locked_ns // max(commits, 1))
    written = recorder.counter
    written("disk_write_bytes", "raft_log/lock").value += int(9_000 * commits * PROPOSED[variant])
    written("disk_write_bytes", "raft_log/prewrite").value += 20_000 * commits
    written("disk_write_bytes", "kv_wal/commit").value += 16_000 * commits
    written("disk_write_bytes", "flush/commit").value += 30_000 * commits
    written("fsyncs", "raft").value += commits * 6
    written("lock_rpcs").value += commits * LOCKS_PER_TXN
    written("busy_ns", "store_poller").value += 70_000_000
    written("capacity_ns", "store_poller").value += 100_000_000
    written("busy_ns", "raft_disk").value += 30_000_000
    written("capacity_ns", "raft_disk").value += 100_000_000


def fail_in_memory(scenario: Scenario, replication: int, sink: FactSink) -> StubResult:
    """Fails one variant's units after some facts."""
    if scenario.tikv.lock_mode == "in_memory":
        Recorder(scenario.run.window_ns, sink).close(0)
        raise ValueError("no such disk")
    return run_unit(scenario, replication, sink)


def run_first_round(scenario: Scenario, replication: int, sink: FactSink) -> StubResult:
    """Ends for the first replication only; the next one waits to be interrupted, on any machine."""
    if replication > 0:
        time.sleep(600)
    return run_unit(scenario, replication, sink)
