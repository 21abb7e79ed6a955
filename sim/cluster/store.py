"""One store: its cores, pools, engines and peers, joined.

Nothing is decided here; this is the place where the stations of a TiKV process are connected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.cluster.apply_poller import ApplyCosts, ApplyPool, ApplyWatch
from sim.cluster.block_cache import BlockCache
from sim.cluster.kv_engine import Amplification, KvEngine
from sim.cluster.lock_manager import LockManager
from sim.cluster.lock_mode import LockMode
from sim.cluster.log_engine import LogEngine, LogFormat
from sim.cluster.placement import IN_MEMORY_SINCE
from sim.cluster.region_life.life import RegionLife
from sim.cluster.region_life.mail import LocksApplied, ReadIndex
from sim.cluster.request_costs import RequestCosts
from sim.cluster.scheduler import Scheduler
from sim.cluster.serving import Serving
from sim.cluster.store_pool import Batching, Door, StorePool
from sim.cluster.store_stats import StoreStats
from sim.cluster.ticker import Ticker
from sim.cluster.transport import Transport
from sim.cluster.write_worker import WriteWorkers
from sim.distributions import LognormalMean, Sampler
from sim.engine import Cores, ThreadPool
from sim.hardware.disk import Disk
from sim.protocol.ablations import Ablations
from sim.protocol.latches import Latches
from sim.protocol.lock_table import InstanceMemory
from sim.units import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from simpy import Event

    from sim.cluster.cluster import Cluster
    from sim.cluster.peer import Peer
    from sim.cluster.placement import Version
    from sim.cluster.transport import RaftMessage
    from sim.hardware.network import Link
    from sim.protocol.raft_log import Entry
    from sim.protocol.region import Region
    from sim.record.recorder import Recorder
    from sim.scenario.resolved import LsmSpec, Scenario
    from sim.streams import Streams

_SETTLE_NS = 10 * NS_PER_MS
"""How long background work is averaged: many requests, and far shorter than a load change."""

_READ_POOL_SHARE = 0.8
"""``readpool.unified.max-thread-count`` is 80 % of the cores."""

_EARLY_MAIL = 16
"""Messages kept for a region that a split is about to bring here (TiKV: pending votes)."""


class StoreLinks:
    """What a store needs of the rest of the cluster."""

    __slots__ = ("misses", "raft", "replies")

    def __init__(
        self, *, raft: dict[int, Link], replies: list[Link], misses: Mapping[bytes, float]
    ) -> None:
        self.raft = raft
        self.replies = replies
        self.misses = misses


class Store:
    """One TiKV process on its own machine."""

    __slots__ = (
        "_cluster",
        "_env",
        "admission",
        "apply",
        "awaken",
        "cores",
        "disk_full",
        "early_mail",
        "holds",
        "instance",
        "kv_disk",
        "latches",
        "log",
        "make_lock_manager",
        "peer_limit_bytes",
        "peers",
        "pool",
        "probe",
        "raft_disk",
        "raft_pool",
        "read_pool",
        "region_life",
        "resting",
        "scheduler",
        "store_id",
        "ticker",
        "transport",
        "up",
        "version",
    )

    def __init__(
        self,
        cluster: Cluster,
        store_id: int,
        scenario: Scenario,
        streams: Streams,
        recorder: Recorder,
        links: StoreLinks,
    ) -> None:
        env, tikv = cluster.env, scenario.tikv
        name = f"store-{store_id}"
        stats = StoreStats(recorder, store_id)
        unit = LognormalMean(1_000_000, scenario.hardware.cpu.cv)
        draws = [Sampler(unit, streams.stream(f"{name}/cpu-{pool}")) for pool in range(3)]
        self._cluster = cluster
        self._env = env
        self.awaken = cluster.awaken
        self.holds = cluster.holds
        self.probe = cluster.probe
        self.store_id = store_id
        self.up = True
        """Whether the process runs."""
        self.disk_full = False
        self.version: Version = cluster.pd.store_versions[store_id]
        self.peers: dict[int, Peer] = {}
        self.resting: list[Peer] = []
        """Replicas on the disk of a process that does not run."""
        self.early_mail: dict[int, list[RaftMessage]] = {}
        """By region: what came for a replica that is not here yet."""
        self.peer_limit_bytes = tikv.in_memory_peer_size_limit_bytes
        self.instance = InstanceMemory(tikv.in_memory_instance_size_limit_bytes)
        self.latches = Latches(tikv.scheduler_concurrency)
        self._make_machine(scenario, streams, name)
        self.transport = Transport(env, store_id, links.raft, cluster.stores, cluster.filters)
        self._make_engines(scenario, stats, draws[0])
        self.region_life = RegionLife(cluster, self, tikv)
        self.admission = self.region_life.admission
        self.raft_pool = self._make_raft_pool(scenario, draws[1])
        self.ticker = Ticker(env, tikv, self.raft_pool)
        fetches = BlockCache(self.kv_disk, streams.stream(f"{name}/block-cache"), links.misses)
        self.scheduler = self._make_scheduler(scenario, fetches, draws[2], links.replies, stats)

        def make_lock_manager() -> LockManager:
            return LockManager(
                env,
                store_id,
                cluster.detector,
                timeout_ns=tikv.wait_for_lock_timeout_ns,
                wake_up_delay_ns=tikv.wake_up_delay_ns,
                answer=self.scheduler.answer,
                resume=self.scheduler.resume,
            )

        self.make_lock_manager = make_lock_manager
        self.scheduler.waits = make_lock_manager()

    def _make_machine(self, scenario: Scenario, streams: Streams, name: str) -> None:
        hardware, env = scenario.hardware, self._env
        self.cores = Cores(hardware.store_cores, hardware.threads_per_core, hardware.cpu.smt_gain)
        fetches = streams.stream(f"{name}/fetches")
        self.raft_disk = Disk(hardware.raft_disk, streams.stream(f"{name}/raft-disk"), fetches)
        self.kv_disk = self.raft_disk
        if hardware.kv_disk is not None:
            self.kv_disk = Disk(hardware.kv_disk, streams.stream(f"{name}/kv-disk"), fetches)
        workers = scenario.tikv.scheduler_worker_pool_size
        self.pool = ThreadPool(env, self.cores, workers, f"{name}/scheduler")
        readers = max(4, int(hardware.store_cores * _READ_POOL_SHARE))
        self.read_pool = ThreadPool(env, self.cores, readers, f"{name}/read-pool")

    def _make_engines(self, scenario: Scenario, stats: StoreStats, draw: Sampler) -> None:
        lsm, tikv, cpu = scenario.hardware.lsm, scenario.tikv, scenario.hardware.cpu
        ledger = self._cluster.ledger
        log_format = LogFormat(
            raft_engine=tikv.raft_engine_enable,
            compression=lsm.raft_engine_compression,
            rewrite=lsm.raftdb_rewrite,
        )
        self.log = LogEngine(self._env, self.raft_disk, log_format, ledger, stats.entry_bytes)
        self.apply = ApplyPool(
            self._env,
            self.cores,
            KvEngine(self._env, self.kv_disk, _amplification(lsm), ledger),
            threads=tikv.apply_pool_size,
            max_batch=tikv.apply_max_batch_size,
            costs=ApplyCosts(command_ns=cpu.apply_command_ns, key_ns=cpu.apply_key_ns),
            draw=draw,
            watch=self._make_watch(as_in_rfc=tikv.behaviour == "rfc77"),
            safe_ts=self._cluster.tso.safe_ts,
        )

    def _make_watch(self, *, as_in_rfc: bool) -> ApplyWatch:
        def on_migrated(peer: Peer, entry: Entry) -> bool:
            if as_in_rfc and peer.is_leader:
                self.raft_pool.deliver(peer, LocksApplied(entry.index))
            # The RFC thought of new fields in messages; TiKV writes ordinary records.
            return not as_in_rfc or self.version >= IN_MEMORY_SINCE

        return ApplyWatch(
            on_applied=lambda request: self.scheduler.on_applied(request),
            on_stale=lambda peer, request: self.region_life.skipped(peer, request),
            on_admin=lambda *what: self.region_life.apply_admin.apply(*what),
            on_noop=lambda peer: self.region_life.roles.noop_applied(peer),
            on_migrated=on_migrated,
            on_progress=lambda peer: self.region_life.merge.applied_further(peer),
            probe=self.probe,
            holds=self.holds,
        )

    def _make_scheduler(
        self,
        scenario: Scenario,
        cache: BlockCache,
        draw: Sampler,
        replies: list[Link],
        stats: StoreStats,
    ) -> Scheduler:
        cpu, tikv = scenario.hardware.cpu, scenario.tikv
        return Scheduler(
            self._env,
            store=self,
            serving=Serving(self, Ablations.of(tikv.ablations)),
            latches=self.latches,
            pool=self.pool,
            read_pool=self.read_pool,
            cores=self.cores,
            cache=cache,
            costs=RequestCosts(
                request_ns=cpu.tikv_request_ns,
                extra_key=cpu.tikv_extra_key,
                background_ns=cpu.tikv_background_ns,
            ),
            draw=draw,
            hop_ns=cpu.thread_hop_ns,
            mode=LockMode(
                pipelined=tikv.pipelined,
                in_memory=tikv.in_memory,
                pipelined_fallback=tikv.in_memory_fallback == "pipelined",
            ),
            replies=replies,
            stats=stats,
            pending_max_bytes=tikv.scheduler_pending_write_threshold_bytes,
        )

    def _make_raft_pool(self, scenario: Scenario, draw: Sampler) -> StorePool:
        tikv = scenario.tikv
        pool = StorePool(
            self._env,
            self.cores,
            threads=tikv.store_pool_size,
            batching=Batching(
                max_batch=tikv.store_max_batch_size,
                merge_commands=tikv.cmd_batch,
                max_unpersisted=tikv.cmd_batch_concurrent_ready_max_count,
            ),
            message_ns=scenario.hardware.cpu.store_message_ns,
            draw=draw,
            log=self.log,
            apply=self.apply,
            transport=self.transport,
            workers=None,
            door=Door(
                on_proposed=lambda request, at_ns: self.scheduler.on_proposed(request, at_ns),
                admit=self.admission.admit,
                handle=self.region_life.handle,
                ready=self.region_life.ready,
                holds=self.holds,
            ),
            lease_ns=tikv.raft_store_max_leader_lease_ns,
        )
        if tikv.store_io_pool_size:
            pool.workers = WriteWorkers(
                self._env,
                tikv.store_io_pool_size,
                log=self.log,
                transport=self.transport,
                notify=pool.notify_persisted,
                visit=pool.visit,
                wait_ns=tikv.raft_write_wait_duration_ns,
            )
        return pool

    def background_work(self) -> Generator[Event, None, None]:
        """Lets the node's cores feel the CPU work that no pool runs, for ever."""
        while True:
            yield self._env.timeout(_SETTLE_NS)
            self.cores.settle(_SETTLE_NS)

    def adopt(self, peer: Peer) -> None:
        """Takes a replica in."""
        self.peers[peer.region.region_id] = peer
        self.ticker.add(peer)

    def wake(self, peer: Peer) -> None:
        """Lets a replica's ticks count for a while."""
        self.ticker.wake(peer)

    def take_raft_messages(self, messages: Sequence[RaftMessage]) -> None:
        """Takes what another store has sent: each message into its peer's mailbox."""
        if not self.up:
            return
        peers, deliver = self.peers, self.raft_pool.deliver
        for message in messages:
            peer = peers.get(message.region_id)
            if peer is None:
                peer = self.region_life.replicas.first_contact(message)
            if peer is not None:
                deliver(peer, message)
            else:
                early = self.early_mail.setdefault(message.region_id, [])
                early.append(message)
                del early[:-_EARLY_MAIL]

    def replay(self, peer: Peer) -> None:
        """Gives a new replica what came for it too early."""
        for message in self.early_mail.pop(peer.region.region_id, []):
            self.raft_pool.deliver(peer, message)

    def deliver_later(self, what: tuple[Peer, object]) -> None:
        """Puts mail into a peer's mailbox, if the peer is still there."""
        peer, mail = what
        if not peer.gone:
            self.raft_pool.deliver(peer, mail)

    def ask_quorum(self, peer: Peer) -> None:
        """Has the replicas asked whether ``peer`` still leads."""
        self.raft_pool.deliver(peer, ReadIndex())

    def regions_over(self, region: Region) -> tuple[Region, ...]:
        """Returns the regions on this store that have keys of ``region``, by key."""
        here = [peer.region for peer in self.peers.values() if peer.region.overlaps(region)]
        return tuple(sorted(here, key=lambda each: each.start_key))

    def destroy(self, peer: Peer, cause: str) -> None:
        """Removes a replica whose region has left this store."""
        peer.gone = True
        self.peers.pop(peer.region.region_id, None)
        self.ticker.remove(peer)
        self.region_life.let_go(peer, cause)


def _amplification(lsm: LsmSpec) -> Amplification:
    return Amplification(data=lsm.write_amplification, lock=lsm.lock_write_amplification)
