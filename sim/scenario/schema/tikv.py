"""Section ``tikv``: TiKV's own keys, dotted, and their defaults by version.

Which default applies, of those that changed, is ``behaviour``'s to say.

Source: tikv/tikv src/config/mod.rs, components/raftstore/src/store/config.rs,
components/raftstore/src/coprocessor/config.rs, src/server/lock_manager/config.rs; TiKV docs,
configuration file; release notes where a default changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, get_args

from sim.hardware.file_system import LogFile
from sim.protocol.ablations import ABLATIONS
from sim.scenario.fields import (
    LIMIT,
    SWITCH,
    TEXT,
    ByVersion,
    Count,
    Duration,
    Form,
    Key,
    ListOf,
    OneOf,
    Schema,
    Size,
    Wrong,
)
from sim.scenario.problems import shown, suggestion
from sim.scenario.quantities import DURATION
from sim.scenario.section import Section
from sim.scenario.versions import (
    ANSWERS_IN_POOL_SINCE,
    RELEASES,
    RFC,
    SMALLER_BLOCKS_SINCE,
    Version,
    release_version,
)
from sim.units import GIB, KIB, MIB

Fallback = Literal["sync", "pipelined"]
LockMode = Literal["sync", "pipelined", "in_memory"]

_TICK = Duration("1ms", "1h")

COMPRESS_ABOVE_BYTES: Final = 8 * KIB
"""raft-engine's ``batch-compression-threshold`` (tikv/raft-engine src/config.rs)."""

LEAST_COMPRESSED_BYTES: Final = 4 * KIB
"""What TiKV lowers it to for write workers (src/config/mod.rs, RaftEngineConfig::optimize_for)."""

_LOWER_THRESHOLD_SINCE: Final[Version] = (8, 2, 0)


def instance_limit_bytes(behaviour: str, store_memory_bytes: int) -> int:
    """Returns the default limit of all in-memory locks of one store.

    Source: tikv/rfcs text/0077 (min(1 GiB, 5 % of memory)); tikv/tikv#11841 (100 MiB).
    """
    return min(GIB, store_memory_bytes // 20) if behaviour == RFC else 100 * MIB


def scheduler_workers(store_cores: int) -> int:
    """Returns the default of ``storage.scheduler-worker-pool-size``.

    Source: tikv/tikv src/storage/config.rs (8 from 16 cores, else 1 to 4).
    """
    return 8 if store_cores >= 16 else max(1, min(4, store_cores))


READ_POOL_SHARE = 0.8
"""``readpool.unified.max-thread-count`` is 80 % of the cores."""


def unified_readers(store_cores: int) -> int:
    """Returns the default of ``readpool.unified.max-thread-count``.

    Source: TiKV docs, TiKV configuration file (80 % of the cores, at least 4).
    """
    return max(4, int(READ_POOL_SHARE * store_cores))


class _Release(OneOf):
    """A release of TiKV, or the RFC."""

    def __init__(self) -> None:
        super().__init__(RFC, *RELEASES)

    def parse(self, value: object) -> str:
        """Returns the release as its own documents write it."""
        if isinstance(value, str) and value in self.words:
            return value
        found = re.match(r"v?(\d+\.\d+)", str(value))
        near = f"v{found[1]}" if found else ""
        if near not in RELEASES:
            near = f"{RFC}, or a release from {RELEASES[0]} to {RELEASES[-1]}"
        raise Wrong(f"must be a release, is {shown(value)}; write {near}")


class _ReadBefore(Form):
    """The name of a file that has been read by now, so that it has no place in a case."""

    def parse(self, _: object) -> str:
        """Refuses any value."""
        raise Wrong("is the same for all cases; name it under tikv at the top of the file, and "
                    "write here the keys that differ")  # fmt: skip

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns text."""
        return TEXT.described(definitions)


ABLATION_NAMES: Final = tuple(ABLATIONS)
"""Protections that can be left out."""


def _known_ablations(names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns names of protections, sorted, each of them once."""
    for name in names:
        if name not in ABLATION_NAMES:
            raise Wrong(f"no ablation {shown(name)}; {suggestion(name, ABLATION_NAMES)}")
    return tuple(sorted(set(names)))


@dataclass(frozen=True, kw_only=True)
class Tikv(Section):
    """TiKV's configuration, under TiKV's names."""

    behaviour: str = _Release().key(
        "The release whose rules and defaults apply, or rfc77, the RFC's text where TiKV differs "
        "from it. Source: our own default; in-memory locks are on by default since v6.0.",
        default="v6.0",
    )
    file: ClassVar[Key] = _ReadBefore().note(
        "A tikv.toml. Keys given here override it; keys that the model does not have are ignored.",
        default=None,
    )
    pipelined: bool = SWITCH.key(
        "Answer a lock request as soon as it is proposed. Source: TiKV docs: true since v5.0.",
        default=True,
        name="pessimistic-txn.pipelined",
    )
    in_memory: bool = SWITCH.key(
        "Keep pessimistic locks in the leader's memory; has no effect unless pipelined is true. "
        "Source: TiKV docs; scheduler.rs (pessimistic_lock_mode).",
        default=ByVersion(first=False, since={"v6.0": True}),
        name="pessimistic-txn.in-memory",
    )
    in_memory_peer_size_limit_bytes: int = LIMIT.key(
        "Size limit of in-memory locks of one region. Source: tikv/tikv#11841; a key since v8.4.",
        default="512KiB",
        name="pessimistic-txn.in-memory-peer-size-limit",
    )
    in_memory_instance_size_limit_bytes: int = LIMIT.key(
        "Size limit of in-memory locks of one store. Source: tikv/tikv#11841: 100 MiB, a key "
        "since v8.4; RFC 77: min(1 GiB, 5 % of memory).",
        default=None,
        name="pessimistic-txn.in-memory-instance-size-limit",
    )
    in_memory_fallback: Fallback = OneOf(*get_args(Fallback)).key(
        "When a lock that does not fit into memory is answered. Not a key of TiKV. Source: "
        "tikv/tikv scheduler.rs answers after apply; TiDB docs say pipelined.",
        default="sync",
        name="pessimistic-txn.in-memory-fallback",
    )
    wait_for_lock_timeout_ns: int = Duration("1ms", "1h").key(
        "How long a request waits for a lock before the client asks again. Source: "
        "lock_manager/config.rs.",
        default="1s",
        name="pessimistic-txn.wait-for-lock-timeout",
    )
    wake_up_delay_ns: int = Duration("0ms", "1m").key(
        "Delay between the first waiter of a key and the others. Source: lock_manager/config.rs.",
        default="20ms",
        name="pessimistic-txn.wake-up-delay-duration",
    )
    store_pool_size: int = Count(1, 1_024).key(
        "Store pollers, the threads that propose. Source: raftstore store/config.rs.",
        default=2,
        name="raftstore.store-pool-size",
    )
    apply_pool_size: int = Count(1, 1_024).key(
        "Threads that apply committed entries. Source: raftstore store/config.rs.",
        default=2,
        name="raftstore.apply-pool-size",
    )
    store_io_pool_size: int = Count(0, 1_024).key(
        "Threads that write the raft log; with 0 store pollers write it. Source: tikv/tikv#16615.",
        default=ByVersion(first=0, since={"v8.0": 1}),
        name="raftstore.store-io-pool-size",
    )
    store_max_batch_size: int = Count(1, 100_000).key(
        "Regions a store poller takes in one loop. Source: raftstore store/config.rs.",
        default=256,
        name="raftstore.store-max-batch-size",
    )
    apply_max_batch_size: int = Count(1, 100_000).key(
        "Regions an apply thread takes in one loop. Source: raftstore store/config.rs.",
        default=256,
        name="raftstore.apply-max-batch-size",
    )
    cmd_batch: bool = SWITCH.key(
        "Merge waiting requests to one region into one entry. Source: raftstore store/config.rs.",
        default=True,
        name="raftstore.cmd-batch",
    )
    cmd_batch_concurrent_ready_max_count: int = Count(0, 1_000).key(
        "Number of unpersisted readies with which a batch is held back; 0: never. Source: "
        "raftstore store/config.rs; tikv/tikv#11121.",
        default=1,
        name="raftstore.cmd-batch-concurrent-ready-max-count",
    )
    raft_base_tick_interval_ns: int = Duration("1ms", "1h").key(
        "Raft's unit of time. Source: raftstore store/config.rs.",
        default="1s",
        name="raftstore.raft-base-tick-interval",
    )
    raft_heartbeat_ticks: int = Count(1, 1_000).key(
        "Ticks between two heartbeats of a leader. Source: raftstore store/config.rs.",
        default=2,
        name="raftstore.raft-heartbeat-ticks",
    )
    raft_max_inflight_msgs: int = Count(1, 16_384).key(
        "Maximum number of unanswered append messages to one follower. Source: raftstore "
        "store/config.rs.",
        default=256,
        name="raftstore.raft-max-inflight-msgs",
    )
    raft_write_wait_duration_ns: int = Duration("0us", "1s").key(
        "How long a write thread waits for more before it writes a small batch. Source: raftstore "
        "store/config.rs: unknown before v8.3.",
        default=ByVersion(first="0us", since={"v8.3": "20us"}),
        name="raftstore.raft-write-wait-duration",
    )
    scheduler_concurrency: int = Count(1, 2**24).key(
        "Latch slots. Source: src/storage/config.rs.",
        default=524_288,
        name="storage.scheduler-concurrency",
    )
    grpc_concurrency: int = Count(1, 1_024).key(
        "gRPC threads. Source: TiKV docs, server.grpc-concurrency.",
        default=5,
        name="server.grpc-concurrency",
    )
    scheduler_worker_pool_size: int = Count(1, 1_024).key(
        "Scheduler threads. Source: src/storage/config.rs: 8 from 16 cores, else 4 or the number "
        "of cores.",
        default=None,
        name="storage.scheduler-worker-pool-size",
    )
    readpool_unified_max_thread_count: int = Count(1, 1_024).key(
        "Threads for reads. Source: TiKV docs: 80 % of the cores, at least 4.",
        default=None,
        name="readpool.unified.max-thread-count",
    )
    readpool_storage_normal_concurrency: int | None = Count(1, 1_024).key(
        "Threads for point reads alone. Source: src/config/mod.rs: not given, they share the "
        "unified read pool; given, they have a pool of their own.",
        default=None,
        name="readpool.storage.normal-concurrency",
    )
    raft_engine_enable: bool = SWITCH.key(
        "Whether the raft log is in raft-engine or raftdb. Source: TiKV docs.",
        default=ByVersion(first=False, since={"v6.1": True}),
        name="raft-engine.enable",
    )
    raft_engine_enable_log_recycle: bool = SWITCH.key(
        "Whether raft-engine overwrites its old files, which changes no metadata. Source: TiKV "
        "docs.",
        default=ByVersion(first=False, since={"v6.3": True}),
        name="raft-engine.enable-log-recycle",
    )
    region_split_size_bytes: int = Size("1MiB", "1TiB").key(
        "Size of a region. Source: coprocessor/config.rs.",
        default=ByVersion(first="96MiB", since={"v8.4": "256MiB"}),
        name="coprocessor.region-split-size",
    )
    reactive_memory_lock_tick_interval_ns: int = _TICK.key(
        "Interval of checks of the lock table after locks were proposed for a transfer. Source: "
        "raftstore store/config.rs.",
        default="2s",
        name="raftstore.reactive-memory-lock-tick-interval",
    )
    max_apply_unpersisted_log_limit: int = Count(0, 1_000_000).key(
        "Maximum number of committed entries that a leader applies before they are on its own "
        "disk, with write workers. Source: tikv/tikv#16626.",
        default=ByVersion(first=0, since={"v8.2": 1_024}),
        name="raftstore.max-apply-unpersisted-log-limit",
    )
    reactive_memory_lock_timeout_tick: int = Count(1, 100_000).key(
        "Ticks after which the lock table opens again if a transfer has failed. Source: raftstore "
        "store/config.rs.",
        default=5,
        name="raftstore.reactive-memory-lock-timeout-tick",
    )
    raft_election_timeout_ticks: int = Count(2, 10_000).key(
        "Ticks after which a follower without a leader campaigns, randomized up to twice this. "
        "Source: raftstore store/config.rs.",
        default=10,
        name="raftstore.raft-election-timeout-ticks",
    )
    raft_store_max_leader_lease_ns: int = Duration("1ms", "1h").key(
        "How long a leader serves reads after a quorum has answered. Source: raftstore "
        "store/config.rs.",
        default="9s",
        name="raftstore.raft-store-max-leader-lease",
    )
    raft_entry_max_size_bytes: int = Size("1KiB", "3GiB").key(
        "Maximum size of a proposal, and of the in-memory locks that a transfer proposes. Source: "
        "raftstore store/config.rs.",
        default="8MiB",
        name="raftstore.raft-entry-max-size",
    )
    leader_transfer_max_log_lag: int = Count(1, 1_000_000).key(
        "Log lag up to which a follower may become leader. Source: raftstore store/config.rs.",
        default=128,
        name="raftstore.leader-transfer-max-log-lag",
    )
    merge_max_log_gap: int = Count(1, 1_000_000).key(
        "Log lag of followers up to which a region may merge. Source: raftstore store/config.rs.",
        default=10,
        name="raftstore.merge-max-log-gap",
    )
    merge_check_tick_interval_ns: int = _TICK.key(
        "Interval between attempts to commit a prepared merge. Source: raftstore store/config.rs.",
        default="2s",
        name="raftstore.merge-check-tick-interval",
    )
    hibernate_regions: bool = SWITCH.key(
        "Whether a region without requests stops ticking. Source: raftstore store/config.rs: true "
        "since v5.0.",
        default=True,
        name="raftstore.hibernate-regions",
    )
    scheduler_pending_write_threshold_bytes: int = Size("1KiB", "1TiB").key(
        "Unfinished writes above which a store answers ServerIsBusy. Source: "
        "src/storage/config.rs.",
        default="100MiB",
        name="storage.scheduler-pending-write-threshold",
    )
    force_in_memory: bool = SWITCH.key(
        "Use in-memory locks despite stores older than v6.0. Not a key of TiKV. Source: our own, "
        "to see what the feature gate prevents.",
        default=False,
        name="pessimistic-txn.force-in-memory",
    )
    ablations: tuple[str, ...] = ListOf(
        TEXT, at_most=len(ABLATIONS), together=_known_ablations
    ).key(
        "Protections to omit, by name. Not a key of TiKV. Source: our own, to see what each of "
        "them prevents.",
        default=[],
    )

    def check(self) -> None:
        """Judges limits against each other, and ticks as TiKV's own validation does."""
        instance: int | None = self.in_memory_instance_size_limit_bytes
        if instance is not None and instance < self.in_memory_peer_size_limit_bytes:
            raise Wrong("is smaller than the limit of one region; a store has many regions",
                        at="pessimistic-txn.in-memory-instance-size-limit")  # fmt: skip
        self._check_ticks()

    def _check_ticks(self) -> None:
        """Refuses what TiKV's own validation refuses.

        Source: tikv/tikv raftstore store/config.rs (validate).
        """
        election, lease = self.raft_election_timeout_ticks, self.raft_store_max_leader_lease_ns
        election_ns = self.raft_base_tick_interval_ns * election
        if lease > election_ns:
            raise Wrong(f"a lease of {DURATION.text_of(lease)} outlasts the election timeout, "
                        f"{DURATION.text_of(election_ns)}; shorten the lease",
                        at="raftstore.raft-store-max-leader-lease")  # fmt: skip
        if election <= self.raft_heartbeat_ticks:
            raise Wrong(f"{self.raft_heartbeat_ticks} ticks between heartbeats, but an election "
                        f"after {election}; write less",
                        at="raftstore.raft-heartbeat-ticks")  # fmt: skip

    @property
    def version(self) -> Version:
        """The version whose rules apply."""
        return release_version(self.behaviour)

    @property
    def block_bytes(self) -> int:
        """A block of a table, uncompressed: block-size of the default and write CF.

        Source: tikv/tikv src/config.
        """
        return 32 * KIB if self.version >= SMALLER_BLOCKS_SINCE else 64 * KIB

    @property
    def pool_answers_proposed(self) -> bool:
        """Whether a pipelined lock is answered by the scheduler's pool, not by the store poller."""
        return self.version >= ANSWERS_IN_POOL_SINCE

    @property
    def apply_unpersisted_entries(self) -> int:
        """How many entries a leader may apply before they are on its own disk.

        A store poller that writes the log itself never gets that far ahead.
        """
        return self.max_apply_unpersisted_log_limit if self.store_io_pool_size else 0

    @property
    def compress_above_bytes(self) -> int:
        """From which size on raft-engine compresses a batch.

        Source: tikv/raft-engine src/config.rs (batch-compression-threshold 8KB); tikv/tikv
        src/config/mod.rs (RaftEngineConfig::optimize_for: less with write workers, since v8.2).
        """
        lower = self.version >= _LOWER_THRESHOLD_SINCE
        workers = self.store_io_pool_size if lower else 0
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
