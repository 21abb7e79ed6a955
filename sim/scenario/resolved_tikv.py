"""TiKV's configuration as a simulation is built from it, in integer nanoseconds and bytes.

Names are TiKV's own, with dots and hyphens as underscores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from sim.hardware.file_system import LogFile
from sim.units import KIB

Behaviour = Literal["rfc77", "v6.0", "v8.5"]
Fallback = Literal["sync", "pipelined"]
LockMode = Literal["sync", "pipelined", "in_memory"]


COMPRESS_ABOVE_BYTES: Final = 8 * KIB
"""raft-engine's ``batch-compression-threshold`` (tikv/raft-engine src/config.rs)."""

LEAST_COMPRESSED_BYTES: Final = 4 * KIB
"""What TiKV lowers it to for write workers (src/config/mod.rs, RaftEngineConfig::optimize_for)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tikv:
    """TiKV's configuration."""

    behaviour: Behaviour
    pipelined: bool
    in_memory: bool
    """False as well where TiKV would ignore it all the time, because ``pipelined`` is."""
    in_memory_peer_size_limit_bytes: int
    in_memory_instance_size_limit_bytes: int
    in_memory_fallback: Fallback
    """The model's own: code falls back synchronously, the documentation says pipelined."""
    wait_for_lock_timeout_ns: int
    wake_up_delay_ns: int
    store_pool_size: int
    apply_pool_size: int
    store_io_pool_size: int
    """0: store pollers write and sync the raft log themselves."""
    store_max_batch_size: int
    apply_max_batch_size: int
    cmd_batch: bool
    cmd_batch_concurrent_ready_max_count: int
    raft_base_tick_interval_ns: int
    raft_heartbeat_ticks: int
    raft_max_inflight_msgs: int
    raft_write_wait_duration_ns: int
    scheduler_concurrency: int
    scheduler_worker_pool_size: int
    max_apply_unpersisted_log_limit: int
    raft_engine_enable: bool
    raft_engine_enable_log_recycle: bool
    region_split_size_bytes: int
    reactive_memory_lock_tick_interval_ns: int
    reactive_memory_lock_timeout_tick: int
    raft_election_timeout_ticks: int
    raft_store_max_leader_lease_ns: int
    raft_entry_max_size_bytes: int
    leader_transfer_max_log_lag: int
    merge_max_log_gap: int
    merge_check_tick_interval_ns: int
    hibernate_regions: bool
    max_entry_cache_warmup_duration_ns: int
    scheduler_pending_write_threshold_bytes: int
    force_in_memory: bool
    """The model's own: in-memory locks although an older store is in the cluster."""
    ablations: tuple[str, ...]
    """The model's own: names of protections that are left out, sorted."""

    @property
    def apply_unpersisted_entries(self) -> int:
        """Returns how many entries a leader may apply before they are on its own disk.

        A store poller that writes the log itself never gets that far ahead.
        """
        return self.max_apply_unpersisted_log_limit if self.store_io_pool_size else 0

    @property
    def compress_above_bytes(self) -> int:
        """Returns from which size on raft-engine compresses a batch.

        Source: tikv/raft-engine src/config.rs (batch-compression-threshold 8KB); tikv/tikv
        src/config/mod.rs (RaftEngineConfig::optimize_for: less with write workers, since v8.2).
        """
        workers = self.store_io_pool_size if self.behaviour == "v8.5" else 0
        return max(COMPRESS_ABOVE_BYTES // (workers + 1), LEAST_COMPRESSED_BYTES)

    @property
    def log_file(self) -> LogFile:
        """Returns what the raft log is appended to."""
        if not self.raft_engine_enable:
            return "growing"
        return "recycled" if self.raft_engine_enable_log_recycle else "preallocated"

    @property
    def lock_mode(self) -> LockMode:
        """Returns how a pessimistic lock request is answered unless it has to fall back.

        Source: tikv/tikv src/storage/txn/scheduler.rs (pessimistic_lock_mode).
        """
        if not self.pipelined:
            return "sync"
        return "in_memory" if self.in_memory else "pipelined"
