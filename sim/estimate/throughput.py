"""How many transactions a second: given in an open loop, a fixed point in a closed one.

Response time law (Denning, Buzen 1978): throughput x (response + think time) = clients. The
response grows with the throughput, so there is one answer, below the asymptotic bound, clients /
(response of an idle cluster + think time).
"""

from dataclasses import dataclass
from typing import Final

from sim.distributions import mean_ns
from sim.estimate.fixed_point import fixed_point
from sim.estimate.footprint import Footprint
from sim.estimate.machines import MachineKind, client_machine, tidb_nodes
from sim.estimate.ports import tidb_traffic
from sim.estimate.regions import refused_by_memory
from sim.estimate.response import Response, ResponseTimes
from sim.estimate.station_load import MOST_USED
from sim.estimate.store import StoreModel
from sim.estimate.store_load import StoreLoad
from sim.scenario.resolved import Scenario
from sim.scenario.versions import IN_MEMORY_SINCE, parse_version
from sim.units import NS_PER_S

_CLOSE: Final = 0.001
_IDLE_PER_S: Final = 1e-3
_NEAR: Final = 0.9
"""Share of a rate from which on the figures of a lower one are a good guess; where there are two
balances, those of a higher one would lead to the busier."""
_MEMORY_STEPS: Final = 3
_SAME_SHARE: Final = 0.002


@dataclass(frozen=True, slots=True)
class Balance:
    """A scenario in balance."""

    txn_per_s: float
    """Begun, and so ended, per second."""
    load: StoreLoad
    response: Response
    store: StoreModel
    tidb: MachineKind
    """The TiDB nodes, with lock requests that are sent again."""
    in_memory: bool
    think_ns: float
    fullest: StoreLoad | None = None
    """The load of the store with the most to do; None: all stores are alike."""

    @property
    def stores_used(self) -> float:
        """Share of what it can do that the busiest station of any store is asked for."""
        return max(self.load.used, self.fullest.used if self.fullest else 0.0)


def locks_stay_in_memory(scenario: Scenario) -> bool:
    """Returns whether stores keep locks in memory when the run begins (switches, feature gate)."""
    tikv = scenario.tikv
    oldest = min(map(parse_version, scenario.cluster.store_versions))
    return tikv.lock_mode == "in_memory" and (oldest >= IN_MEMORY_SINCE or tikv.force_in_memory)


def balance_of(scenario: Scenario, footprint: Footprint) -> Balance:
    """Returns a scenario's throughput with the load and the times that go with it."""
    in_memory = locks_stay_in_memory(scenario)
    think = scenario.workload.think_time
    think_ns = mean_ns(think) if think and scenario.workload.threads else 0.0
    times = ResponseTimes(scenario, footprint, in_memory=in_memory)
    lock_share = 0.0 if in_memory else 1.0
    balance = _balance(StoreModel(scenario, footprint, lock_share), times, think_ns)
    for _ in range(_MEMORY_STEPS if in_memory else 0):
        held_s = (balance.response.held + balance.response.lock) / NS_PER_S
        groups, before = footprint.region_groups, lock_share
        lock_share = refused_by_memory(scenario, groups, balance.txn_per_s, held_s)
        if abs(lock_share - before) < _SAME_SHARE:
            break
        balance = _balance(StoreModel(scenario, footprint, lock_share), times, think_ns)
    return balance


def _balance(store: StoreModel, times: ResponseTimes, think_ns: float) -> Balance:
    """Returns the balance of a scenario whose lock tables refuse a given share."""
    scenario = store.scenario
    workload = scenario.workload
    footprint, other = store.footprint, store.of_fullest()
    client, tidb = client_machine(scenario, footprint), tidb_nodes(scenario, footprint)
    port, in_memory = tidb_traffic(scenario, footprint).port(), locks_stay_in_memory(scenario)
    tried: list[Balance] = []

    def at(txn_per_s: float) -> Balance:
        below = [each for each in tried if _NEAR * txn_per_s < each.txn_per_s <= txn_per_s]
        near = max(below, key=lambda each: each.txn_per_s) if below else None
        opening = tidb.opening(txn_per_s)
        load = store.at(txn_per_s, opening=opening, near=near.load if near else None)
        response, nodes = times.at(store, load), tidb
        if response.retries:
            nodes = tidb_nodes(scenario, footprint, response.retries)
            opening = nodes.opening(txn_per_s)
            load = store.at(txn_per_s, response.retries, opening, near=load)
        full = None
        if other is not None:
            before = near.fullest if near else None
            full = other.at(txn_per_s, response.retries, opening, near=before)
            response = response.or_at(times.at(other, full, load), other.part)
        tried.append(Balance(txn_per_s, load, response, store, nodes, in_memory, think_ns, full))
        return tried[-1]

    def used(balance: Balance) -> float:
        rate = balance.txn_per_s
        nodes = max(client.used(rate), balance.tidb.used(rate), rate * port.busy)
        return max(balance.stores_used, nodes)

    def bounded(txn_per_s: float) -> float:
        balance = at(txn_per_s)
        law = threads * NS_PER_S / (balance.response.transaction + think_ns)
        return min(law, txn_per_s * MOST_USED / used(balance))

    if workload.threads is None:
        assert workload.rate_per_s is not None, "a workload has threads or a rate"
        return at(workload.rate_per_s)
    threads = workload.threads
    idle = at(_IDLE_PER_S)
    most = threads * NS_PER_S / (idle.response.transaction + think_ns)
    guess = min(most / 2, idle.txn_per_s * MOST_USED / used(idle))
    fixed_point(bounded, guess, close=_CLOSE, least=_IDLE_PER_S, most=most)
    return tried[-1]
