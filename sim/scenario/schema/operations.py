"""Section ``operations``: what happens to the cluster, at a time, at a rate, or by schedulers.

Every kind of operation has its own keys; ``do`` says which. Times are simulated and count from the
start of the run, warm-up included.

Source: PD docs, pd-ctl and configuration file (names and limits); TiKV docs; tiup (rolling
restart).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self

from sim.scenario.fields import (
    ANYTHING,
    LOAD,
    NAME,
    SWITCH,
    TEXT,
    VERSION,
    Count,
    Duration,
    Form,
    ListOf,
    Number,
    OneOf,
    Schema,
    Size,
    Wrong,
)
from sim.scenario.problems import shown, suggestion
from sim.scenario.quantities import SIZE
from sim.scenario.schema.tikv import Tikv
from sim.scenario.section import Document, Section, keys_of
from sim.scenario.targets import REGION, STORE, STORES, RegionTarget, StoreTarget

MOMENT: Final = Duration("0s", "24h")
INTERVAL: Final = Duration("1ms", "24h")


def _does(word: str) -> Any:
    """Returns the key that says which operation it is; all of a class have the same."""
    return field(default=word, init=False, metadata={"key": OneOf(word).note()})


@dataclass(frozen=True, kw_only=True)
class Operation(Section):
    """What all operations have."""

    do: str = field(default="", init=False)
    name: str = NAME.key(
        "Name of an entry in a list; sweeps and variants use operations.NAME.key. "
        "Source: by default its index, from 0.",
        default=None,
    )


@dataclass(frozen=True, kw_only=True)
class Timed(Operation):
    """When something is done."""

    at_ns: int | None = MOMENT.key("Once, at this time.", default=None)
    every_ns: int | None = INTERVAL.key(
        "Repeatedly, at this interval; first at from, or after one interval.", default=None
    )
    rate_per_s: float | None = LOAD.key(
        "At random, as a Poisson process of this rate.", default=None
    )
    from_ns: int | None = MOMENT.key("Earliest time. Source: by default, the start.", default=None)
    until_ns: int | None = MOMENT.key(
        "End time, exclusive. Source: by default, the end of the run.", default=None
    )
    count: int | None = Count(1, 1_000_000).key(
        "Maximum number of times. Source: by default, unlimited.", default=None
    )

    def check(self) -> None:
        """Judges whether there is one time."""
        said = self.document()
        given = [word for word in ("at", "every", "rate") if word in said]
        if len(given) != 1:
            raise Wrong(f"says {' and '.join(given) or 'no time'}; write one of at: 10s, "
                        "every: 2s, rate: 0.5/s")  # fmt: skip
        for word in ("from", "until", "count"):
            if "at" in said and word in said:
                raise Wrong("has no meaning with at; remove one of the two", at=word)
        if self.until_ns is not None and self.until_ns <= (self.from_ns or 0):
            raise Wrong("is not after from; nothing would be done", at="until")


@dataclass(frozen=True, kw_only=True)
class Driven(Operation):
    """From when until when a scheduler works."""

    from_ns: int = MOMENT.key("Start time. Source: our own default.", default="0s")
    until_ns: int | None = MOMENT.key(
        "End time. Source: by default, the end of the run.", default=None
    )


@dataclass(frozen=True, kw_only=True)
class TransferLeader(Timed):
    """Moves the leader of a region."""

    do: str = _does("transfer_leader")
    region: RegionTarget = REGION.key("Region whose leader moves.")
    to: StoreTarget = STORE.key(
        "Target store; random: any other store of the region. Source: our own default.",
        default="random",
    )


@dataclass(frozen=True, kw_only=True)
class ShuffleLeader(Timed):
    """Moves every leader to a random store of its region."""

    do: str = _does("shuffle_leader")


@dataclass(frozen=True, kw_only=True)
class SplitRegionOperation(Timed):
    """Splits a region: one with a row named at that row, any other in its middle."""

    do: str = _does("split_region")
    region: RegionTarget = REGION.key("The region.")


@dataclass(frozen=True, kw_only=True)
class MergeRegion(Timed):
    """Merges a region into a neighbour."""

    do: str = _does("merge_region")
    region: RegionTarget = REGION.key("The source region, which disappears.")
    into: Literal["next", "previous"] = OneOf("next", "previous").key(
        "The target, which takes it over. Source: our own default.", default="next"
    )


@dataclass(frozen=True, kw_only=True)
class Rolling(Timed):
    """What happens to a store whose leaders are moved away."""

    store: StoreTarget = STORES.key("The store; each: all stores, one after the other.")
    restart: bool = SWITCH.key(
        "Stop the store once it has no leaders, and start it again. Source: our own default.",
        default=False,
    )
    down_ns: int = MOMENT.key(
        "With a restart: how long a store stays down. Source: assumed, of a small TiKV.",
        default="5s",
    )
    pause_ns: int = MOMENT.key(
        "Pause between two stores. Source: assumed; tiup waits for PD.", default="10s"
    )
    timeout_ns: int = INTERVAL.key(
        "Time after which a store is stopped even if it still has leaders. Source: tiup, "
        "--transfer-timeout: 600 s.",
        default="10m",
    )


@dataclass(frozen=True, kw_only=True)
class EvictLeader(Rolling):
    """Moves all leaders away from a store."""

    do: str = _does("evict_leader")
    for_ns: int = INTERVAL.key(
        "Without a restart: keep leaders away this long. Source: our own default.",
        default="1m",
    )


@dataclass(frozen=True, kw_only=True)
class UpgradeStore(Rolling):
    """Gives a store another version."""

    do: str = _does("upgrade_store")
    to: str = VERSION.key("The version, such as 6.0.0.")
    restart: bool = SWITCH.key(
        "Evict leaders from the store, stop it, start it again. Source: TiDB docs, upgrade with "
        "tiup.",
        default=True,
    )


@dataclass(frozen=True, kw_only=True)
class LastingOperation(Timed):
    """Something that lasts."""

    for_ns: int | None = INTERVAL.key(
        "Duration. Source: by default, until an operation or the run ends it.", default=None
    )


@dataclass(frozen=True, kw_only=True)
class CrashStore(LastingOperation):
    """Stops a store without warning."""

    do: str = _does("crash_store")
    store: StoreTarget = STORE.key("The store.")


@dataclass(frozen=True, kw_only=True)
class RestartStore(Timed):
    """Starts a store again that crash_store has stopped."""

    do: str = _does("restart_store")
    store: StoreTarget = STORE.key("The store; random: any that is stopped.")


def _node_name(node: object) -> str:
    if isinstance(node, int) and not isinstance(node, bool) and node >= 1:
        return f"store-{node}"
    if isinstance(node, str) and re.fullmatch(r"(store|tidb)-\d{1,4}|pd", node):
        return node
    raise Wrong(f"{shown(node)} is not a node; write a store's id, tidb-0 or pd")


def _names_of(groups: tuple[tuple[object, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Returns groups of nodes by their names; a node is in one of them."""
    named = tuple(tuple(map(_node_name, group)) for group in groups)
    nodes = [node for group in named for node in group]
    for node in nodes:
        if nodes.count(node) > 1:
            raise Wrong(f"{node} appears twice; a node is in one group")
    return named


@dataclass(frozen=True, kw_only=True)
class Partition(LastingOperation):
    """Cuts the network."""

    do: str = _does("partition")
    groups: tuple[tuple[str, ...], ...] | None = ListOf(
        ListOf(ANYTHING), at_least=2, at_most=100, together=_names_of
    ).key(
        "Stores by id, other nodes by name (tidb-0, pd), that reach each other but no other "
        "group; nodes in no group reach all.",
        default=None,
    )
    isolate: StoreTarget | None = STORE.key("A store that is cut off from all nodes.", default=None)

    def check(self) -> None:
        """Judges the time, and whether the cut is said in one way."""
        super().check()
        if (self.groups is None) == (self.isolate is None):
            raise Wrong("needs one of groups: [[1], [2, 3]] and isolate: 1; write one of the two")


MESSAGE_KINDS: Final = (
    "Append", "AppendResponse", "Heartbeat", "HeartbeatResponse", "RequestVote", "VoteResponse",
    "TimeoutNow", "Snapshot", "TransferLeaderRequest", "TransferLeaderAck",
)  # fmt: skip

ONLINE_KEYS: Final = (
    "pessimistic-txn.pipelined",
    "pessimistic-txn.in-memory",
    "pessimistic-txn.in-memory-peer-size-limit",
    "pessimistic-txn.in-memory-instance-size-limit",
)
"""Keys of TiKV that can be changed while it runs."""


class _OnlineKey(Form):
    """One of TiKV's keys that can be changed while it runs."""

    def parse(self, value: object) -> str:
        """Returns the key."""
        if isinstance(value, str) and value in ONLINE_KEYS:
            return value
        raise Wrong(f"{shown(value)} cannot be changed online; "
                    f"{suggestion(str(value), ONLINE_KEYS)}")  # fmt: skip

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns text."""
        return TEXT.described(definitions)


@dataclass(frozen=True, kw_only=True)
class SlowDisk(LastingOperation):
    """Makes the disks of a store slower."""

    do: str = _does("slow_disk")
    store: StoreTarget = STORE.key("Store whose disks become slower.")
    factor: float = Number(0.01, 1_000_000).key(
        "Factor by which every latency and the time per byte grow."
    )


@dataclass(frozen=True, kw_only=True)
class StressCpu(LastingOperation):
    """Keeps hardware threads of a store busy: a backup, a compaction, another program."""

    do: str = _does("stress_cpu")
    store: StoreTarget = STORE.key("Store whose hardware threads are busy.")
    workers: int = Count(1, 10_000).key(
        "Threads that never wait; with more of them than store_cores, each gets its share."
    )


@dataclass(frozen=True, kw_only=True)
class FillDisk(LastingOperation):
    """Leaves a store without space."""

    do: str = _does("fill_disk")
    store: StoreTarget = STORE.key("Store whose disk is full.")
    usage: Literal["almost_full", "already_full"] = OneOf("almost_full", "already_full").key(
        "How full; an almost full disk still accepts commits, rollbacks, splits and merges.",
        default="already_full",
    )


@dataclass(frozen=True, kw_only=True)
class SetConfig(Timed):
    """Changes a key of TiKV online."""

    do: str = _does("set_config")
    key: str = _OnlineKey().key("A TiKV key that can be changed online.")
    value: bool | int = ANYTHING.key("The value, as in section tikv.")
    store: StoreTarget | None = STORE.key("The store. Source: by default, all.", default=None)

    @classmethod
    def made(cls, values: Mapping[str, Any]) -> Self:
        """Returns the operation with the value as section ``tikv`` would read it."""
        try:
            value = keys_of(Tikv)[values["key"]].form.parse(values["value"])
        except Wrong as error:
            raise Wrong(str(error), at="value") from None
        return super().made({**values, "value": value})

    @classmethod
    def document_of(cls, value: Any) -> Document:
        """Returns the keys, a size with its unit."""
        said = value.value if isinstance(value.value, bool) else SIZE.text_of(value.value)
        return super().document_of(value) | {"value": said}


@dataclass(frozen=True, kw_only=True)
class ChangePeerOperation(Timed):
    """Adds or removes a replica, or moves one."""

    do: str = _does("change_peer")
    region: RegionTarget = REGION.key("Region whose replicas change.")
    add: StoreTarget | None = STORE.key(
        "Store that gets a replica; random: any without one.", default=None
    )
    remove: StoreTarget | None = STORE.key(
        "Store that loses its replica; random: any follower.", default=None
    )

    def check(self) -> None:
        """Judges the time, and whether anything changes."""
        super().check()
        if self.add is None and self.remove is None:
            raise Wrong("changes nothing; write add, remove or both")


@dataclass(frozen=True, kw_only=True)
class Messages(LastingOperation):
    """Which raft messages something happens to."""

    kind: str = OneOf(*MESSAGE_KINDS).key("Kind of message.")
    from_store: StoreTarget | None = STORE.key(
        "The sending store. Source: by default, any.", default=None
    )
    to_store: StoreTarget | None = STORE.key(
        "The receiving store. Source: by default, any.", default=None
    )
    region: RegionTarget | None = REGION.key("The region. Source: by default, any.", default=None)


@dataclass(frozen=True, kw_only=True)
class DropMessages(Messages):
    """Loses raft messages."""

    do: str = _does("drop_messages")


@dataclass(frozen=True, kw_only=True)
class DelayMessages(Messages):
    """Delays raft messages."""

    do: str = _does("delay_messages")
    delay_ns: int = INTERVAL.key("Additional delay.")


@dataclass(frozen=True, kw_only=True)
class BalanceLeader(Driven):
    """PD's balance-leader-scheduler."""

    do: str = _does("balance_leader")
    every_ns: int = INTERVAL.key(
        "Shortest interval between two checks; it grows by a factor of 1.3 up to 5 s while there "
        "is nothing to do. Source: tikv/pd schedulers (MinScheduleInterval, MaxScheduleInterval).",
        default="10ms",
    )
    tolerance: int = Count(0, 1_000_000).key(
        "Half the tolerated difference in numbers of leaders. Source: tikv/pd schedulers, "
        "utils.go (leaderTolerantSizeRatio).",
        default=5,
    )
    leader_schedule_limit: int = Count(1, 1_000_000).key(
        "Maximum number of concurrent transfers. Source: PD docs, configuration file: 4.",
        default=4,
        name="leader-schedule-limit",
    )


@dataclass(frozen=True, kw_only=True)
class AutoSplit(Driven):
    """Splits regions by size and by load."""

    do: str = _does("auto_split")
    by: Literal["size", "load", "both"] = OneOf("size", "load", "both").key(
        "Reason for splits. Source: TiKV does both.", default="both"
    )
    every_ns: int = INTERVAL.key(
        "Interval between checks of the size; load is checked every second. Source: raftstore "
        "store/config.rs, split-region-check-tick-interval.",
        default="10s",
    )
    region_split_size_bytes: int | None = Size("1KiB", "1TiB").key(
        "Size of the pieces into which a region is split when it reaches 1.5 times this size. "
        "Source: by default tikv.coprocessor.region-split-size.",
        default=None,
        name="region-split-size",
    )
    qps_threshold_per_s: float = LOAD.key(
        "Request rate above which a region is split by load. Source: TiKV docs, configuration "
        "file, split.qps-threshold.",
        default="3000/s",
        name="qps-threshold",
    )
    detect_times: int = Count(1, 1_000_000).key(
        "Consecutive seconds above the threshold before a split. Source: TiKV docs, configuration "
        "file, split.detect-times.",
        default=10,
        name="detect-times",
    )


@dataclass(frozen=True, kw_only=True)
class AutoMerge(Driven):
    """PD's merge checker."""

    do: str = _does("auto_merge")
    every_ns: int = INTERVAL.key(
        "Interval between two checks of all regions. Source: assumed; PD docs, configuration "
        "file, patrol-region-interval: 10ms per batch of regions.",
        default="10s",
    )
    max_merge_region_size_bytes: int = Size("1KiB", "1TiB").key(
        "Size above which regions are not merged. Source: PD docs, configuration file: 54 MiB "
        "since v8.4, 20 MiB before.",
        default="54MiB",
        name="max-merge-region-size",
    )
    split_merge_interval_ns: int = Duration("0s", "24h").key(
        "Time after a split during which a region is not merged. Source: PD docs, configuration "
        "file: 1h.",
        default="1h",
        name="split-merge-interval",
    )
    merge_schedule_limit: int = Count(1, 1_000_000).key(
        "Maximum number of concurrent merges. Source: PD docs, configuration file: 8.",
        default=8,
        name="merge-schedule-limit",
    )


_KINDS: Final[tuple[type[Operation], ...]] = (
    TransferLeader, ShuffleLeader, SplitRegionOperation, MergeRegion, EvictLeader, BalanceLeader,
    AutoSplit, AutoMerge, CrashStore, RestartStore, Partition, SlowDisk, StressCpu, FillDisk,
    UpgradeStore, SetConfig, ChangePeerOperation, DropMessages, DelayMessages,
)  # fmt: skip

OPERATIONS: Final = {str(each.__dataclass_fields__["do"].default): each for each in _KINDS}
"""What can be done, by its name."""
