"""A store's apply threads: what they insert, how long a command takes there, and who waits.

Threads that insert into RocksDB slow each other down and end in the order in which they began
(``sim.raftstore.write_thread``).
"""

from math import exp
from typing import Final

from sim.estimate.footprint import Requests
from sim.estimate.station_load import MOST_USED, StationLoad
from sim.estimate.store_load import StoreLoad
from sim.queueing.formulas import in_queue
from sim.raftstore.write_thread import contended
from sim.scenario.resolved import Scenario
from sim.units import NS_PER_S

_LEAST: Final = 1e-3
"""Nearer to 0 no divisor comes."""

_LONGEST_S: Final = 1.0
"""Nothing waits longer in a system in balance."""


class ApplyDemand:
    """What the apply threads of one store are asked for per transaction."""

    def __init__(
        self, scenario: Scenario, proposed: Requests, copies: float, hottest: float
    ) -> None:
        """Args: as of ``StoreModel``; ``hottest`` is the hottest region's share of all commands."""
        self._cpu = scenario.hardware.store_cpu
        self._threads = scenario.tikv.apply_pool_size
        self._replicas = scenario.cluster.replicas
        self._proposed = proposed
        self._copies = copies
        self._hottest = hottest

    def station(self, load: StoreLoad) -> StationLoad:
        """Returns the apply pool at a load, which learns how long and how much is applied."""
        cpu, made = self._cpu, self._proposed
        applied = load.txn_per_s * self._copies
        pool = StationLoad(self._threads, applied * made.count, cv=cpu.cv)
        # Each peer's apply state is a record, too; it is written, and told, once a round.
        states = pool.jobs * load.results_per_command / self._replicas
        records = applied * made.records + states
        alone = records * cpu.kvdb_record_ns * load.slowness / NS_PER_S
        inserting = _side_by_side(alone, pool.servers)
        parsing_ns = pool.jobs * cpu.apply_command_ns
        parsing_ns += applied * made.records * cpu.apply_record_ns
        pool.busy = working = parsing_ns * load.slowness / NS_PER_S + inserting
        # Of the whole cluster's commands, whatever part of them this store applies.
        hottest_per_s = load.txn_per_s * made.count * self._hottest
        load.hottest_applies = hottest_per_s * pool.service_ns / NS_PER_S
        # What a round finds committed is applied together, each command on a thread while some are
        # idle, and the others one after the other.
        found = pool.jobs / (load.pollers.rounds * NS_PER_S) if pool.jobs else 0.0
        together = found / (1 - exp(-found)) if found else 1.0
        behind_ns = pool.service_ns * max(0.0, together - pool.servers) / 2 / pool.servers
        if pool.jobs:
            self._wait_for_order(load, pool, inserting)
        load.applied_ns = pool.wait_ns + pool.service_ns + behind_ns
        pool.wake(load.hop_ns)
        pool.queue = in_queue(pool.servers, pool.within) + pool.jobs * behind_ns / NS_PER_S
        # Whoever runs takes its share of what waits.
        share = 1 + pool.queue / pool.servers
        load.applied_together += load.step * (share - load.applied_together)
        applying_s = min(load.applied_ns / NS_PER_S, _LONGEST_S)
        load.applying_s += load.step * (applying_s - load.applying_s)
        pool.busy = working  # Its meter stops while a thread wakes, or sleeps until others end.
        return pool

    def _wait_for_order(self, load: StoreLoad, pool: StationLoad, inserting: float) -> None:
        """Adds to the pool's time that a write ends after those that began before it.

        Before v6.0 it begins after them, but is helped: on average that is much the same.
        Each other thread that inserts is met in the middle of its write, more likely of a long one,
        and what is left of it is compared with one's own, as if both were exponential.
        """
        writes = pool.jobs / load.applied_together
        own_ns = inserting / writes * NS_PER_S
        left_ns = own_ns * (1 + self._write_scv(load)) / 2
        others = min(inserting, MOST_USED * pool.servers) * (pool.servers - 1) / pool.servers
        waits = min(1.0, others * left_ns / (left_ns + own_ns)) if own_ns else 0.0
        pool.busy += writes * waits * (left_ns + load.hop_ns) / NS_PER_S

    def _write_scv(self, load: StoreLoad) -> float:
        """Returns the variance of a write to RocksDB over its squared mean."""
        made, drawn = self._proposed, 1 + self._cpu.cv**2
        squared_over_mean = made.squared_records * made.count / made.records**2
        return max(0.0, drawn * squared_over_mean - 1) / load.applied_together


def _side_by_side(alone: float, threads: int) -> float:
    """Returns how many threads insert on average, where ``alone`` would, did none slow another."""
    others = (threads - 1) / threads
    # Those that slow one down are slowed down, too: what inserts is alone * contended(itself).
    inserting = alone / max(_LEAST, 2 - contended(alone * others))
    return alone * contended(min(inserting, MOST_USED * threads) * others)
