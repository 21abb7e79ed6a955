"""TiKV's configuration as a file says it, complete and under TiKV's names."""

from __future__ import annotations

from typing import Any

from sim.scenario.quantities import DURATION, SIZE
from sim.scenario.resolved_tikv import Tikv


def tikv_document(tikv: Tikv) -> dict[str, Any]:
    """Returns the section of a file that gives this configuration, whatever the version's."""
    return {
        "behaviour": tikv.behaviour,
        "pessimistic-txn.pipelined": tikv.pipelined,
        "pessimistic-txn.in-memory": tikv.in_memory,
        "pessimistic-txn.in-memory-peer-size-limit": SIZE.text_of(
            tikv.in_memory_peer_size_limit_bytes
        ),
        "pessimistic-txn.in-memory-instance-size-limit": SIZE.text_of(
            tikv.in_memory_instance_size_limit_bytes
        ),
        "pessimistic-txn.in-memory-fallback": tikv.in_memory_fallback,
        "pessimistic-txn.wait-for-lock-timeout": DURATION.text_of(tikv.wait_for_lock_timeout_ns),
        "pessimistic-txn.wake-up-delay-duration": DURATION.text_of(tikv.wake_up_delay_ns),
        "raftstore.store-pool-size": tikv.store_pool_size,
        "raftstore.apply-pool-size": tikv.apply_pool_size,
        "raftstore.store-io-pool-size": tikv.store_io_pool_size,
        "raftstore.store-max-batch-size": tikv.store_max_batch_size,
        "raftstore.apply-max-batch-size": tikv.apply_max_batch_size,
        "raftstore.cmd-batch": tikv.cmd_batch,
        "raftstore.cmd-batch-concurrent-ready-max-count": (
            tikv.cmd_batch_concurrent_ready_max_count
        ),
        "raftstore.raft-base-tick-interval": DURATION.text_of(tikv.raft_base_tick_interval_ns),
        "raftstore.raft-heartbeat-ticks": tikv.raft_heartbeat_ticks,
        "raftstore.raft-max-inflight-msgs": tikv.raft_max_inflight_msgs,
        "raftstore.raft-write-wait-duration": DURATION.text_of(tikv.raft_write_wait_duration_ns),
        "storage.scheduler-concurrency": tikv.scheduler_concurrency,
        "storage.scheduler-worker-pool-size": tikv.scheduler_worker_pool_size,
        "raft-engine.enable": tikv.raft_engine_enable,
        "raft-engine.enable-log-recycle": tikv.raft_engine_enable_log_recycle,
        "coprocessor.region-split-size": SIZE.text_of(tikv.region_split_size_bytes),
        **_of_region_life(tikv),
    }


def _of_region_life(tikv: Tikv) -> dict[str, Any]:
    """Returns what matters when regions move."""
    raftstore = {
        "reactive-memory-lock-tick-interval": DURATION.text_of(
            tikv.reactive_memory_lock_tick_interval_ns
        ),
        "reactive-memory-lock-timeout-tick": tikv.reactive_memory_lock_timeout_tick,
        "raft-election-timeout-ticks": tikv.raft_election_timeout_ticks,
        "raft-store-max-leader-lease": DURATION.text_of(tikv.raft_store_max_leader_lease_ns),
        "raft-entry-max-size": SIZE.text_of(tikv.raft_entry_max_size_bytes),
        "leader-transfer-max-log-lag": tikv.leader_transfer_max_log_lag,
        "merge-max-log-gap": tikv.merge_max_log_gap,
        "merge-check-tick-interval": DURATION.text_of(tikv.merge_check_tick_interval_ns),
        "hibernate-regions": tikv.hibernate_regions,
        "max-entry-cache-warmup-duration": DURATION.text_of(
            tikv.max_entry_cache_warmup_duration_ns
        ),
    }
    threshold = SIZE.text_of(tikv.scheduler_pending_write_threshold_bytes)
    return {f"raftstore.{key}": value for key, value in raftstore.items()} | {
        "storage.scheduler-pending-write-threshold": threshold,
        "pessimistic-txn.force-in-memory": tikv.force_in_memory,
        "ablations": list(tikv.ablations),
    }
