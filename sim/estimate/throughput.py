"""How many transactions a second: given in an open loop, a fixed point in a closed one.

Law (response time law, Denning and Buzen 1978): throughput x (response + think time) = clients. The
response grows with the throughput, so there is one answer, found between two rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sim.distributions import mean_ns
from sim.estimate.paths import Paths, Times
from sim.estimate.region_activity import refused_by_memory
from sim.estimate.store_load import StoreLoad
from sim.estimate.store_model import StoreModel
from sim.estimate.tidb_load import TidbLoad
from sim.pd.placement import IN_MEMORY_SINCE, parse_version
from sim.units import NS_PER_S

if TYPE_CHECKING:
    from sim.estimate.footprint import Footprint
    from sim.scenario.resolved import Scenario

_MOST_TRIES: Final = 14
_MEMORY_STEPS: Final = 2
_MOST_POLISHING: Final = 8
_TOO_MANY: Final = 1.05
_SMALLEST_STEP: Final = 0.97
_CLOSE: Final = 0.005
_MOST_STEPS: Final = 16
_STILL: Final = 0.004
"""What a step may move of a load that is settled, as a share."""

_NEARLY_FULL: Final = 0.985


@dataclass(frozen=True, slots=True)
class Balance:
    """A scenario in balance."""

    txn_per_s: float
    """Begun, and so ended, per second."""
    load: StoreLoad
    times: Times
    store: StoreModel
    in_memory: bool
    think_ns: float


def locks_stay_in_memory(scenario: Scenario) -> bool:
    """Returns whether stores keep locks in memory when the run begins (switches, feature gate)."""
    tikv = scenario.tikv
    oldest = min(map(parse_version, scenario.cluster.store_versions))
    is_open = oldest >= IN_MEMORY_SINCE or tikv.force_in_memory
    return tikv.pipelined and tikv.in_memory and is_open


class _Scale:
    """A scenario to be put in balance."""

    def __init__(self, scenario: Scenario, footprint: Footprint) -> None:
        self._scenario = scenario
        self._footprint = footprint
        self.in_memory = locks_stay_in_memory(scenario)
        self.known: StoreLoad | None = None
        self._tidb = TidbLoad(scenario)
        self._take(0.0 if self.in_memory else 1.0)

    def _take(self, lock_share: float) -> None:
        self.store = StoreModel(self._scenario, self._footprint, lock_share)
        self.paths = Paths(self._scenario, self._footprint, self.store)

    def at(self, txn_per_s: float) -> tuple[StoreLoad, Times]:
        """Returns load and times at a rate: settled until they stand still."""
        load = self.store.settle(txn_per_s, self.known)
        for _ in range(_MOST_STEPS):
            before, load = load, self.store.settle(txn_per_s, load)
            if _stands_still(before, load):
                break
        self.known = load
        times = self.paths.times(load, in_memory=self.in_memory)
        load.retries = times.retries
        return load, times

    def is_full(self, load: StoreLoad) -> bool:
        """Returns whether a station cannot do what it is asked for."""
        busy = [
            load.busy[name] / load.servers[name] for name in load.busy if name != "store_poller"
        ]
        pollers = load.poller_cpu / self._scenario.tikv.store_pool_size
        tidb = self._tidb.used(load.txn_per_s * self._footprint.statements)
        return max(*busy, pollers, tidb) > _NEARLY_FULL

    def heed_memory(self, txn_per_s: float, held_ns: float) -> bool:
        """Takes full lock tables into account; returns whether that changes anything."""
        if not self.in_memory:
            return False
        refused = refused_by_memory(self._scenario, self._footprint, txn_per_s, held_ns / NS_PER_S)
        if abs(refused - self.store.lock_share) < 0.002:
            return False
        self._take(refused)
        return True


def _stands_still(before: StoreLoad, after: StoreLoad) -> bool:
    """Returns whether a step has moved messages, writes of the log and waits by very little."""
    pairs = (
        (before.messages_per_s, after.messages_per_s),
        (before.fsyncs_per_s, after.fsyncs_per_s),
        (before.message_ns + before.poller_wait_ns, after.message_ns + after.poller_wait_ns),
    )
    return all(abs(one - other) <= _STILL * max(one, other) for one, other in pairs)


def balance(scenario: Scenario, footprint: Footprint) -> Balance:
    """Returns a scenario's throughput with the load and the times that go with it."""
    scale = _Scale(scenario, footprint)
    txn_per_s = _rate(scenario, scale)
    load, times = scale.at(txn_per_s)
    for _ in range(_MEMORY_STEPS):
        lock = times.requests.get("lock")
        if lock is None or not scale.heed_memory(txn_per_s, times.held + lock.mean):
            break
        txn_per_s = _rate(scenario, scale)
        load, times = scale.at(txn_per_s)
    think = _think_ns(scenario)
    return Balance(txn_per_s, load, times, scale.store, scale.in_memory, think)


def _rate(scenario: Scenario, scale: _Scale) -> float:
    workload = scenario.workload
    if workload.threads is None:
        assert workload.rate_per_s is not None, "a workload has threads or a rate"
        return workload.rate_per_s
    return _closed(scale, workload.threads, _think_ns(scenario))


def _think_ns(scenario: Scenario) -> float:
    think = scenario.workload.think_time
    return mean_ns(think) if think and scenario.workload.threads else 0.0


def _closed(scale: _Scale, clients: int, think: float) -> float:
    """Returns the rate at which response and think time leave just as many clients busy.

    The clients asked for grow with the rate: false position between a rate that asks for too few
    and one that asks for too many; halving as long as the latter cannot be had at all.
    """
    wanted = float(clients)
    _, idle = scale.at(1e-3)
    high = wanted * NS_PER_S / (idle.transaction + think)
    low, few, many = 0.0, 0.0, float("inf")
    at = high
    for _ in range(_MOST_TRIES):
        before = scale.known
        load, times = scale.at(at)
        asked = at * (times.transaction + think) / NS_PER_S
        full = scale.is_full(load)
        if full or asked > wanted:
            high, many, scale.known = at, float("inf") if full else asked, before
        else:
            low, few = at, asked
        if not full and abs(asked / wanted - 1) < _CLOSE:
            return at
        if high - low < _CLOSE * high:
            break
        at = _between(low, high, (wanted - few) / (many - few))
    return _polished(scale, wanted, think, low or high)


def _polished(scale: _Scale, wanted: float, think: float, rate: float) -> float:
    """Returns a rate that does not ask for more clients than there are, where load feeds on load.

    Near saturation what has been found depends on where one came from; the last word is from here.
    """
    for _ in range(_MOST_POLISHING):
        _, times = scale.at(rate)
        asked = rate * (times.transaction + think) / NS_PER_S
        if asked < _TOO_MANY * wanted:
            break
        # Near saturation waits grow without end within a few percent of the rate.
        rate *= max(_SMALLEST_STEP, (wanted / asked) ** 0.5)
    return rate


def _between(low: float, high: float, share: float) -> float:
    """Returns a rate between two, not too near to either."""
    if share <= 0:  # The upper one cannot be had: nothing is known of it.
        share = 0.5
    return low + (high - low) * min(0.9, max(0.1, share))
