"""The model against a real etcd: throughput and latency of measured runs, from inputs only.

Inputs are fio's profile of the disk, ping-pong round trips and CPU costs that
``benchmarks.etcd_costs`` derives from CPU seconds. No constant was set by a throughput or a latency
of ``tests/testdata/lab/etcd.json``.

Run it with ``python -m benchmarks.etcd``; 30 s. ``python -m benchmarks.etcd 32 --value 1024 --delay
500`` predicts a run of one's own.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from analysis.statistics.histogram import place_of
from analysis.study.load import load_study
from sim.distributions import Empirical
from sim.etcd.member import Member
from sim.etcd.put import CLASS
from sim.etcd.unit import EtcdUnit
from sim.record.facts import COUNTER, HISTOGRAM, MemorySink
from sim.record.histogram import bucket_bounds
from sim.scenario import Scenario
from sim.unit_result import simulated_ns
from sim.units import NS_PER_S, NS_PER_US

ROOT: Final = Path(__file__).resolve().parents[1]
MEASURED: Final = ROOT / "tests" / "testdata" / "lab" / "etcd.json"
LOOPBACK: Final = ROOT / "scenarios" / "etcd_loopback.yaml"
APART: Final = ROOT / "scenarios" / "etcd_1ms.yaml"
QUANTILES: Final = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
COLUMNS: Final = ("throughput_per_s", *QUANTILES)
_DELAY_US: Final = 500
"""What ``lab_1ms`` delays a message by."""
_WARMUP_NS: Final = NS_PER_S // 2
_MEASURE_NS: Final = 5 * NS_PER_S


@dataclass(frozen=True, slots=True)
class Predicted:
    """What the model says of one run; latencies in us."""

    figures: dict[str, float]
    """By name of ``COLUMNS``."""
    fsyncs_per_put: float
    """Of all three members together."""
    cpu_busy: float


def runs(kind: str = "steady") -> list[dict[str, Any]]:
    """Returns the measured runs: ``steady`` or with leader ``transfers``."""
    found: list[dict[str, Any]] = json.loads(MEASURED.read_text())["runs"]
    return [run for run in found if ("transfers_ms" in run) == (kind == "transfers")]


def scenario_of(run: dict[str, Any], seed: int = 1) -> Scenario:
    """Returns the scenario of a run: clients, value, delay one way in us."""
    delay_us = run["one_way_delay_us"]
    study = load_study(APART if delay_us else LOOPBACK)
    scenario = study.scenario({}, "one_machine")
    network = scenario.hardware.network
    apart = network.cross_zone
    if delay_us and isinstance(apart, Empirical):
        more_ns = 2 * round((delay_us - _DELAY_US) * NS_PER_US)
        apart = Empirical(tuple((share, ns + more_ns) for share, ns in apart.quantiles))
        network = replace(network, cross_zone=apart)
    return replace(
        scenario,
        run=replace(scenario.run, seed=seed, warmup_ns=_WARMUP_NS, measure_ns=_MEASURE_NS),
        hardware=replace(scenario.hardware, network=network),
        workload=replace(scenario.workload, threads=run["clients"], value_bytes=run["value_bytes"]),
    )


def predict(scenario: Scenario) -> Predicted:
    """Runs one unit and reads its facts."""
    sink = MemorySink()
    unit = EtcdUnit(scenario, 0, sink)
    unit.run()
    first = (scenario.run.warmup_ns or 0) // scenario.run.window_ns
    measured_s = (simulated_ns(scenario) - first * scenario.run.window_ns) / NS_PER_S
    puts = _count(sink, first, "txns", CLASS)
    buckets: dict[int, int] = {}
    for window, metric, class_, bucket, count in sink.rows(HISTOGRAM):
        if metric == "txn_latency" and class_ == CLASS and int(window) >= first:
            buckets[int(bucket)] = buckets.get(int(bucket), 0) + int(count)
    figures = {"throughput_per_s": puts / measured_s}
    figures |= {name: _quantile_us(buckets, share) for name, share in QUANTILES.items()}
    busy = _count(sink, first, "busy_ns", "store_cpu")
    return Predicted(
        figures,
        _count(sink, first, "fsyncs", "raft") / puts,
        busy / _count(sink, first, "capacity_ns", "store_cpu"),
    )


@dataclass(frozen=True, slots=True)
class MemberCounts:
    """What a member does, as the model counts it; per put if nothing else is said."""

    fsyncs: float
    turns: float
    raft_bursts: float
    client_bursts: float
    own_ns: float
    """CPU for its heap."""
    looks_per_s: float
    """Of its monitor."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What everybody does, likewise."""

    client_bursts: float
    client_own_ns: float
    client_looks_per_s: float
    leader: MemberCounts
    follower: MemberCounts


def predict_counts(scenario: Scenario) -> Counts:
    """Runs one unit and returns how often its processes do what costs CPU."""
    unit = EtcdUnit(scenario, 0, MemorySink())
    unit.run()
    puts = unit.stats.done.value
    simulated_s = simulated_ns(scenario) / NS_PER_S

    def of(member: Member) -> MemberCounts:
        return MemberCounts(
            member.log.fsyncs / puts,
            member.rounds / puts,
            member.streams.turns / puts,
            member.puts.turns / puts,
            member.process.heap.marked_ns / puts,
            member.process.monitor.looks / simulated_s,
        )

    process = unit.clients.process
    return Counts(
        unit.clients.turns / puts,
        process.heap.marked_ns / puts,
        process.monitor.looks / simulated_s,
        of(unit.cluster.members[1]),
        of(unit.cluster.members[2]),
    )


def _count(sink: MemorySink, first: int, metric: str, class_: str) -> float:
    rows = sink.rows(COUNTER)
    return sum(int(row[3]) for row in rows if row[1:3] == (metric, class_) and int(row[0]) >= first)


def _quantile_us(buckets: dict[int, int], share: float) -> float:
    bucket, _ = place_of(share * sum(buckets.values()), buckets)
    low, high = bucket_bounds(bucket)
    return float((low * high) ** 0.5 / NS_PER_US)


def table() -> tuple[list[str], dict[str, float]]:
    """Returns the lines of measured | predicted | error, and the mean absolute errors."""
    lines = [f"{'run':>12} | " + " | ".join(f"{name:>24}" for name in COLUMNS)]
    errors: dict[str, list[float]] = {name: [] for name in COLUMNS}
    for run in runs():
        figures = predict(scenario_of(run)).figures
        truth = run["latency_us"] | {"throughput_per_s": run["throughput_per_s"]}
        cells = []
        for name in COLUMNS:
            error = figures[name] / truth[name] - 1
            errors[name].append(abs(error))
            cells.append(f"{truth[name]:>8.0f} {figures[name]:>8.0f} {error:>+6.1%}")
        where = "loopback" if not run["one_way_delay_us"] else "1 ms"
        lines.append(f"{where:>8} {run['clients']:>3} | " + " | ".join(cells))
    return lines, {name: sum(each) / len(each) for name, each in errors.items()}


def main() -> None:
    """Prints the table, or one prediction."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clients", type=int, nargs="?", help="predict this many clients instead")
    parser.add_argument("--value", type=int, default=128, help="bytes of a value")
    parser.add_argument("--delay", type=float, default=0, help="between members one way, in us")
    given = parser.parse_args()
    if given.clients is not None:
        run = {"clients": given.clients, "value_bytes": given.value}
        print(predict(scenario_of(run | {"one_way_delay_us": given.delay})))
        return
    lines, errors = table()
    print("\n".join(lines))
    means = ", ".join(f"{name} {error:.1%}" for name, error in errors.items())
    print(f"mean absolute error: {means}; over all {sum(errors.values()) / len(errors):.1%}")


if __name__ == "__main__":
    main()
