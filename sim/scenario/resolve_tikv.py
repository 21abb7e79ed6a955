"""Section ``tikv`` resolved: what is not given is the version's default, or the hardware's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim.scenario.resolved_operations import Operation, SetConfig
from sim.scenario.resolved_tikv import Tikv
from sim.scenario.schema.hardware import HardwareSection
from sim.scenario.schema.tikv import (
    DEFAULTS,
    TikvSection,
    instance_limit_bytes,
    scheduler_workers,
)


def resolved_tikv(
    section: TikvSection, hardware: HardwareSection, operations: Sequence[Operation] = ()
) -> Tikv:
    """Returns the section with every default filled in, also those that hardware decides.

    In-memory locks that ``pipelined`` hides are as good as off, unless an operation changes it.
    """
    changed = [each.key for each in operations if isinstance(each, SetConfig)]
    hidden = not section.pipelined and "pessimistic-txn.pipelined" not in changed
    defaults = DEFAULTS[section.behaviour]

    def given_or_default(value: int | None, key: str) -> int:
        return int(defaults[key]) if value is None else value

    limit = section.in_memory_instance_size_limit
    if limit is None:
        limit = instance_limit_bytes(section.behaviour, hardware.store_memory)
    return Tikv(
        behaviour=section.behaviour,
        pipelined=section.pipelined,
        in_memory=section.in_memory and not hidden,
        in_memory_peer_size_limit_bytes=section.in_memory_peer_size_limit,
        in_memory_instance_size_limit_bytes=limit,
        in_memory_fallback=section.in_memory_fallback,
        wait_for_lock_timeout_ns=section.wait_for_lock_timeout,
        wake_up_delay_ns=section.wake_up_delay_duration,
        store_pool_size=section.store_pool_size,
        apply_pool_size=section.apply_pool_size,
        store_io_pool_size=given_or_default(section.store_io_pool_size, "store_io_pool_size"),
        store_max_batch_size=section.store_max_batch_size,
        apply_max_batch_size=section.apply_max_batch_size,
        cmd_batch=section.cmd_batch,
        cmd_batch_concurrent_ready_max_count=section.cmd_batch_concurrent_ready_max_count,
        raft_base_tick_interval_ns=section.raft_base_tick_interval,
        raft_heartbeat_ticks=section.raft_heartbeat_ticks,
        raft_max_inflight_msgs=section.raft_max_inflight_msgs,
        raft_write_wait_duration_ns=given_or_default(
            section.raft_write_wait_duration, "raft_write_wait_duration"
        ),
        scheduler_concurrency=section.scheduler_concurrency,
        scheduler_worker_pool_size=section.scheduler_worker_pool_size
        or scheduler_workers(hardware.store_cores),
        **_of_raft_engine(section),
        region_split_size_bytes=given_or_default(section.region_split_size, "region_split_size"),
        **_of_region_life(section),
    )


def _of_raft_engine(section: TikvSection) -> dict[str, Any]:
    """Returns whether and how raft-engine keeps the log."""
    defaults = DEFAULTS[section.behaviour]
    return {
        key: bool(defaults[key] if given is None else given)
        for key, given in (
            ("raft_engine_enable", section.raft_engine_enable),
            ("raft_engine_enable_log_recycle", section.raft_engine_enable_log_recycle),
        )
    }


def _of_region_life(section: TikvSection) -> dict[str, Any]:
    """Returns what matters when regions move."""
    return {
        "reactive_memory_lock_tick_interval_ns": section.reactive_memory_lock_tick_interval,
        "reactive_memory_lock_timeout_tick": section.reactive_memory_lock_timeout_tick,
        "raft_election_timeout_ticks": section.raft_election_timeout_ticks,
        "raft_store_max_leader_lease_ns": section.raft_store_max_leader_lease,
        "raft_entry_max_size_bytes": section.raft_entry_max_size,
        "leader_transfer_max_log_lag": section.leader_transfer_max_log_lag,
        "merge_max_log_gap": section.merge_max_log_gap,
        "merge_check_tick_interval_ns": section.merge_check_tick_interval,
        "hibernate_regions": section.hibernate_regions,
        "max_entry_cache_warmup_duration_ns": section.max_entry_cache_warmup_duration,
        "scheduler_pending_write_threshold_bytes": section.scheduler_pending_write_threshold,
        "force_in_memory": section.force_in_memory,
        "ablations": tuple(section.ablations),
    }
