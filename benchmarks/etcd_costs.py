"""CPU costs of an etcd member and its clients from CPU seconds: where ``hardware.etcd`` is from.

For each run, how often a process reads, writes and turns its raft loop is counted in the model and
scaled to the fsyncs that were measured; entries, requests, fsyncs and seconds are the servers' own
counts. Then least squares, without negative costs, over all processes of all steady runs::

    cpu_s = burst x bursts + request x requests + client x requests + round x turns
          + entry x entries + process_share x seconds
          + sync x fsyncs + watch x looks + marking

The last three are not fitted: ``sync`` is what fio's thread uses of the CPU for a write and its
fdatasync, ``watch`` and the marking of heaps are measured on etcd itself. No throughput and no
latency is read. The counts depend a little on the costs: two rounds are enough.

Run it with ``python -m benchmarks.etcd_costs``; 90 s.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from scipy.optimize import nnls

from benchmarks.etcd import predict_counts, runs, scenario_of
from sim.scenario.schema.etcd import EtcdCosts

COSTS: Final = ("burst", "request", "client", "round", "entry", "process_share")
_ROUNDS: Final = 2
_NS_PER_S: Final = 1e9


def derived(costs: EtcdCosts) -> tuple[dict[str, float], list[tuple[str, float, float]]]:
    """Returns costs in ns (``process_share`` in cores), and what they explain.

    The second value has a line a process: its name, its CPU seconds, and those by the costs.
    """
    names: list[str] = []
    uses: list[list[float]] = []
    seconds: list[float] = []
    known: list[float] = []
    for run in runs():
        for name, use, cpu_s, known_s in _processes(run, costs):
            names.append(f"{name}, {run['clients']} clients, {run['one_way_delay_us']} us")
            uses.append(use)
            seconds.append(cpu_s)
            known.append(known_s)
    matrix = np.array(uses)
    found, _ = nnls(matrix, np.array(seconds) - np.array(known))
    explained = matrix @ found + np.array(known)
    by_name = {name: float(each) for name, each in zip(COSTS, found, strict=True)}
    by_name |= {name: by_name[name] * _NS_PER_S for name in COSTS[:-1]}
    return by_name, list(zip(names, seconds, explained.tolist(), strict=True))


def _processes(
    run: dict[str, Any], costs: EtcdCosts
) -> list[tuple[str, list[float], float, float]]:
    """Returns each process: name, uses in the order of ``COSTS``, CPU seconds, known ones."""
    scenario = scenario_of(run)
    costs = replace(costs, relay_ns=scenario.hardware.etcd.relay_ns)  # The run's own.
    hardware = replace(scenario.hardware, etcd=costs)
    counts = predict_counts(replace(scenario, hardware=hardware))
    puts = run["ops"] * run["client_s"] / run["measured_s"]
    use = [counts.client_bursts * puts, 0, puts, 0, 0, run["client_s"]]
    known_ns = counts.client_looks_per_s * run["client_s"] * costs.watch_ns
    known_ns += counts.client_own_ns * puts
    rows: list[tuple[str, list[float], float, float]] = [
        ("clients", use, run["client_cpu_s"], known_ns / _NS_PER_S)
    ]
    for member in run["members"]:
        leads = member["leader"]
        of = counts.leader if leads else counts.follower
        entries, fsyncs = member["proposals_applied"], member["wal_fsyncs"]
        per_fsync = fsyncs / of.fsyncs
        bursts = of.raft_bursts * per_fsync + of.client_bursts * entries
        use = [bursts, entries * leads, 0, of.turns * per_fsync, entries, run["wall_s"]]
        name = "leader" if leads else "follower"
        known_ns = (fsyncs + 2 * member["backend_commits"]) * costs.sync_ns
        known_ns += of.looks_per_s * run["wall_s"] * costs.watch_ns + of.own_ns * entries
        rows.append((name, use, member["cpu_s"], known_ns / _NS_PER_S))
    return rows


def kernel_share() -> float:
    """Returns what no process gets of two cores while all want more, in cores."""
    loopback = [run for run in runs() if not run["one_way_delay_us"]]
    busiest = max(loopback, key=lambda run: int(run["clients"]))
    used = sum(member["cpu_s"] for member in busiest["members"]) / busiest["wall_s"]
    return float(2 - used - busiest["client_cpu_s"] / busiest["client_s"])


def main() -> None:
    """Prints the costs and how well they explain each process."""
    costs = scenario_of(runs()[0]).hardware.etcd
    explained: list[tuple[str, float, float]] = []
    for _ in range(_ROUNDS):
        by_name, explained = derived(costs)
        share = by_name["process_share"]
        fitted = {f"{name}_ns": round(by_name[name]) for name in COSTS[:-1]}
        costs = replace(costs, process_share=share, **fitted)
        print(", ".join(f"{name} {ns / 1000:.1f} us" for name, ns in list(by_name.items())[:-1]))
        print(f"process_share {share:.3f}, kernel_share {kernel_share():.3f}")
    for name, measured, by_costs in explained:
        print(f"{name:>32} {measured:6.2f} s, by these costs {by_costs / measured - 1:+.0%}")


if __name__ == "__main__":
    main()
