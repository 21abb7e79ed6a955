"""Section ``tikv``: TiKV's own keys, dotted, and their defaults by version.

A key whose default changed between versions has None here and its value in ``DEFAULTS``; which row
of it applies is ``behaviour``.

Source: tikv/tikv src/config/mod.rs, components/raftstore/src/store/config.rs,
components/raftstore/src/coprocessor/config.rs, src/server/lock_manager/config.rs; TiKV docs,
configuration file; release notes where a default changed.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Self

from pydantic import field_validator, model_validator

from sim.protocol.ablations import ABLATIONS
from sim.scenario.fields import Count, Limit, Quantity, Section, Switch, Text, key, wrong
from sim.scenario.problems import shown, suggestion
from sim.scenario.quantities import DURATION, SIZE
from sim.scenario.resolved_tikv import Behaviour, Fallback
from sim.units import GIB, MIB, NS_PER_US

_Tick = Annotated[int, Quantity(DURATION, "1ms", "1h")]

DEFAULTS: Final[dict[Behaviour, dict[str, Any]]] = {
    "rfc77": {
        "version": "6.0.0",
        "store_io_pool_size": 0,
        "max_apply_unpersisted_log_limit": 0,
        "raft_engine_enable": False,
        "raft_engine_enable_log_recycle": False,
        "raft_write_wait_duration": 0,
        "region_split_size": 96 * MIB,
        "fair_locking": False,
    },
    "v6.0": {
        "version": "6.0.0",
        "store_io_pool_size": 0,
        "max_apply_unpersisted_log_limit": 0,
        "raft_engine_enable": False,
        "raft_engine_enable_log_recycle": False,
        "raft_write_wait_duration": 0,
        "region_split_size": 96 * MIB,
        "fair_locking": False,
    },
    "v8.5": {
        "version": "8.5.0",
        "store_io_pool_size": 1,
        "max_apply_unpersisted_log_limit": 1024,
        "raft_engine_enable": True,
        "raft_engine_enable_log_recycle": True,
        "raft_write_wait_duration": 20 * NS_PER_US,
        "region_split_size": 256 * MIB,
        "fair_locking": True,
    },
}
"""Values of keys that are not given, by version, in nanoseconds and bytes."""


def instance_limit_bytes(behaviour: Behaviour, store_memory_bytes: int) -> int:
    """Returns the default limit of all in-memory locks of one store.

    Source: tikv/rfcs text/0077 (min(1 GiB, 5 % of memory)); tikv/tikv#11841 (100 MiB).
    """
    return min(GIB, store_memory_bytes // 20) if behaviour == "rfc77" else 100 * MIB


def scheduler_workers(store_cores: int) -> int:
    """Returns the default of ``storage.scheduler-worker-pool-size``.

    Source: tikv/tikv src/storage/config.rs (8 from 16 cores, else 1 to 4).
    """
    return 8 if store_cores >= 16 else max(1, min(4, store_cores))


class TikvSection(Section):
    """TiKV's configuration, under TiKV's names."""

    behaviour: Behaviour = key(
        default="v6.0",
        description="Whose rules and defaults hold where they differ: the RFC's text, TiKV v6.0 "
        "or v8.5; versions between: docs/COOKBOOK.md. Source: our own default; in-memory locks "
        "are on by default since v6.0.",
    )
    file: Text | None = key(
        default=None,
        description="A tikv.toml whose keys lie below those written here; keys that the model "
        "does not have change nothing.",
    )
    pipelined: Switch = key(
        default=True,
        alias="pessimistic-txn.pipelined",
        description="Answer a lock request once it is proposed. Source: TiKV docs: true since "
        "v5.0.",
    )
    in_memory: Switch = key(
        default=True,
        alias="pessimistic-txn.in-memory",
        description="Keep pessimistic locks in the leader's memory; has no effect unless "
        "pipelined is true. Source: TiKV docs: true since v6.0; scheduler.rs "
        "(pessimistic_lock_mode).",
    )
    in_memory_peer_size_limit: Limit = key(
        default="512KiB",
        alias="pessimistic-txn.in-memory-peer-size-limit",
        description="In-memory locks of one region. Source: tikv/tikv#11841; a key since v8.4.",
    )
    in_memory_instance_size_limit: Limit | None = key(
        default=None,
        alias="pessimistic-txn.in-memory-instance-size-limit",
        description="In-memory locks of one store. Source: tikv/tikv#11841: 100 MiB, a key since "
        "v8.4; RFC 77: min(1 GiB, 5 % of memory).",
    )
    in_memory_fallback: Fallback = key(
        default="sync",
        alias="pessimistic-txn.in-memory-fallback",
        description="How a lock that does not fit into memory is answered. Not a key of TiKV. "
        "Source: tikv/tikv scheduler.rs answers after apply; TiDB docs say pipelined.",
    )
    wait_for_lock_timeout: Annotated[int, Quantity(DURATION, "1ms", "1h")] = key(
        default="1s",
        alias="pessimistic-txn.wait-for-lock-timeout",
        description="A request waits for a lock this long, then the client asks again. Source: "
        "lock_manager/config.rs.",
    )
    wake_up_delay_duration: Annotated[int, Quantity(DURATION, "0ms", "1m")] = key(
        default="20ms",
        alias="pessimistic-txn.wake-up-delay-duration",
        description="Other waiters of a key wake this long after the first. Source: "
        "lock_manager/config.rs.",
    )
    store_pool_size: Annotated[int, Count(1, 1_024)] = key(
        default=2,
        alias="raftstore.store-pool-size",
        description="Store pollers, the threads that propose. Source: raftstore store/config.rs.",
    )
    apply_pool_size: Annotated[int, Count(1, 1_024)] = key(
        default=2,
        alias="raftstore.apply-pool-size",
        description="Threads that apply committed entries. Source: raftstore store/config.rs.",
    )
    store_io_pool_size: Annotated[int, Count(0, 1_024)] | None = key(
        default=None,
        alias="raftstore.store-io-pool-size",
        description="Threads that write the raft log; 0: store pollers do it. Source: tikv/tikv "
        "#16615: 1 since v8.0, 0 before.",
    )
    store_max_batch_size: Annotated[int, Count(1, 100_000)] = key(
        default=256,
        alias="raftstore.store-max-batch-size",
        description="Regions a store poller takes in one loop. Source: raftstore store/config.rs.",
    )
    apply_max_batch_size: Annotated[int, Count(1, 100_000)] = key(
        default=256,
        alias="raftstore.apply-max-batch-size",
        description="Regions an apply thread takes in one loop. Source: raftstore store/config.rs.",
    )
    cmd_batch: Switch = key(
        default=True,
        alias="raftstore.cmd-batch",
        description="Merge requests to one region into one entry while they wait. Source: "
        "raftstore store/config.rs.",
    )
    cmd_batch_concurrent_ready_max_count: Annotated[int, Count(0, 1_000)] = key(
        default=1,
        alias="raftstore.cmd-batch-concurrent-ready-max-count",
        description="With that many unpersisted readies a batch is held back; 0: never. Source: "
        "raftstore store/config.rs; tikv/tikv#11121.",
    )
    raft_base_tick_interval: Annotated[int, Quantity(DURATION, "1ms", "1h")] = key(
        default="1s",
        alias="raftstore.raft-base-tick-interval",
        description="Raft's unit of time. Source: raftstore store/config.rs.",
    )
    raft_heartbeat_ticks: Annotated[int, Count(1, 1_000)] = key(
        default=2,
        alias="raftstore.raft-heartbeat-ticks",
        description="Ticks between two heartbeats of a leader. Source: raftstore store/config.rs.",
    )
    raft_max_inflight_msgs: Annotated[int, Count(1, 16_384)] = key(
        default=256,
        alias="raftstore.raft-max-inflight-msgs",
        description="Append messages to one follower without an answer. Source: raftstore "
        "store/config.rs.",
    )
    raft_write_wait_duration: Annotated[int, Quantity(DURATION, "0us", "1s")] | None = key(
        default=None,
        alias="raftstore.raft-write-wait-duration",
        description="A write thread waits this long for more before it writes a small batch. "
        "Source: raftstore store/config.rs: 20us since v8.3, unknown before.",
    )
    scheduler_concurrency: Annotated[int, Count(1, 2**24)] = key(
        default=524_288,
        alias="storage.scheduler-concurrency",
        description="Latch slots. Source: src/storage/config.rs.",
    )
    scheduler_worker_pool_size: Annotated[int, Count(1, 1_024)] | None = key(
        default=None,
        alias="storage.scheduler-worker-pool-size",
        description="Scheduler threads. Source: src/storage/config.rs: 8 from 16 cores, else 4 or "
        "the number of cores.",
    )
    max_apply_unpersisted_log_limit: Annotated[int, Count(0, 1_000_000)] | None = key(
        default=None,
        alias="raftstore.max-apply-unpersisted-log-limit",
        description="With write workers, committed entries that a leader applies before they are "
        "on its own disk. Source: tikv/tikv#16626: 1024 since v8.2, 0 before.",
    )
    raft_engine_enable: Switch | None = key(
        default=None,
        alias="raft-engine.enable",
        description="Keep the raft log in raft-engine, else in raftdb. Source: TiKV docs: true "
        "since v6.1.",
    )
    raft_engine_enable_log_recycle: Switch | None = key(
        default=None,
        alias="raft-engine.enable-log-recycle",
        description="raft-engine writes over its old files, which changes no metadata. Source: "
        "TiKV docs: true since v6.3.",
    )
    region_split_size: Annotated[int, Quantity(SIZE, "1MiB", "1TiB")] | None = key(
        default=None,
        alias="coprocessor.region-split-size",
        description="Size of a region. Source: coprocessor/config.rs: 256MiB since v8.4, 96MiB "
        "before.",
    )
    reactive_memory_lock_tick_interval: _Tick = key(
        default="2s",
        alias="raftstore.reactive-memory-lock-tick-interval",
        description="After locks were proposed for a transfer the table is looked at this often. "
        "Source: raftstore store/config.rs.",
    )
    reactive_memory_lock_timeout_tick: Annotated[int, Count(1, 100_000)] = key(
        default=5,
        alias="raftstore.reactive-memory-lock-timeout-tick",
        description="Ticks after which the table takes locks again, if the transfer did not "
        "happen. Source: raftstore store/config.rs.",
    )
    raft_election_timeout_ticks: Annotated[int, Count(2, 10_000)] = key(
        default=10,
        alias="raftstore.raft-election-timeout-ticks",
        description="A follower without a leader campaigns after one to two times this. Source: "
        "raftstore store/config.rs.",
    )
    raft_store_max_leader_lease: Annotated[int, Quantity(DURATION, "1ms", "1h")] = key(
        default="9s",
        alias="raftstore.raft-store-max-leader-lease",
        description="A leader serves reads this long after a quorum answered. Source: raftstore "
        "store/config.rs.",
    )
    raft_entry_max_size: Annotated[int, Quantity(SIZE, "1KiB", "3GiB")] = key(
        default="8MiB",
        alias="raftstore.raft-entry-max-size",
        description="A larger proposal is refused; in-memory locks of a transfer are proposed up "
        "to this. Source: raftstore store/config.rs.",
    )
    leader_transfer_max_log_lag: Annotated[int, Count(1, 1_000_000)] = key(
        default=128,
        alias="raftstore.leader-transfer-max-log-lag",
        description="A follower further behind does not become leader. Source: raftstore "
        "store/config.rs.",
    )
    merge_max_log_gap: Annotated[int, Count(1, 1_000_000)] = key(
        default=10,
        alias="raftstore.merge-max-log-gap",
        description="A region does not merge while a follower is further behind. Source: "
        "raftstore store/config.rs.",
    )
    merge_check_tick_interval: _Tick = key(
        default="2s",
        alias="raftstore.merge-check-tick-interval",
        description="Between two attempts to commit a prepared merge. Source: raftstore "
        "store/config.rs.",
    )
    hibernate_regions: Switch = key(
        default=True,
        alias="raftstore.hibernate-regions",
        description="A region without requests stops ticking. Source: raftstore store/config.rs: "
        "true since v5.0.",
    )
    max_entry_cache_warmup_duration: Annotated[int, Quantity(DURATION, "0ms", "1h")] = key(
        default="1s",
        alias="raftstore.max-entry-cache-warmup-duration",
        description="A leader-to-be fills its entry cache for at most this long. Source: "
        "raftstore store/config.rs.",
    )
    scheduler_pending_write_threshold: Annotated[int, Quantity(SIZE, "1KiB", "1TiB")] = key(
        default="100MiB",
        alias="storage.scheduler-pending-write-threshold",
        description="A store with more unfinished writes answers ServerIsBusy. Source: "
        "src/storage/config.rs.",
    )
    force_in_memory: Switch = key(
        default=False,
        alias="pessimistic-txn.force-in-memory",
        description="Use in-memory locks although stores older than v6.0 are in the cluster. Not "
        "a key of TiKV. Source: our own, to see what the feature gate prevents.",
    )
    ablations: list[Text] = key(
        default=[],
        description="Protections to leave out, by name. Not a key of TiKV. Source: our own, to "
        "see what each of them prevents.",
        max_length=len(ABLATIONS),
    )

    @field_validator("file")
    @classmethod
    def _is_read_before(cls, value: str | None) -> str | None:
        if value is not None:
            raise wrong("is the same for all cases; name it under tikv at the top of the file, and "
                        "write here the keys that differ")  # fmt: skip
        return value

    @field_validator("ablations")
    @classmethod
    def _are_known(cls, names: list[str]) -> list[str]:
        for name in names:
            if name not in ABLATIONS:
                raise wrong(f"no ablation {shown(name)}; {suggestion(name, list(ABLATIONS))}")
        return sorted(set(names))

    @model_validator(mode="after")
    def _limits_agree(self) -> Self:
        instance = self.in_memory_instance_size_limit
        if instance is not None and instance < self.in_memory_peer_size_limit:
            raise wrong("is smaller than the limit of one region; a store has many regions",
                        at="pessimistic-txn.in-memory-instance-size-limit")  # fmt: skip
        self._check_ticks()
        return self

    def _check_ticks(self) -> None:
        """Refuses what TiKV's own validation refuses.

        Source: tikv/tikv raftstore store/config.rs (validate).
        """
        election, lease = self.raft_election_timeout_ticks, self.raft_store_max_leader_lease
        election_ns = self.raft_base_tick_interval * election
        if lease > election_ns:
            raise wrong(f"a lease of {DURATION.text_of(lease)} outlasts the election timeout, "
                        f"{DURATION.text_of(election_ns)}; shorten the lease",
                        at="raftstore.raft-store-max-leader-lease")  # fmt: skip
        if election <= self.raft_heartbeat_ticks:
            raise wrong(f"{self.raft_heartbeat_ticks} ticks between heartbeats, but an election "
                        f"after {election}; write less",
                        at="raftstore.raft-heartbeat-ticks")  # fmt: skip
