"""One store at a rate of transactions: what each station is asked for, and how long it lets wait.

The utilisation law (Denning, Buzen 1978): busy servers = throughput x service demand. Demands are
counted (``footprint``) or follow from mechanism: messages per command from replicas and shared
entries, writes of the log from group commit (``pollers``), CPU that takes longer the more threads
share the cores. Some depend on each other, so they are iterated until they stand still.

The mean store leads, follows and serves what all stores do on average; another one what its
``StoreShare`` says.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import exp
from typing import Final

import numpy as np

from sim.engine import queued_ns, smt_slowness
from sim.estimate.disk_demand import DiskDemand, DiskLoad
from sim.estimate.fixed_point import fixed_point
from sim.estimate.footprint import Footprint, Requests
from sim.estimate.planned_request import READS, RequestKind
from sim.estimate.pollers import MOST_USED, PollerFigures, PollerLoad, solve_pollers
from sim.estimate.ports import PortLoad
from sim.estimate.regions import (
    entries_per_command,
    heartbeats_per_s,
    mail_of_peers,
    ticks_per_s,
)
from sim.estimate.store_shares import EVEN, StoreShare
from sim.fact_names import LOG_WRITER
from sim.queueing.formulas import finds_idle, in_queue, mean_wait
from sim.raftstore.log_engine import record_ns
from sim.raftstore.write_thread import contended
from sim.raftstore.write_worker import BATCH_SIZE_HINT_BYTES
from sim.scenario.resolved import Scenario
from sim.transport.grpc import connections_of
from sim.transport.transport import MESSAGE_BYTES, RESPONSE_BYTES
from sim.units import NS_PER_S

_LEAST: Final = 1e-3
"""Nearer to 0 no divisor comes."""

_LONGEST_S: Final = 1.0
"""Nothing waits longer in a system in balance."""

_STEPS: Final = 60
_FAST_STEPS: Final = 12
_STILL: Final = 1e-3


@dataclass(slots=True)
class StationLoad:
    """One station of a store."""

    servers: int
    jobs: float = 0.0
    """Per second."""
    busy: float = 0.0
    """Servers, on average; more than there are: it cannot do what is asked."""
    queue: float | None = None
    """Jobs that wait; None: it has no queue of its own."""
    hop_ns: float = 0.0
    """For which a job waits, on average, until its thread is awake."""
    in_groups: float = 0.0
    """Jobs per second that do not come one by one."""
    together: float = 1.0
    """Of these, how many at once."""

    @property
    def service_ns(self) -> float:
        """Mean time of one job."""
        return self.busy / self.jobs * NS_PER_S if self.jobs else 0.0

    @property
    def within(self) -> float:
        """Servers busy, but for the last percent: no queue is in balance there."""
        return min(self.busy, MOST_USED * self.servers)

    def wake(self, thread_hop_ns: float) -> None:
        """Adds to ``busy`` that a job which finds a thread idle waits until it is awake.

        The busier the servers, and the more jobs come at once, the fewer are woken.
        """
        working = self.busy
        grouped = self.in_groups / self.jobs if self.jobs else 0.0

        def follows_from(hop_ns: float) -> float:
            self.busy = working + self.jobs * hop_ns / NS_PER_S
            woken = (1 - grouped) * finds_idle(self.servers, self.busy)
            woken += grouped * finds_idle(self.servers, self.busy, self.together)
            return woken * thread_hop_ns

        self.hop_ns = fixed_point(follows_from, thread_hop_ns, close=_STILL, most=thread_hop_ns)

    def wait_ns(self, cv: float = 1.0) -> float:
        """Returns how long a job waits for a server."""
        if not self.jobs:
            return 0.0
        return mean_wait(self.servers, self.within / self.service_ns, self.service_ns, cv)


@dataclass(slots=True)
class StoreLoad:
    """The figures of one store; times in ns, rates per second."""

    txn_per_s: float
    write_ns: float
    """One append + fsync of the log."""
    disk: DiskLoad
    step: float = 1.0
    """How far figures move towards what follows from them, on the way to their fixed point."""
    slowness: float = 1.0
    """By which threads that share cores slow each other down."""
    hop_ns: float = 0.0
    """From a thread's being woken until it runs."""
    entries_per_command: float = 1.0
    applied_ns: float = 0.0
    """Of a command at an apply thread, its wait for it and for its turn in RocksDB included."""
    hottest_applies: float = 0.0
    """Share of the time in which the hottest region is applied, by one thread at a time."""
    applied_together: float = 1.0
    """Commands of a write to RocksDB."""
    visits_per_message: float = 1.0
    woken: float = 1.0
    """Share of the pollers' rounds whose thread has to be woken."""
    met: float = 0.0
    """Share of the messages whose peer is in a round."""
    message_ns: float = 0.0
    messages_per_s: float = 0.0
    carried_per_s: float = 0.0
    """Messages that come from other stores."""
    heartbeats_per_s: float = 0.0
    """Rounds of all leaders of the cluster."""
    ticks_per_s: float = 0.0
    """Of all replicas of the cluster."""
    results_per_command: float = 0.0
    """How often a poller hears that it has been applied, over all replicas."""
    applying_s: float = 0.0
    """From a command's commit until it is applied."""
    entries_per_s: float = 0.0
    """Logged here, as leader and as follower."""
    led_per_s: float = 0.0
    """Those of them that are proposed here."""
    beats_per_s: float = 0.0
    """Heartbeats and their answers that a store sends, and as many that it gets."""
    append_bytes: float = 0.0
    """Of an append to a follower, on the network."""
    port: PortLoad = field(default_factory=PortLoad)
    pollers: PollerFigures = field(default_factory=PollerFigures)
    """Per ns."""
    opening: float = 1.0
    """Share of the requests that come in a message of their own."""
    grpc_used: float = 0.0
    """Share of its time in which the busiest gRPC thread works."""
    grpc_ns: float = 0.0
    """Of a message at its gRPC thread, the wait for it included."""
    stations: dict[str, StationLoad] = field(default_factory=dict)
    disks_asked: dict[str, float] = field(default_factory=dict)
    """Share of each disk's budget that is asked for however few the writes of the log are."""

    @property
    def on_the_way(self) -> tuple[float, ...]:
        """Figures that others follow from, and that stand still only in the end."""
        return self.write_ns, self.slowness, self.entries_per_command, self.woken

    @property
    def fsyncs_per_s(self) -> float:
        """Writes of the log."""
        return self.pollers.fsyncs * NS_PER_S

    @property
    def mail_wait_ns(self) -> float:
        """How long a message waits for a poller."""
        return (1 - self.met) * self.pollers.wait + self.met * self.pollers.left

    @property
    def pollers_asked(self) -> float:
        """Pollers' worth of CPU that messages ask for."""
        return self.messages_per_s * self.message_ns / NS_PER_S

    @property
    def used(self) -> float:
        """Share of what it can do that the busiest station is asked for; above 1: it cannot.

        That the log and its disk are busy all the time is no sign: they can do more at once.
        """
        busy = {name: each.busy / each.servers for name, each in self.stations.items()}
        return max(
            self.grpc_used,
            self.hottest_applies,
            *(busy | self.disks_asked | {LOG_WRITER: 0.0}).values(),
        )


class StoreModel:
    """What does not depend on the load."""

    def __init__(
        self,
        scenario: Scenario,
        footprint: Footprint,
        lock_share: float,
        share: StoreShare = EVEN,
    ) -> None:
        self.scenario = scenario
        self.footprint = footprint
        self.lock_share = lock_share
        """Part of the lock requests that are proposed."""
        self.share = share
        self.led, self.kept = share.of(
            {
                kind: each.count * (lock_share if kind == "lock" else 1.0)
                for kind, each in footprint.requests.items()
                if each.records
            }
        )
        """Of all commands, over the mean store's: those proposed here, and those applied here."""
        self.copies = self.kept * scenario.cluster.replicas / scenario.cluster.stores
        """Part of the cluster's commands that is applied here."""
        counts = {kind: each.count for kind, each in footprint.requests.items()}
        self.part = share.of(counts)[0] / scenario.cluster.stores
        """Of all requests, those that come here."""
        self.disk = DiskDemand(scenario, footprint, lock_share, share, self.copies)
        self.proposed = footprint.proposed(lock_share)
        """Per transaction."""
        groups = footprint.region_groups
        self._commands = np.array([each.locks * lock_share + each.others for each in groups])
        self._regions = np.array([each.regions for each in groups], dtype=np.float64)
        of_regions = self._commands / self._regions
        asked = float(self._commands.sum())
        self._hottest = float(of_regions.max()) / asked if asked else 0.0
        """Share of all commands that go to the hottest region."""
        hardware = scenario.hardware
        self._slowness = smt_slowness(
            hardware.store_cores, hardware.threads_per_core, hardware.cpu.smt_gain
        )
        self._grpc_shares = _grpc_shares(scenario)
        self._record_ns = record_ns(scenario.tikv, hardware.store_cpu)

    def of_fullest(self) -> "StoreModel | None":
        """Returns the same of the store with the most to do; None: all stores are alike."""
        share = self.footprint.fullest
        if share is None:
            return None
        return StoreModel(self.scenario, self.footprint, self.lock_share, share)

    def at(
        self,
        txn_per_s: float,
        retries: float = 0.0,
        opening: float = 1.0,
        near: StoreLoad | None = None,
    ) -> StoreLoad:
        """Returns the figures at a rate.

        Args:
            txn_per_s: transactions of the whole cluster.
            retries: lock requests sent again, per transaction.
            opening: share of the requests that come in a message of their own.
            near: figures in balance at about this rate, from which fewer steps lead here.
        """
        scenario, groups = self.scenario, self.footprint.region_groups
        if near is None:
            idle = self.disk.load(txn_per_s, 0, 0)
            hop_ns = scenario.hardware.store_cpu.thread_hop_ns
            load = StoreLoad(txn_per_s, self.disk.append_ns, idle, hop_ns=hop_ns)
        else:
            load = replace(near, txn_per_s=txn_per_s)
        load.opening = opening
        load.heartbeats_per_s = heartbeats_per_s(scenario, groups, txn_per_s)
        load.ticks_per_s = ticks_per_s(scenario, groups, txn_per_s)
        for step in range(_STEPS):
            # What shares visits follows steeply from the wait: long steps would swing for ever.
            load.step = 0.5 if step < _FAST_STEPS else 0.25
            before, pollers = load.on_the_way, load.pollers
            self._poll(load)
            self._write(load)
            self._run_pools(load, retries)
            pairs = zip(before, load.on_the_way, strict=True)
            if load.pollers.is_near(pollers, _STILL) and all(
                abs(b - a) <= _STILL * b for b, a in pairs
            ):
                break
        self._add_pollers_and_disks(load)
        self._add_port(load)
        return load

    def _poll(self, load: StoreLoad) -> None:
        """Messages and pollers."""
        scenario = self.scenario
        tikv, stores, cpu = scenario.tikv, scenario.cluster.stores, scenario.hardware.store_cpu
        followers = scenario.cluster.replicas - 1
        of_mean_store = load.txn_per_s * self.proposed.count / stores
        commands = of_mean_store * self.led
        entries = commands * load.entries_per_command
        load.entries_per_s = of_mean_store * load.entries_per_command * self.kept * (1 + followers)
        load.led_per_s, followed = entries, load.entries_per_s - entries
        ticks, results = load.ticks_per_s / stores, of_mean_store * load.results_per_command
        results *= self.kept
        load.beats_per_s = beats = 2 * followers * load.heartbeats_per_s / stores
        load.carried_per_s = followers * entries + followed + beats
        load.messages_per_s = messages = commands + load.carried_per_s + ticks + results
        if not messages:
            return
        appended = self.disk.appended_bytes(load.txn_per_s, load.entries_per_s)
        work_ns = cpu.store_visit_ns * load.visits_per_message + cpu.store_message_ns
        log_ns = cpu.log_byte_ns * appended + self._record_ns * 2 * load.entries_per_s
        load.message_ns = (work_ns + log_ns / messages) * load.slowness
        small = load.disk.payload < BATCH_SIZE_HINT_BYTES
        load.pollers = solve_pollers(
            PollerLoad(
                pollers=tikv.store_pool_size,
                followers=followers,
                messages=messages / NS_PER_S,
                message=load.message_ns,
                commands=commands / messages,
                together=self.proposed.count / self.proposed.arrivals
                if self.proposed.count
                else 1.0,
                heartbeats=(beats + ticks) / messages,
                results=results / messages,
                results_together=load.applied_together,
                met=load.met,
                logging=(commands + followed) / messages,
                write=load.write_ns,
                write_scv=self.disk.append_scv,
                workers=tikv.store_io_pool_size > 0,
                pause=tikv.raft_write_wait_duration_ns if small else 0.0,
                hop=load.woken * load.hop_ns,
                # One write worker hands its groups to nobody.
                hand_over=load.hop_ns if tikv.store_io_pool_size != 1 else 0.0,
            ),
            near=load.pollers,
        )
        self._share_visits(load)

    def _share_visits(self, load: StoreLoad) -> None:
        """How many messages a visit finds, and commands an entry, while they wait for a poller."""
        commands, regions = self._commands, self._regions
        wait_s = min(load.mail_wait_ns / NS_PER_S, _LONGEST_S)
        mail = mail_of_peers(
            commands,
            regions,
            load.txn_per_s,
            followers=self.scenario.cluster.replicas - 1,
            entries=load.entries_per_command,
            applying_s=load.applying_s,
            waiting_s=wait_s,
            round_s=load.pollers.round / NS_PER_S,
        )
        load.results_per_command += load.step * (mail.results - load.results_per_command)
        load.visits_per_message += load.step * (mail.visits - load.visits_per_message)
        load.met += load.step * (mail.met - load.met)
        load.woken += load.step * (load.pollers.woken - load.woken)
        if self.scenario.tikv.cmd_batch:
            shared = entries_per_command(commands, regions, load.txn_per_s, wait_s)
            load.entries_per_command += load.step * (shared - load.entries_per_command)

    def _write(self, load: StoreLoad) -> None:
        load.disk = self.disk.load(load.txn_per_s, load.fsyncs_per_s, load.entries_per_s)
        write_ns = self.disk.write_ns(load.disk)
        load.write_ns += load.step * (write_ns - load.write_ns)  # A full bucket would overshoot.

    def _run_pools(self, load: StoreLoad, retries: float) -> None:
        """The pools and gRPC, and how much threads slow each other down."""
        scenario, cpu = self.scenario, self.scenario.hardware.store_cpu
        pools = self._pools()
        of_mean_store = load.txn_per_s / scenario.cluster.stores
        fetches = 0.0
        for kind, each in self.footprint.requests.items():
            per_store = of_mean_store * self.share.led.get(kind, 1.0)
            pool = pools[self.pool_of(kind)]
            count = each.count + (retries if kind == "lock" else 0.0)
            fetches += per_store * each.fetches
            pool.jobs += per_store * count
            work_ns = self.request_ns(kind) * load.slowness
            pool.busy += per_store * count * work_ns / NS_PER_S
            pool.busy += per_store * self.rows_ns(each, load) / NS_PER_S
        requests_per_s = sum(pool.jobs for pool in pools.values())
        scheduler = pools["scheduler"]
        ended = of_mean_store * self.led * self.proposed.count
        finished = ended + of_mean_store * self._answered_early()
        scheduler.jobs += finished
        scheduler.busy += finished * cpu.tikv_finish_ns * load.slowness / NS_PER_S
        scheduler.in_groups = ended  # What a store leads of that which is applied together.
        scheduler.together = 1 + (load.applied_together - 1) / scenario.cluster.replicas
        apply = self._apply(load)
        grpc = self._grpc(load, requests_per_s)
        cores = StationLoad(scenario.hardware.store_cores, requests_per_s)
        flushed = load.disk.flush + load.disk.compaction + load.disk.rewritten
        rewritten = flushed * cpu.compaction_byte_ns / NS_PER_S
        rewritten += load.entries_per_s * self._record_ns / NS_PER_S
        threads = load.pollers_asked + sum(pool.busy for pool in pools.values())
        threads -= fetches * self.disk.fetch_ns / NS_PER_S
        threads += apply.busy
        sets_per_s = load.pollers.rounds * NS_PER_S * (scenario.cluster.stores - 1)
        carried = load.carried_per_s * (cpu.grpc_request_ns >> 1) / NS_PER_S
        carried += min(load.carried_per_s, sets_per_s) * 2 * cpu.grpc_message_ns / NS_PER_S
        for pool in pools.values():
            pool.wake(load.hop_ns)
            pool.queue = in_queue(pool.servers, pool.within)
        waking = self._waking(load, pools.values(), apply, fetches)
        cores.busy = threads + grpc.busy + rewritten + carried + waking
        load.slowness = self._slowness_among(cores.busy)
        load.hop_ns = cpu.thread_hop_ns + queued_ns(cpu.thread_run_ns, cores.busy, cores.servers)
        load.stations = {"grpc": grpc, "store_cpu": cores, **pools, "apply": apply}

    def _waking(
        self, load: StoreLoad, pools: Iterable[StationLoad], apply: StationLoad, fetches: float
    ) -> float:
        """Returns how many threads are being woken, which takes CPU."""
        woken = load.pollers.rounds * NS_PER_S * load.woken + fetches
        waits_ns = sum(pool.jobs * pool.hop_ns for pool in pools)
        waits_ns += apply.jobs * apply.hop_ns / load.applied_together
        woken += waits_ns / load.hop_ns if load.hop_ns else 0.0
        return woken * self.scenario.hardware.cpu.thread_hop_ns / NS_PER_S

    def _pools(self) -> dict[str, StationLoad]:
        """Returns the pools that serve requests, without work."""
        tikv = self.scenario.tikv
        servers = {
            "scheduler": tikv.scheduler_worker_pool_size,
            "read_pool": tikv.readpool_unified_max_thread_count,
        }
        if tikv.readpool_storage_normal_concurrency is not None:
            servers["storage_read_pool"] = tikv.readpool_storage_normal_concurrency
        return {name: StationLoad(threads) for name, threads in servers.items()}

    def pool_of(self, kind: RequestKind) -> str:
        """Returns the name of the pool that serves a kind of request."""
        if kind not in READS.values():
            return "scheduler"
        own = self.scenario.tikv.readpool_storage_normal_concurrency is not None
        return "storage_read_pool" if own and kind != "cop" else "read_pool"

    def _apply(self, load: StoreLoad) -> StationLoad:
        """Returns the apply pool."""
        cpu, pool = (
            self.scenario.hardware.store_cpu,
            StationLoad(self.scenario.tikv.apply_pool_size),
        )
        applied = load.txn_per_s * self.copies
        pool.jobs = applied * self.proposed.count
        # Each peer's apply state is a record, too; it is written, and told, once a round.
        states = pool.jobs * load.results_per_command / self.scenario.cluster.replicas
        records = applied * self.proposed.records + states
        alone = records * cpu.kvdb_record_ns * load.slowness / NS_PER_S
        inserting = _side_by_side(alone, pool.servers)
        parsing_ns = pool.jobs * cpu.apply_command_ns
        parsing_ns += applied * self.proposed.records * cpu.apply_record_ns
        pool.busy = working = parsing_ns * load.slowness / NS_PER_S + inserting
        load.hottest_applies = working * self._hottest / self.copies if self.copies else 0.0
        # What a round finds committed is applied together, each command on a thread while some are
        # idle, and the others one after the other.
        found = pool.jobs / (load.pollers.rounds * NS_PER_S) if pool.jobs else 0.0
        together = found / (1 - exp(-found)) if found else 1.0
        behind_ns = pool.service_ns * max(0.0, together - pool.servers) / 2 / pool.servers
        if pool.jobs:
            self._wait_for_order(load, pool, inserting)
        load.applied_ns = pool.wait_ns(cpu.cv) + pool.service_ns + behind_ns
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
        made, drawn = self.proposed, 1 + self.scenario.hardware.cpu.cv**2
        squared_over_mean = made.squared_records * made.count / made.records**2
        return max(0.0, drawn * squared_over_mean - 1) / load.applied_together

    def _answered_early(self) -> float:
        """Returns how many commands of a transaction the scheduler's pool answers when proposed."""
        tikv = self.scenario.tikv
        early = tikv.lock_mode == "pipelined" or tikv.in_memory_fallback == "pipelined"
        if not tikv.pipelined or not early or not tikv.pool_answers_proposed:
            return 0.0
        locks = self.footprint.requests.get("lock", Requests()).count
        return self.lock_share * self.share.led.get("lock", 1.0) * locks

    def request_ns(self, kind: RequestKind) -> float:
        """Returns the CPU of a request in the read pool or the scheduler, on idle cores."""
        cpu, each = self.scenario.hardware.store_cpu, self.footprint.requests[kind]
        finding_ns = cpu.tikv_key_ns * each.sought
        finding_ns += cpu.tikv_load_lock_ns * (each.keys - each.sought)
        if kind in READS.values():
            return cpu.tikv_read_ns + (finding_ns + cpu.tikv_row_ns * each.rows) / each.count
        records = each.records * (self.lock_share if kind == "lock" else 1.0)
        return cpu.tikv_command_ns + (finding_ns + cpu.tikv_record_ns * records) / each.count

    def rows_ns(self, requests: Requests, load: StoreLoad) -> float:
        """Returns the time of a transaction's blocks: fetching and unpacking them."""
        block_bytes = self.scenario.tikv.block_bytes
        unpack_ns = self.scenario.hardware.unpacking_ns(block_bytes) * load.slowness
        return requests.fetches * self.disk.fetch_ns + requests.blocks * unpack_ns

    def _grpc(self, load: StoreLoad, requests_per_s: float) -> StationLoad:
        """Returns the gRPC threads: each a server of its own for some of the connections."""
        grpc = StationLoad(self.scenario.tikv.grpc_concurrency, 2 * requests_per_s)
        cpu = self.scenario.hardware.store_cpu
        service_ns = (cpu.grpc_request_ns >> 1) + load.opening * cpu.grpc_message_ns
        service_ns *= load.slowness
        grpc.busy = grpc.jobs * service_ns / NS_PER_S
        load.grpc_used = max(self._grpc_shares) * grpc.busy
        crowding_ns = load.hop_ns - cpu.thread_hop_ns
        load.grpc_ns, grpc.queue = service_ns + crowding_ns, 0.0
        for share in self._grpc_shares:
            waiting = in_queue(1, min(share * grpc.busy, MOST_USED), cv=0.0)
            grpc.queue += waiting
            load.grpc_ns += waiting * NS_PER_S / grpc.jobs if grpc.jobs else 0.0
        return grpc

    def _slowness_among(self, running: float) -> float:
        """Returns by how much one more thread is slowed down, between whole numbers of threads."""
        most = len(self._slowness) - 1
        threads = min(running + 1, float(most))
        below = int(threads)
        low, high = self._slowness[below], self._slowness[min(below + 1, most)]
        return low + (threads - below) * (high - low)

    def _add_pollers_and_disks(self, load: StoreLoad) -> None:
        pollers = load.pollers
        load.stations["store_poller"] = StationLoad(
            self.scenario.tikv.store_pool_size,
            pollers.rounds * NS_PER_S,
            load.pollers_asked,
            load.messages_per_s * load.mail_wait_ns / NS_PER_S,
        )
        writing = pollers.fsyncs * load.write_ns
        waiting = pollers.writers * (pollers.log_wait - load.write_ns)
        load.stations["raft_log"] = StationLoad(1, load.fsyncs_per_s, writing, waiting)
        for name, spec in self.disk.by_station.items():
            used, ios = self.disk.used(load.disk, spec)
            station = load.stations[name] = StationLoad(1, ios, used)
            station.queue = in_queue(1, station.within, 0.5)
            load.disks_asked[name] = self.disk.asked(load.disk, spec)

    def _add_port(self, load: StoreLoad) -> None:
        """Answers, and Raft's messages; each counts, though some leave together."""
        scenario, of_mean_store = self.scenario, load.txn_per_s / self.scenario.cluster.stores
        load.port = port = PortLoad(scenario.hardware.network.bandwidth_bytes_per_s)
        for kind, each in self.footprint.requests.items():
            asked = of_mean_store * self.share.led.get(kind, 1.0)
            port.add(asked * each.count, asked * each.reply_bytes)
        followers = scenario.cluster.replicas - 1
        appended = self.disk.appended_bytes(load.txn_per_s, load.entries_per_s)
        load.append_bytes = MESSAGE_BYTES + appended / max(load.entries_per_s, _LEAST)
        port.add(followers * load.led_per_s, followers * load.led_per_s * load.append_bytes)
        followed = load.entries_per_s - load.led_per_s
        port.add(followed, followed * RESPONSE_BYTES)
        port.add(load.beats_per_s, load.beats_per_s * MESSAGE_BYTES)
        load.stations["store_network"] = StationLoad(1, port.messages, port.busy, port.queue)


def _grpc_shares(scenario: Scenario) -> list[float]:
    """Returns the part of a store's requests that each gRPC thread serves."""
    threads, nodes = scenario.tikv.grpc_concurrency, scenario.cluster.tidb_nodes
    connections = Counter(
        connection % threads for tidb in range(nodes) for connection in connections_of(tidb)
    )
    return [connections[thread] / connections.total() for thread in range(threads)]


def _side_by_side(alone: float, threads: int) -> float:
    """Returns how many threads insert on average, where ``alone`` would, did none slow another."""
    others = (threads - 1) / threads
    # Those that slow one down are slowed down, too: what inserts is alone * contended(itself).
    inserting = alone / max(_LEAST, 2 - contended(alone * others))
    return alone * contended(min(inserting, MOST_USED * threads) * others)
