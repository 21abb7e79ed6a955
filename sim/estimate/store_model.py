"""One store at a rate of transactions: what each station is asked for, and how long it lets wait.

Law (operational analysis): a station's utilisation is throughput times demand, over its servers.
Demands are counted (``footprint``) or follow from mechanism: messages per command from replicas and
shared entries, writes of the log from how pollers gather (``poller_chain``), CPU that takes longer
the more threads share the cores. Some of these depend on each other, so ``settle`` takes what it
found before and returns something nearer to the truth.

All stores are alike: each leads, follows and serves its share.
"""

from __future__ import annotations

from math import ceil, exp
from typing import TYPE_CHECKING, Final

from sim.engine import Cores
from sim.estimate.disk_load import DiskLoad
from sim.estimate.formulas import gathering_server, mean_wait
from sim.estimate.moments import Time, time_of
from sim.estimate.poller_bursts import burst_size, ends_early, taken_singly, woken_together
from sim.estimate.poller_chain import PollerLoad, solve_pollers
from sim.estimate.region_activity import (
    RegionClass,
    heard_share,
    heartbeats_per_s,
    region_classes,
    sharing,
)
from sim.estimate.store_load import StoreLoad
from sim.units import KIB, NS_PER_S

if TYPE_CHECKING:
    from sim.estimate.footprint import Footprint
    from sim.scenario.resolved import Scenario

_HINT_BYTES: Final = 8 * KIB
"""``raftstore.raft-write-batch-size-hint``: a smaller batch waits a moment for company."""

_MOST_STAGES: Final = 3
_MOST_USED: Final = 0.985
"""Pollers are not looked at above this use of their CPU: there is no balance near 1."""

_LONGEST_S: Final = 1.0
"""Nothing waits longer in a system in balance."""

_READ_SHARE: Final = 0.8
"""As ``sim.server.store``: threads of the read pool, in cores."""


class StoreModel:
    """What does not depend on the load."""

    def __init__(self, scenario: Scenario, footprint: Footprint, lock_share: float) -> None:
        self.scenario = scenario
        self.footprint = footprint
        self.lock_share = lock_share
        self.classes: list[RegionClass] = region_classes(footprint, lock_share)
        self.disk = DiskLoad(scenario, footprint, lock_share)
        hardware = scenario.hardware
        self._cores = Cores(hardware.store_cores, hardware.threads_per_core, hardware.cpu.smt_gain)
        self.append = time_of(hardware.raft_disk.append)
        self.commands = sum(
            each.count * (lock_share if kind == "lock" else 1)
            for kind, each in footprint.commands.items()
        )
        """Proposed per transaction."""
        arrivals = sum(
            each.arrivals * (lock_share if kind == "lock" else 1)
            for kind, each in footprint.commands.items()
        )
        self.clump = self.commands / arrivals if arrivals else 1.0
        """Commands that reach a store at about the same time."""
        self.command_keys = sum(
            each.keys * (lock_share if kind == "lock" else 1)
            for kind, each in footprint.commands.items()
        )

    def settle(self, txn_per_s: float, before: StoreLoad | None = None) -> StoreLoad:
        """Returns the figures at a rate, one step nearer to the truth than ``before``.

        Args:
            txn_per_s: transactions of the whole cluster.
            before: what was found for this or a similar rate; None: nothing is known.
        """
        known = before or self._first_guess()
        scenario, stores = self.scenario, self.scenario.cluster.stores
        load = StoreLoad(txn_per_s, self.lock_share, known.retries)
        requests = sum(each.count for each in self.footprint.requests.values()) + known.retries
        load.requests_per_s = txn_per_s * requests / stores
        load.commands_per_s = txn_per_s * self.commands / stores
        load.slowness = known.slowness
        load.message_ns = scenario.hardware.cpu.store_message_ns * known.slowness
        self._count_messages(load, known)
        load.write_ns, load.fsyncs_per_s = known.write_ns, known.fsyncs_per_s
        self._run_pollers(load, known)
        write_ns = self.disk.write_ns(load.fsyncs_per_s, load.entries_per_s, txn_per_s)
        load.write_ns = (known.write_ns + write_ns) / 2  # A full bucket would overshoot.
        self._apply(load)
        self._pools(load)
        self._cpu(load)
        self.disk.fill(load)
        return load

    def _first_guess(self) -> StoreLoad:
        guess = StoreLoad(write_ns=self.append.mean)
        guess.message_ns = self.scenario.hardware.cpu.store_message_ns
        return guess

    def _count_messages(self, load: StoreLoad, known: StoreLoad) -> None:
        scenario = self.scenario
        followers, stores = scenario.cluster.replicas - 1, scenario.cluster.stores
        owned_ns = known.round_ns() + (
            known.log_wait.mean if scenario.tikv.store_io_pool_size else 0.0
        )
        if scenario.tikv.cmd_batch:
            waiting_s = min(known.poller_wait_ns / NS_PER_S, _LONGEST_S)
            owned_s = min(owned_ns / NS_PER_S, _LONGEST_S)
            load.sharing = known.sharing.halfway(
                sharing(self.classes, load.txn_per_s, waiting_s, owned_s)
            )
        load.entries_per_s = load.commands_per_s * load.sharing.entries * (1 + followers)
        load.heartbeats_per_s = known.heartbeats_per_s
        if known.txn_per_s != load.txn_per_s:
            load.heartbeats_per_s = heartbeats_per_s(scenario, self.classes, load.txn_per_s)
            heard = heard_share(scenario, self.classes, load.txn_per_s)
            self.disk.applied_copies = (1 + followers * heard) / stores
        load.messages_per_s = (
            load.commands_per_s * (1 + followers * (load.sharing.entries + load.sharing.answers))
            + load.heartbeats_per_s * (1 + 2 * followers) / stores
        )

    def _run_pollers(self, load: StoreLoad, known: StoreLoad) -> None:
        scenario, tikv = self.scenario, self.scenario.tikv
        if not load.messages_per_s:
            return
        followers = scenario.cluster.replicas - 1
        entries = load.entries_per_s / (1 + followers)
        logging = (load.commands_per_s + followers * entries) / load.messages_per_s
        gathered = known.messages_per_round
        waits_itself = not tikv.store_io_pool_size
        burst = burst_size(
            gathered, followers, load.commands_per_s / load.messages_per_s, self.clump
        )
        # Messages of a burst are of one kind: a round has something to write if one burst has.
        ends = min(1.0, burst / gathered)
        durable = 1 - ends * (1 - logging) / (1 - (1 - ends) * (1 - logging))
        cv = self.append.deviation / self.append.mean if self.append.mean else 1.0
        load.pollers = solve_pollers(
            PollerLoad(
                pollers=tikv.store_pool_size,
                messages=min(
                    load.messages_per_s / NS_PER_S,
                    _MOST_USED * tikv.store_pool_size / load.message_ns,
                ),
                burst=burst,
                message=load.message_ns,
                durable=durable,
                write=load.write_ns if waits_itself else 0.0,
                write_stages=min(_MOST_STAGES, max(1, round(1 / max(cv, 0.1) ** 2))),
                ends_early=ends_early(tikv.store_pool_size, known, burst),
            ),
            known.pollers,
        )
        if waits_itself:
            # A round ends at the latest when it is full.
            fullest = load.messages_per_s / tikv.store_max_batch_size * durable
            writes_per_s = load.pollers.writing / load.write_ns * NS_PER_S
            writes_per_s *= taken_singly(load, tikv.store_pool_size, burst)
            load.fsyncs_per_s = max(writes_per_s, fullest)
            writes = load.pollers.rounds * durable
            wait = load.pollers.in_write / writes if writes else 0.0
            load.log_wait = Time(wait, (0.4 * wait) ** 2)
        else:
            together = woken_together(tikv.store_pool_size, load.pollers.handling, burst)
            self._run_workers(load, load.pollers.rounds * durable / together)

    def _run_workers(self, load: StoreLoad, rounds: float) -> None:
        """Write workers gather what pollers hand them."""
        tikv = self.scenario.tikv
        per_group = self.disk.entry_bytes * load.entries_per_s / max(load.fsyncs_per_s, 1.0)
        pause = tikv.raft_write_wait_duration_ns if per_group < _HINT_BYTES else 0.0
        busy, groups = gathering_server(rounds, load.write_ns, pause)
        load.fsyncs_per_s = groups * NS_PER_S
        others = busy * load.write_ns / 2
        wait = others + pause + load.write_ns
        load.log_wait = Time(wait, self.append.variance + others * others)

    def _apply(self, load: StoreLoad) -> None:
        cpu = self.scenario.hardware.cpu
        keys = self.command_keys / self.commands if self.commands else 0.0
        load.apply_ns = (cpu.apply_command_ns + keys * cpu.apply_key_ns) * load.slowness
        applied = load.txn_per_s * self.commands * self.disk.applied_copies
        threads = self.scenario.tikv.apply_pool_size
        arrivals = applied / NS_PER_S
        if load.apply_ns:
            arrivals = min(arrivals, _MOST_USED * threads / load.apply_ns)
        load.apply_wait_ns = mean_wait(threads, arrivals, load.apply_ns, cpu.cv)
        load.busy["apply"] = applied * load.apply_ns / NS_PER_S
        load.servers["apply"] = threads

    def _pools(self, load: StoreLoad) -> None:
        """Scheduler and read pool: CPU by keys, and the blocks that are fetched meanwhile."""
        scenario = self.scenario
        cpu = scenario.hardware.cpu
        load.servers["scheduler"] = scenario.tikv.scheduler_worker_pool_size
        load.servers["read_pool"] = max(4, int(scenario.hardware.store_cores * _READ_SHARE))
        load.busy["scheduler"] = load.busy["read_pool"] = 0.0
        for kind, each in self.footprint.requests.items():
            pool = "read_pool" if kind in ("get", "batch_get", "cop") else "scheduler"
            extra = cpu.tikv_extra_key * (each.keys - each.count)
            again = load.retries if kind == "lock" else 0.0
            held = (each.count + again + extra) * cpu.tikv_request_ns * load.slowness
            held += each.blocks * self.disk.fetch.mean
            per_store = load.txn_per_s / scenario.cluster.stores
            load.busy[pool] += per_store * held / NS_PER_S

    def _cpu(self, load: StoreLoad) -> None:
        """Threads that run, and how much they slow each other down."""
        scenario = self.scenario
        per_store = load.txn_per_s / scenario.cluster.stores / NS_PER_S
        fetching = sum(each.blocks for each in self.footprint.requests.values())
        running = (
            load.pollers.handling
            + load.busy["apply"]
            + load.busy["scheduler"]
            + load.busy["read_pool"]
            - per_store * fetching * self.disk.fetch.mean
        )
        background = load.requests_per_s * scenario.hardware.cpu.tikv_background_ns / NS_PER_S
        load.busy["store_cpu"] = running + background
        load.servers["store_cpu"] = scenario.hardware.store_cores
        pollers = load.pollers.handling + load.pollers.in_write
        load.busy["store_poller"] = max(pollers, load.poller_cpu)
        load.servers["store_poller"] = scenario.tikv.store_pool_size
        # However much is asked of the pools, no more run than they have threads.
        pools = ("store_poller", "apply", "scheduler", "read_pool")
        running = min(running, sum(load.servers[pool] for pool in pools))
        load.slowness = self._mean_slowness(running, background)

    def _mean_slowness(self, running: float, background: float) -> float:
        """Returns the mean slowness that a thread meets (others run as if Poisson)."""
        cores = self._cores
        cores.background = round(background)
        chance, mean, seen = exp(-running), 0.0, 0.0
        for threads in range(ceil(running + 6 * running**0.5) + 2):
            cores.running = threads
            mean += chance * cores.slowness()
            seen += chance
            chance *= running / (threads + 1)
        return mean / seen if seen else cores.slowness()
