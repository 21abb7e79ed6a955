"""A scenario before it runs: what each station will have to do, and what follows from that.

Law: everything is worked out from the mechanism and the constants of the model; nothing is fitted
to its output, and no event loop runs. What changes during a run (crashes, transfers, splits) is
left out: this is the scenario in balance, as it begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from sim.estimate.disk_load import PLACES
from sim.estimate.doubts import Doubt, doubts
from sim.estimate.footprint import Footprint, footprint
from sim.estimate.formulas import in_queue
from sim.estimate.run_cost import RunCost, run_cost
from sim.estimate.throughput import Balance, balance
from sim.estimate.tidb_load import TidbLoad
from sim.scenario.resolved import ETCD
from sim.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sim.scenario.resolved import Scenario

LockPath = Literal["sync", "pipelined", "in_memory"]

SATURATED: Final = 0.9
"""A station that is busier than this decides alone, and estimates are no more than a hint."""


@dataclass(frozen=True, slots=True)
class Station:
    """One kind of station, over all nodes that have one."""

    name: str
    utilisation: float
    """Busy time over all servers' time; above 1: it cannot do what is asked."""
    servers: int
    """Of one node."""
    service_ms: float
    """Mean time of one job."""
    queue: float | None
    """Jobs of one node that wait, on average; None: it has no queue of its own."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What to expect of one unit."""

    arrivals: Literal["open", "closed"]
    txn_per_s: float
    """Committed."""
    response_ms: float
    """Of a transaction, mean."""
    stations: tuple[Station, ...]
    bottleneck: str
    lock_path: LockPath
    lock_latency_ms: float | None
    """As TiDB sees it, mean; None: the workload takes no pessimistic locks."""
    lock_refused: float
    """Share of the lock requests that find no room in memory."""
    locks_per_txn: float
    """Lock requests."""
    write_bytes_per_txn: Mapping[str, float]
    """By place (``raft_log``, ``kv_wal``, ``flush``, ``compaction``), over all stores."""
    proposals_per_txn: float
    fsyncs_per_s: float
    regions: int
    cost: RunCost
    doubts: tuple[Doubt, ...]

    @property
    def bytes_per_txn(self) -> float:
        """Bytes that all disks write per transaction."""
        return sum(self.write_bytes_per_txn.values())

    @property
    def busiest(self) -> Station:
        """The bottleneck."""
        return next(each for each in self.stations if each.name == self.bottleneck)

    @property
    def is_saturated(self) -> bool:
        """Whether a station is too busy for the estimate to be more than a hint."""
        return self.busiest.utilisation > SATURATED


def estimate(scenario: Scenario, drawn: Footprint | None = None) -> Estimate:
    """Returns what to expect of a scenario.

    Args:
        scenario: one variant at one point.
        drawn: its footprint, where it is known; scenarios that differ in lock mode, hardware or
            load share one (``same_footprint``).
    """
    made = drawn or footprint(scenario)
    found = balance(scenario, made)
    stations = _stations(scenario, made, found)
    busiest = max(stations, key=lambda each: each.utilisation)
    committed = found.txn_per_s * made.committed
    places = found.store.disk.places(found.load)
    lock = found.times.requests.get("lock")
    if scenario.workload.threads is None:
        response_ns = found.times.transaction
    else:
        response_ns = scenario.workload.threads / found.txn_per_s * NS_PER_S - found.think_ns
    return Estimate(
        arrivals="open" if scenario.workload.threads is None else "closed",
        txn_per_s=committed,
        response_ms=response_ns / NS_PER_MS,
        stations=tuple(stations),
        bottleneck=busiest.name,
        lock_path=_lock_path(scenario, found),
        lock_latency_ms=lock.mean / NS_PER_MS if lock is not None else None,
        lock_refused=found.store.lock_share if found.in_memory else 0.0,
        locks_per_txn=made.lock_requests,
        write_bytes_per_txn={
            place: places[place] * scenario.cluster.stores / committed for place in PLACES
        },
        proposals_per_txn=found.store.commands / made.committed,
        fsyncs_per_s=found.load.fsyncs_per_s * scenario.cluster.stores,
        regions=len(made.regions.routes),
        cost=run_cost(scenario, made, found),
        doubts=doubts(scenario, made, found, busiest.name, busiest.utilisation),
    )


def has_estimate(scenario: Scenario) -> bool:
    """Returns whether a scenario has transactions on TiKV; etcd's puts have no estimate."""
    return scenario.workload.kind != ETCD


def same_footprint(one: Scenario, other: Scenario) -> bool:
    """Returns whether two scenarios ask for the same: statements, regions, records, misses."""
    return (
        one.workload == other.workload
        and one.run.seed == other.run.seed
        and one.cluster == other.cluster
        and one.tikv.behaviour == other.tikv.behaviour
        and one.tikv.region_split_size_bytes == other.tikv.region_split_size_bytes
        and one.hardware.store_memory_bytes == other.hardware.store_memory_bytes
    )


def _lock_path(scenario: Scenario, found: Balance) -> LockPath:
    if found.in_memory:
        return "in_memory"
    return "pipelined" if scenario.tikv.pipelined else "sync"


def _stations(scenario: Scenario, made: Footprint, found: Balance) -> list[Station]:
    load = found.load
    stations = [
        Station(
            name, load.busy[name] / load.servers[name], load.servers[name], *_queue(name, found)
        )
        for name in load.busy
    ]
    tidb = TidbLoad(scenario)
    statements_per_s = found.txn_per_s * (made.statements + found.times.retries)
    service_ms = tidb.times_ns(statements_per_s)[0] / NS_PER_MS
    stations.append(
        Station(
            "tidb_cpu", tidb.utilisation(statements_per_s), tidb.threads, service_ms,
            tidb.queue(statements_per_s),
        )
    )  # fmt: skip
    return sorted(stations, key=lambda each: ORDER.index(each.name))


ORDER: Final = (
    "tidb_cpu", "store_cpu", "scheduler", "read_pool", "store_poller", "raft_log", "apply",
    "raft_disk", "kv_disk",
)  # fmt: skip
"""Stations in the order in which a transaction meets them."""


def _queue(name: str, found: Balance) -> tuple[float, float | None]:
    """Returns (mean service in ms, mean number that waits) of a station of a store."""
    load = found.load
    busy, servers = load.busy[name], load.servers[name]
    if name == "store_cpu":
        jobs = load.requests_per_s
        return (busy / jobs * 1e3 if jobs else 0.0), None
    if name == "store_poller":
        return load.round_ns() / NS_PER_MS, load.pollers.waiting
    if name == "raft_log":
        writing = load.pollers.in_write - load.busy["raft_log"]
        return load.write_ns / NS_PER_MS, max(0.0, writing) if load.pollers.in_write else None
    if name == "apply":
        applied = busy / load.apply_ns if load.apply_ns else 0.0
        return load.apply_ns / NS_PER_MS, applied * load.apply_wait_ns
    if name in ("raft_disk", "kv_disk"):
        ios = found.store.disk.ios_per_s(load, name)
        queue = in_queue(1, min(busy, 0.999), 0.5)
        return (busy / ios * 1e3 if ios else 0.0), queue
    kinds = ("get", "batch_get", "cop") if name == "read_pool" else (
        "lock", "prewrite", "commit", "rollback",
    )  # fmt: skip
    requests = found.store.footprint.requests
    jobs = sum(requests[kind].count for kind in kinds if kind in requests)
    jobs *= found.txn_per_s / found.store.scenario.cluster.stores
    return (busy / jobs * 1e3 if jobs else 0.0), in_queue(servers, min(busy, 0.999 * servers))
