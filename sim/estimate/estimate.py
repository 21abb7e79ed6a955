"""A scenario before it runs: what each station will have to do, and what follows from that.

Everything is worked out from the mechanism and the constants of the model; nothing is fitted to its
output, and no event loop runs. What changes during a run (crashes, transfers, splits) is left out:
this is the scenario in balance, as it begins.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from sim.estimate.footprint import Footprint, footprint_of
from sim.estimate.left_out import left_out
from sim.estimate.load_warnings import LoadWarning, load_warnings
from sim.estimate.machines import client_machine
from sim.estimate.planned_request import RequestKind
from sim.estimate.ports import tidb_traffic
from sim.estimate.run_cost import RunCost, run_cost
from sim.estimate.station_load import StationLoad
from sim.estimate.store_shares import UNEVEN
from sim.estimate.throughput import Balance, balance_of
from sim.fact_names import LOG_WRITER
from sim.scenario.resolved import Scenario
from sim.scenario.schema.arrival import ETCD
from sim.scenario.schema.tikv import LockMode
from sim.units import NS_PER_MS, NS_PER_S

_SATURATED: Final = 0.9
"""A station that is busier than this decides alone, and estimates are no more than a hint."""

_MOST_KEPT: Final = 24
"""Footprints that are kept to be shared."""


@dataclass(frozen=True, slots=True)
class Station:
    """One kind of station, over all nodes that have one."""

    name: str
    utilisation: float
    """Busy time over all servers' time; above 1: it cannot do what is asked."""
    servers: int
    """Of one node."""
    service_ms: float | None
    """Mean time of one job; None: nothing is in balance."""
    queue: float | None
    """Jobs of one node that wait, on average; None: it has no queue of its own, or it grows."""
    fullest: float | None = None
    """Utilisation at the store with the most to do, and of the apply thread with the hottest
    region; None: not much more."""

    @property
    def used(self) -> float:
        """Utilisation where it is greatest."""
        return self.fullest or self.utilisation


@dataclass(frozen=True, slots=True)
class Estimate:
    """What to expect of one unit."""

    arrivals: Literal["open", "closed"]
    txn_per_s: float
    """Committed; of a scenario that is not in balance, what is asked for."""
    response_ms: float | None
    """Of a transaction, mean; None: it is not in balance."""
    stations: tuple[Station, ...]
    bottleneck: str
    """The busiest station, the log's writer aside."""
    in_rounds: float
    """Share of the time that store pollers are in a round, their waits for the log included."""
    lock_path: LockMode
    request_latency_ms: Mapping[RequestKind, float]
    """As TiDB sees it, mean, of each kind that there is; none if it is not in balance."""
    request_service_ms: Mapping[RequestKind, float]
    """The part of it inside the store."""
    lock_refused: float
    """Share of the lock requests that find no room in memory."""
    locks_per_txn: float
    """Lock requests."""
    write_bytes_per_txn: Mapping[str, float]
    """By place (``raft_log``, ``kv_wal``, ``flush``, ``compaction``), over all stores; none if it
    is not in balance, since bytes depend on how many writes join a group."""
    proposals_per_txn: float
    fsyncs_per_s: float | None
    """None: it is not in balance."""
    regions: int
    cost: RunCost
    warnings: tuple[LoadWarning, ...]
    left_out: tuple[str, ...]
    """What the simulation does and these figures leave out, as far as the scenario has it."""

    @property
    def lock_latency_ms(self) -> float | None:
        """Of a lock request; None: it takes no pessimistic locks, or is not in balance."""
        return self.request_latency_ms.get("lock")

    @property
    def in_balance(self) -> bool:
        """Whether every station can do what is asked; otherwise queues grow without end."""
        return self.arrivals == "closed" or self.busiest.used <= 1

    @property
    def bytes_per_txn(self) -> float | None:
        """Bytes that all disks write per transaction; None: it is not in balance."""
        return sum(self.write_bytes_per_txn.values()) if self.write_bytes_per_txn else None

    @property
    def busiest(self) -> Station:
        """The bottleneck."""
        return next(each for each in self.stations if each.name == self.bottleneck)

    @property
    def is_saturated(self) -> bool:
        """Whether a station is too busy for the estimate to be more than a hint."""
        return max(self.busiest.used, self.in_rounds) > _SATURATED


def estimate(scenario: Scenario, drawn: Footprint | None = None) -> Estimate:
    """Returns what to expect of a scenario.

    Args:
        scenario: one variant at one point.
        drawn: its footprint, where it is known; scenarios that differ in lock mode, hardware or
            load share one (``same_footprint``).
    """
    footprint = drawn or footprint_of(scenario)
    balance = balance_of(scenario, footprint)
    stations = _stations(scenario, footprint, balance)
    busiest = max(
        (each for each in stations if each.name != LOG_WRITER), key=lambda each: each.used
    )
    in_rounds = balance.load.pollers.busy / scenario.tikv.store_pool_size
    committed = balance.txn_per_s * footprint.committed
    stores, threads = scenario.cluster.stores, scenario.workload.threads
    response_ns = balance.response.transaction
    if threads is not None:
        response_ns = threads / balance.txn_per_s * NS_PER_S - balance.think_ns
    path = scenario.tikv.lock_mode
    whole = Estimate(
        arrivals="open" if threads is None else "closed",
        txn_per_s=committed,
        response_ms=response_ns / NS_PER_MS,
        stations=stations,
        bottleneck=busiest.name,
        in_rounds=in_rounds,
        lock_path="pipelined" if path == "in_memory" and not balance.in_memory else path,
        request_latency_ms={kind: ns / NS_PER_MS for kind, ns in balance.response.requests.items()},
        request_service_ms={kind: ns / NS_PER_MS for kind, ns in balance.response.services.items()},
        lock_refused=balance.store.lock_share if balance.in_memory else 0.0,
        locks_per_txn=footprint.lock_requests,
        write_bytes_per_txn={
            place: size * stores / committed for place, size in balance.load.disk.places().items()
        },
        proposals_per_txn=balance.store.proposed.count / footprint.committed,
        fsyncs_per_s=balance.load.fsyncs_per_s * stores,
        regions=len(footprint.regions.routes),
        cost=run_cost(scenario, footprint, balance),
        warnings=tuple(
            load_warnings(scenario, footprint, balance, _with_limit(busiest, balance), busiest.used)
        ),
        left_out=tuple(left_out(scenario, footprint, max(busiest.used, in_rounds))),
    )
    return whole if whole.in_balance else _out_of_balance(whole)


def _with_limit(busiest: Station, balance: Balance) -> str:
    """Returns a station's name, and of a disk which of its limits is near."""
    disk = balance.store.disk
    spec = disk.by_station.get(busiest.name)
    where = "" if busiest.fullest is None else " of the fullest store"
    if spec is None:
        return busiest.name + where
    return f"{busiest.name}{where} ({disk.limit(balance.load.disk, spec)})"


def _out_of_balance(found: Estimate) -> Estimate:
    """Returns what is known where queues grow without end: demands, but no time and no rate.

    How busy the writer of the log would be is not known either: the more wait, the more it takes at
    a time. Of the warnings only that on the load is about something.
    """
    stations = tuple(
        replace(each, service_ms=None, queue=None)
        for each in found.stations
        if each.name != LOG_WRITER
    )
    return replace(
        found,
        response_ms=None,
        request_latency_ms={},
        request_service_ms={},
        stations=stations,
        write_bytes_per_txn={},
        fsyncs_per_s=None,
        warnings=tuple(each for each in found.warnings if each.place == "workload.rate"),
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


class Estimates:
    """Estimates of scenarios, which take what is drawn of a workload from those that share it."""

    def __init__(self) -> None:
        self._drawn: list[tuple[Scenario, Footprint]] = []

    def of(self, scenario: Scenario) -> Estimate:
        """Returns what to expect of a scenario."""
        drawn = next((each for one, each in self._drawn if same_footprint(one, scenario)), None)
        if drawn is None:
            drawn = footprint_of(scenario)
            self._drawn = [*self._drawn[1 - _MOST_KEPT :], (scenario, drawn)]
        return estimate(scenario, drawn)


_ORDER: Final = (
    "client_cpu", "tidb_cpu", "tidb_network", "grpc", "store_cpu", "scheduler", "read_pool",
    "storage_read_pool", "store_poller", "raft_log", "apply", "raft_disk", "kv_disk",
    "store_network",
)  # fmt: skip
"""Stations in the order in which a transaction meets them."""


def _stations(scenario: Scenario, footprint: Footprint, balance: Balance) -> tuple[Station, ...]:
    stations = {
        name: _station(name, pool, _where_fullest(name, balance))
        for name, pool in balance.load.stations.items()
    }
    rate = balance.txn_per_s
    for name, machines in (
        ("client_cpu", client_machine(scenario, footprint)),
        ("tidb_cpu", balance.tidb),
    ):
        stations[name] = Station(
            name,
            machines.utilisation(rate),
            machines.threads,
            machines.service_ns(rate) / NS_PER_MS,
            machines.queue(rate),
        )
    port = tidb_traffic(scenario, footprint).port(rate)
    stations["tidb_network"] = _station("tidb_network", port, None)
    return tuple(stations[name] for name in _ORDER if name in stations)


def _station(name: str, load: StationLoad, fullest: float | None) -> Station:
    used, service_ms = load.busy / load.servers, load.service_ns / NS_PER_MS
    return Station(name, used, load.servers, service_ms, load.queue, fullest)


def _where_fullest(name: str, balance: Balance) -> float | None:
    """Returns how busy a station is at the fullest store, if that is much more than on average."""
    fullest = balance.fullest or balance.load
    mean, pool = balance.load.stations[name], fullest.stations[name]
    used = pool.busy / pool.servers
    if name == "apply":
        used = max(used, fullest.hottest_applies)
    return used if used > UNEVEN * mean.busy / mean.servers else None
