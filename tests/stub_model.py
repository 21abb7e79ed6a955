"""A stand-in for the model: pseudo facts, deterministic, with known ratios between variants.

Lock latencies are lognormal draws shared by all variants (common random numbers) and scaled by the
variant's factor, so the ratio of means is that factor and every pair agrees on it. The first two
windows are slower and carry fewer transactions: a warm-up.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from analysis.study.expectation import Expectation
from analysis.study.load import load_study
from analysis.study.run import RunSection
from analysis.study.study import Study
from sim.record import FactSink, Recorder
from sim.scenario import Scenario
from sim.unit_result import UnitResult

FACTORS = {"sync": 2.0, "pipelined": 1.0, "in_memory": 0.5}
PROPOSED = {"sync": 1.0, "pipelined": 1.0, "in_memory": 0.0}
STATIONS = {"request": 0.3, "scheduler": 0.2, "propose": 0.35, "replicate": 0.15}
LOCKS_PER_TXN = 5
WARMUP_WINDOWS = 2
QUICKSTART = Path(__file__).resolve().parents[1] / "scenarios" / "quickstart.yaml"


@cache
def _quickstart() -> Study:
    return load_study(QUICKSTART)


def quickstart() -> Scenario:
    """Returns the real scenario that stubs differ from in a few values."""
    return next(iter(_quickstart().variants.values()))


def run_settings(**changes: Any) -> RunSection:
    """Returns the times of a stub scenario, and its replications."""
    return replace(
        _quickstart().run,
        **{
            "warmup_ns": 200_000_000,
            "measure_ns": 2_000_000_000,
            "replications": 3,
            "batches": 1,
        }
        | changes,
    )


def claim_that(metric: str, variant: str, **bounds: Any) -> Expectation:
    """Returns one entry of ``expect``."""
    said = {"stat": "mean", "class_": "all", "against": None, "below": None, "above": None}
    return Expectation(metric=metric, variant=variant, **said | bounds)


VARIANTS = {
    "pipelined": {"tikv.pessimistic-txn.in-memory": False},
    "sync": {"tikv.pessimistic-txn.pipelined": False},
    "in_memory": {},
}


def stub_study(
    *,
    name: str = "stub",
    run: RunSection | None = None,
    variants: Iterable[str] = tuple(VARIANTS),
    points: Sequence[dict[str, Any]] = (),
    expect: tuple[Expectation, ...] = (),
) -> Study:
    """Returns a study whose units the stub runs: the real one, with other sections."""
    said = {
        "about": name,
        "run": (run or run_settings()).document(),
        "workload": {"threads": 50},
        "compare": {variant: VARIANTS[variant] for variant in variants},
        "expect": [claim.document() for claim in expect],
    }
    if points:
        said["sweep"] = {"points": list(points)}
    overrides = [f"{key}={json.dumps(value)}" for key, value in said.items()]
    return replace(load_study(QUICKSTART, overrides), name=name)


def run_unit(scenario: Scenario, replication: int, sink: FactSink) -> UnitResult:
    """Leaves pseudo facts for one unit."""
    run = scenario.run
    draws = np.random.Generator(np.random.Philox(key=[run.seed, replication]))
    recorder = Recorder(run.window_ns, sink)
    windows = ((run.warmup_ns or 0) + run.measure_ns) // run.window_ns
    transactions = sum(_window(recorder, scenario, draws, window) for window in range(windows))
    recorder.close(windows * run.window_ns)
    return UnitResult(
        events=transactions * 40,
        transactions=transactions,
        simulated_ns=windows * run.window_ns,
        checked=0,
        violations=(),
    )


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


def fail_in_memory(scenario: Scenario, replication: int, sink: FactSink) -> UnitResult:
    """Fails one variant's units after some facts."""
    if scenario.tikv.lock_mode == "in_memory":
        Recorder(scenario.run.window_ns, sink).close(0)
        raise ValueError("no such disk")
    return run_unit(scenario, replication, sink)


def run_first_round(scenario: Scenario, replication: int, sink: FactSink) -> UnitResult:
    """Ends for the first replication only; the next one waits to be interrupted, on any machine."""
    if replication > 0:
        time.sleep(600)
    return run_unit(scenario, replication, sink)


def run_two_units(scenario: Scenario, replication: int, sink: FactSink) -> UnitResult:
    """Ends for two variants of the first replication only, so that a third unit is left to do."""
    if replication > 0 or scenario.tikv.lock_mode == "in_memory":
        time.sleep(600)
    return run_unit(scenario, replication, sink)
