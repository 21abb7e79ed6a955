"""Makes the stations of one store from a scenario, wired to each other through the store.

Calls go through the store at the time they are made: a part may be made before those it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.pd.placement import IN_MEMORY_SINCE
from sim.protocol.ablations import Ablations
from sim.raftstore.apply import ApplyCosts
from sim.raftstore.apply_watch import ApplyWatch
from sim.raftstore.kv_engine import Amplification
from sim.raftstore.log_engine import LogEngine, LogFormat
from sim.raftstore.msg import LocksApplied
from sim.raftstore.store_pool import Batching, Door
from sim.raftstore.write_worker import WriteWorkers
from sim.storage.ablated import overlooked
from sim.storage.lock_manager import LockManager
from sim.storage.lock_mode import LockMode
from sim.storage.request_costs import RequestCosts
from sim.storage.write_path import WritePath

if TYPE_CHECKING:
    from sim.distributions import Sampler
    from sim.hardware.network import Link
    from sim.protocol.raft.log import Entry
    from sim.raftstore.apply import ApplyPool
    from sim.raftstore.peer import Peer
    from sim.raftstore.store_pool import StorePool
    from sim.scenario.resolved import Scenario
    from sim.server.cluster import Cluster
    from sim.server.store import Store
    from sim.storage.block_cache import BlockCache
    from sim.storage.scheduler import Scheduler
    from sim.storage.store_stats import StoreStats


def make_log(cluster: Cluster, store: Store, scenario: Scenario, stats: StoreStats) -> LogEngine:
    """Returns the raft engine."""
    lsm, tikv = scenario.hardware.lsm, scenario.tikv
    log_format = LogFormat(
        raft_engine=tikv.raft_engine_enable,
        file=tikv.log_file,
        file_system=scenario.hardware.file_system,
        compression=lsm.raft_engine_compression,
        rewrite=lsm.raftdb_rewrite,
    )
    return LogEngine(cluster.env, store.raft_disk, log_format, cluster.ledger, stats.entry_bytes)


def make_apply_pool(cluster: Cluster, store: Store, scenario: Scenario, draw: Sampler) -> ApplyPool:
    """Returns the apply pool and the KV engine below it."""
    lsm, tikv, cpu = scenario.hardware.lsm, scenario.tikv, scenario.hardware.cpu
    amplification = Amplification(data=lsm.write_amplification, lock=lsm.lock_write_amplification)
    return store.apply_class(
        cluster.env,
        store.cores,
        store.engine_class(cluster.env, store.kv_disk, amplification, cluster.ledger),
        threads=tikv.apply_pool_size,
        max_batch=tikv.apply_max_batch_size,
        costs=ApplyCosts(command_ns=cpu.apply_command_ns, key_ns=cpu.apply_key_ns),
        draw=draw,
        watch=_make_watch(store, as_in_rfc=tikv.behaviour == "rfc77"),
        safe_ts=cluster.tso.safe_ts,
    )


def _make_watch(store: Store, *, as_in_rfc: bool) -> ApplyWatch:
    life = store.region_life

    def on_migrated(peer: Peer, entry: Entry) -> bool:
        if as_in_rfc and peer.is_leader:
            store.raft_pool.deliver(peer, LocksApplied(entry.index))
        # The RFC thought of new fields in messages; TiKV writes ordinary records.
        return not as_in_rfc or store.version >= IN_MEMORY_SINCE

    return ApplyWatch(
        on_applied=store.writes.on_applied,
        on_stale=life.skipped,
        on_admin=life.apply_admin.apply,
        on_noop=life.roles.noop_applied,
        on_migrated=on_migrated,
        on_progress=life.merge.applied_further,
        probe=store.probe,
        holds=store.holds,
    )


def make_scheduler(
    cluster: Cluster,
    store: Store,
    scenario: Scenario,
    cache: BlockCache,
    draw: Sampler,
    replies: list[Link],
) -> Scheduler:
    """Returns the transaction layer."""
    cpu, tikv = scenario.hardware.cpu, scenario.tikv
    return store.scheduler_class(
        cluster.env,
        store=store,
        serving=store.serving,
        latches=store.latches,
        pool=store.pool,
        read_pool=store.read_pool,
        cores=store.cores,
        cache=cache,
        costs=RequestCosts(
            request_ns=cpu.tikv_request_ns,
            extra_key=cpu.tikv_extra_key,
            background_ns=cpu.tikv_background_ns,
        ),
        draw=draw,
        hop_ns=cpu.thread_hop_ns,
        replies=replies,
        pending_max_bytes=tikv.scheduler_pending_write_threshold_bytes,
    )


def make_write_path(
    cluster: Cluster, store: Store, scenario: Scenario, stats: StoreStats
) -> WritePath:
    """Returns the way of the scheduler's writes."""
    tikv = scenario.tikv
    mode = LockMode(
        pipelined=tikv.pipelined,
        in_memory=tikv.in_memory,
        pipelined_fallback=tikv.in_memory_fallback == "pipelined",
    )
    unheard = overlooked(Ablations.of(tikv.ablations))
    return WritePath(cluster.env, store, store.scheduler, mode, stats, unheard)


def make_raft_pool(cluster: Cluster, store: Store, scenario: Scenario, draw: Sampler) -> StorePool:
    """Returns the store pollers, with write workers if there are any."""
    tikv = scenario.tikv
    pool = store.raft_pool_class(
        cluster.env,
        store.cores,
        threads=tikv.store_pool_size,
        batching=Batching(
            max_batch=tikv.store_max_batch_size,
            merge_commands=tikv.cmd_batch,
            max_unpersisted=tikv.cmd_batch_concurrent_ready_max_count,
        ),
        message_ns=scenario.hardware.cpu.store_message_ns,
        draw=draw,
        log=store.log,
        apply=store.apply,
        transport=store.transport,
        workers=None,
        door=Door(
            on_proposed=store.writes.on_proposed,
            admit=store.admission.admit,
            handle=store.region_life.handle,
            ready=store.region_life.ready,
            holds=store.holds,
        ),
        lease_ns=tikv.raft_store_max_leader_lease_ns,
    )
    if tikv.store_io_pool_size:
        pool.workers = WriteWorkers(
            cluster.env,
            tikv.store_io_pool_size,
            log=store.log,
            transport=store.transport,
            notify=pool.notify_persisted,
            visit=pool.visit,
            wait_ns=tikv.raft_write_wait_duration_ns,
        )
    return pool


def make_lock_manager(cluster: Cluster, store: Store, scenario: Scenario) -> LockManager:
    """Returns the waiters of a process that has just begun: none."""
    tikv = scenario.tikv
    return LockManager(
        cluster.env,
        store.store_id,
        cluster.detector,
        timeout_ns=tikv.wait_for_lock_timeout_ns,
        wake_up_delay_ns=tikv.wake_up_delay_ns,
        answer=store.scheduler.answer,
        resume=store.scheduler.resume,
    )
