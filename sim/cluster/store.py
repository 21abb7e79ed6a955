"""One store: its cores, pools, engines and peers, joined.

Nothing is decided here; this is the place where the stations of a TiKV process are connected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.cluster.apply_poller import ApplyCosts, ApplyPool
from sim.cluster.block_cache import BlockCache
from sim.cluster.disk_bytes import DiskBytes
from sim.cluster.kv_engine import Amplification, KvEngine
from sim.cluster.lock_manager import Detector, LockManager
from sim.cluster.log_engine import LogEngine, LogFormat
from sim.cluster.peer import Peer
from sim.cluster.scheduler import LockMode, RequestCosts, Scheduler
from sim.cluster.store_pool import HEARTBEAT_PHASES, Batching, StorePool
from sim.cluster.store_stats import StoreStats
from sim.cluster.transport import RaftMessage, Transport
from sim.cluster.write_worker import WriteWorkers
from sim.distributions import LognormalMean, Sampler
from sim.engine import Cores, LeanEnv, ThreadPool
from sim.hardware.disk import Disk
from sim.protocol.latches import Latches
from sim.protocol.lock_table import InstanceMemory
from sim.units import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from simpy import Event

    from sim.hardware.network import Link
    from sim.record.recorder import Recorder
    from sim.scenario.resolved import LsmSpec, Scenario
    from sim.streams import Streams

_SETTLE_NS = 10 * NS_PER_MS
"""How long background work is averaged: many requests, and far shorter than a load change."""

_READ_POOL_SHARE = 0.8
"""``readpool.unified.max-thread-count`` is 80 % of the cores."""


class Store:
    """One TiKV process on its own machine."""

    __slots__ = (
        "_env",
        "apply",
        "cores",
        "instance",
        "kv_disk",
        "latches",
        "log",
        "peers",
        "pool",
        "raft_disk",
        "raft_pool",
        "read_pool",
        "scheduler",
        "store_id",
        "transport",
    )

    def __init__(  # noqa: PLR0913, PLR0917 - a store's parts
        self,
        env: LeanEnv,
        store_id: int,
        scenario: Scenario,
        streams: Streams,
        recorder: Recorder,
        ledger: DiskBytes,
        links: StoreLinks,
    ) -> None:
        hardware, tikv = scenario.hardware, scenario.tikv
        name = f"store-{store_id}"
        stats = StoreStats(recorder, store_id)
        unit = LognormalMean(1_000_000, hardware.cpu.cv)
        draws = [Sampler(unit, streams.stream(f"{name}/cpu-{pool}")) for pool in range(3)]
        self._env = env
        self.store_id = store_id
        self.peers: dict[int, Peer] = {}
        self.cores = Cores(hardware.store_cores, hardware.threads_per_core, hardware.cpu.smt_gain)
        self.instance = InstanceMemory(tikv.in_memory_instance_size_limit_bytes)
        self.latches = Latches(tikv.scheduler_concurrency)
        fetches = streams.stream(f"{name}/fetches")
        self.raft_disk = Disk(hardware.raft_disk, streams.stream(f"{name}/raft-disk"), fetches)
        self.kv_disk = self.raft_disk
        if hardware.kv_disk is not None:
            self.kv_disk = Disk(hardware.kv_disk, streams.stream(f"{name}/kv-disk"), fetches)
        cache = BlockCache(self.kv_disk, streams.stream(f"{name}/block-cache"), links.misses)
        self.transport = Transport(env, links.raft, links.stores)
        self.log = self._make_log(hardware.lsm, ledger, stats, raft_engine=tikv.raft_engine_enable)
        kv = KvEngine(env, self.kv_disk, _amplification(hardware.lsm), ledger)
        self.apply = self._make_apply_pool(scenario, kv, draws[0], links.safe_ts)
        self.raft_pool = self._make_raft_pool(scenario, draws[1])
        workers = tikv.scheduler_worker_pool_size
        self.pool = ThreadPool(env, self.cores, workers, f"{name}/scheduler")
        readers = max(4, int(hardware.store_cores * _READ_POOL_SHARE))
        self.read_pool = ThreadPool(env, self.cores, readers, f"{name}/read-pool")
        self.scheduler = self._make_scheduler(scenario, cache, draws[2], links.replies, stats)
        self.scheduler.waits = LockManager(
            env,
            store_id,
            links.detector,
            timeout_ns=tikv.wait_for_lock_timeout_ns,
            wake_up_delay_ns=tikv.wake_up_delay_ns,
            answer=self.scheduler.answer,
            resume=self.scheduler.resume,
        )

    def _make_log(
        self, lsm: LsmSpec, ledger: DiskBytes, stats: StoreStats, *, raft_engine: bool
    ) -> LogEngine:
        log_format = LogFormat(
            raft_engine=raft_engine,
            compression=lsm.raft_engine_compression,
            rewrite=lsm.raftdb_rewrite,
        )
        return LogEngine(self._env, self.raft_disk, log_format, ledger, stats.entry_bytes)

    def _make_apply_pool(
        self, scenario: Scenario, kv: KvEngine, draw: Sampler, safe_ts: Callable[[], int]
    ) -> ApplyPool:
        cpu, tikv = scenario.hardware.cpu, scenario.tikv
        return ApplyPool(
            self._env,
            self.cores,
            kv,
            threads=tikv.apply_pool_size,
            max_batch=tikv.apply_max_batch_size,
            costs=ApplyCosts(command_ns=cpu.apply_command_ns, key_ns=cpu.apply_key_ns),
            draw=draw,
            on_applied=self._on_applied,
            safe_ts=safe_ts,
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
            peers=self.peers,
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
            propose=self.raft_pool.deliver,
            replies=replies,
            stats=stats,
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
            on_proposed=self._on_proposed,
        )
        if tikv.store_io_pool_size:
            pool.workers = WriteWorkers(
                self._env,
                tikv.store_io_pool_size,
                log=self.log,
                transport=self.transport,
                notify=pool.notify_persisted,
                wait_ns=tikv.raft_write_wait_duration_ns,
            )
        return pool

    def take_raft_messages(self, messages: Sequence[RaftMessage]) -> None:
        """Takes what another store has sent: each message into its peer's mailbox."""
        self.raft_pool.deliver_all(self.peers, messages)

    def background_work(self) -> Generator[Event, None, None]:
        """Lets the node's cores feel the CPU work that no pool runs, for ever."""
        while True:
            yield self._env.timeout(_SETTLE_NS)
            self.cores.settle(_SETTLE_NS)

    def heartbeats(self, interval_ns: int) -> Generator[Event, None, None]:
        """Tells followers of idle regions the commit index, each once every heartbeat interval.

        A region whose followers know everything hibernates: it sends nothing.
        """
        pool = self.raft_pool
        phase = 0
        while True:
            yield self._env.timeout(interval_ns // HEARTBEAT_PHASES)
            phase = (phase + 1) % HEARTBEAT_PHASES
            untold, pool.untold[phase] = pool.untold[phase], {}
            outbox: dict[int, list[RaftMessage]] = {}
            for peer in untold:
                raft = peer.raft
                committed = raft.log.committed
                if peer.commit_told >= committed or not peer.is_leader:
                    continue
                if min(raft.matched.values()) < committed:
                    # A follower is told no more than it is known to have: tell it the rest later.
                    pool.tell_later(peer)
                else:
                    peer.commit_told = committed
                for store in raft.voters:
                    if store != self.store_id:
                        beat = raft.heartbeat(store)
                        outbox.setdefault(store, []).append(beat)
            for store, beats in outbox.items():
                self.transport.send_beats(store, beats)

    def _on_proposed(self, request: object, at_ns: int) -> None:
        self.scheduler.on_proposed(request, at_ns)  # type: ignore[arg-type]

    def _on_applied(self, request: object) -> None:
        self.scheduler.on_applied(request)  # type: ignore[arg-type]


def _amplification(lsm: LsmSpec) -> Amplification:
    return Amplification(data=lsm.write_amplification, lock=lsm.lock_write_amplification)


class StoreLinks:
    """What a store needs of the rest of the cluster."""

    __slots__ = ("detector", "misses", "raft", "replies", "safe_ts", "stores")

    def __init__(
        self,
        *,
        raft: dict[int, Link],
        replies: list[Link],
        stores: dict[int, Store],
        detector: Detector,
        safe_ts: Callable[[], int],
        misses: Mapping[bytes, float],
    ) -> None:
        self.misses = misses
        self.raft = raft
        self.replies = replies
        self.stores = stores
        self.detector = detector
        self.safe_ts = safe_ts
