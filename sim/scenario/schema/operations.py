"""Section ``operations``: what happens to the cluster, at a time, at a rate, or by schedulers.

Every kind of operation has its own keys; ``do`` says which. Times are simulated and count from the
start of the run, warm-up included.

Source: PD docs, pd-ctl and configuration file (names and limits); TiKV docs; tiup (rolling
restart).
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, ValidationError, field_validator, model_validator

from sim.scenario.fields import (
    Count,
    Name,
    Number,
    Quantity,
    Rate,
    Section,
    Switch,
    Text,
    Version,
    key,
    wrong,
)
from sim.scenario.problems import shown, suggestion
from sim.scenario.quantities import DURATION, SIZE
from sim.scenario.schema.tikv import TikvSection
from sim.scenario.targets import RegionField, StoreField, StoresField

Moment = Annotated[int, Quantity(DURATION, "0ns", "24h")]
Interval = Annotated[int, Quantity(DURATION, "1ms", "24h")]


class OperationSection(Section):
    """What all operations have."""

    name: Name | None = key(
        default=None,
        description="What it is called, in an entry of a list; sweeps and variants change "
        "operations.NAME.key. Source: by default its place, from 0.",
    )


class TimedSection(OperationSection):
    """When something is done."""

    at: Moment | None = key(default=None, description="Once, at this time.")
    every: Interval | None = key(
        default=None, description="Again and again, first at from or after one interval."
    )
    rate: Rate | None = key(default=None, description="By chance, a Poisson process of this rate.")
    from_: Moment | None = key(
        default=None, alias="from", description="Not before. Source: by default, the start."
    )
    until: Moment | None = key(
        default=None, description="Not from then on. Source: by default, the end of the run."
    )
    count: Annotated[int, Count(1, 1_000_000)] | None = key(
        default=None, description="At most so often. Source: by default, without limit."
    )

    @model_validator(mode="after")
    def _has_one_time(self) -> Self:
        given = [w for w in ("at", "every", "rate") if getattr(self, w) is not None]
        if len(given) != 1:
            raise wrong(f"says {' and '.join(given) or 'no time'}; write one of at: 10s, "
                        "every: 2s, rate: 0.5/s")  # fmt: skip
        if self.at is not None:
            for word in ("from", "until", "count"):
                if getattr(self, "from_" if word == "from" else word) is not None:
                    raise wrong("has no meaning beside at; remove one of the two", at=word)
        if self.until is not None and self.until <= (self.from_ or 0):
            raise wrong("is not after from; nothing would be done", at="until")
        return self


class DrivenSection(OperationSection):
    """From when until when a scheduler works."""

    from_: Moment = key(
        default="0s", alias="from", description="Works from then on. Source: our own default."
    )
    until: Moment | None = key(
        default=None, description="Works until then. Source: by default, the end of the run."
    )


class TransferLeaderSection(TimedSection):
    """Moves the leader of a region."""

    do: Literal["transfer_leader"] = key()
    region: RegionField = key(description="Whose leader.")
    to: StoreField = key(
        default="random",
        description="Where to; random: any other store of the region. Source: our own default.",
    )


class ShuffleLeaderSection(TimedSection):
    """Moves every leader to a random store of its region."""

    do: Literal["shuffle_leader"] = key()


class SplitRegionSection(TimedSection):
    """Splits a region: one with a row named at that row, any other in its middle."""

    do: Literal["split_region"] = key()
    region: RegionField = key(description="Which.")


class MergeRegionSection(TimedSection):
    """Merges a region into a neighbour."""

    do: Literal["merge_region"] = key()
    region: RegionField = key(description="Which ceases to be.")
    into: Literal["next", "previous"] = key(
        default="next", description="Which neighbour takes it over. Source: our own default."
    )


class RollingSection(TimedSection):
    """What a store goes through that is emptied of leaders."""

    store: StoresField = key(description="Which; each: one after the other.")
    restart: Switch = key(
        default=False,
        description="Stop the store once it has no leaders, and start it again. Source: our own "
        "default.",
    )
    down: Moment = key(
        default="5s", description="From stop to start. Source: assumed, of a small TiKV."
    )
    pause: Moment = key(
        default="10s", description="Between two stores. Source: assumed; tiup waits for PD's word."
    )
    timeout: Interval = key(
        default="10m",
        description="A store that still has leaders then is stopped all the same. Source: tiup, "
        "--transfer-timeout: 600 s.",
    )


class EvictLeaderSection(RollingSection):
    """Moves all leaders away from a store."""

    do: Literal["evict_leader"] = key()
    for_: Interval = key(
        default="1m",
        alias="for",
        description="Without a restart: keep leaders away this long. Source: our own default.",
    )


class UpgradeStoreSection(RollingSection):
    """Gives a store another version."""

    do: Literal["upgrade_store"] = key()
    to: Version = key(description="The version, such as 6.0.0.")
    restart: Switch = key(
        default=True,
        description="Empty the store of leaders, stop it, start it again. Source: TiDB docs, "
        "upgrade with tiup.",
    )


class FaultSection(TimedSection):
    """Something that lasts."""

    for_: Interval | None = key(
        default=None,
        alias="for",
        description="How long. Source: by default, until something ends it.",
    )


class CrashStoreSection(FaultSection):
    """Stops a store without warning."""

    do: Literal["crash_store"] = key()
    store: StoreField = key(description="Which.")


class RestartStoreSection(TimedSection):
    """Starts a store that has crashed."""

    do: Literal["restart_store"] = key()
    store: StoreField = key(description="Which; random: any that is down.")


class PartitionSection(FaultSection):
    """Cuts the network."""

    do: Literal["partition"] = key()
    groups: list[list[Any]] | None = key(
        default=None,
        description="Stores by id, other nodes by name (tidb-0, pd), that hear each other but no "
        "other group; nodes in no group hear all.",
        min_length=2,
        max_length=100,
    )
    isolate: StoreField | None = key(default=None, description="A store that hears nobody.")

    @field_validator("groups")
    @classmethod
    def _are_nodes(cls, groups: list[list[Any]] | None) -> Any:
        if groups is None:
            return None
        named = tuple(tuple(_node_name(node) for node in group) for group in groups)
        nodes = [node for group in named for node in group]
        for node in nodes:
            if nodes.count(node) > 1:
                raise wrong(f"{node} is there twice; a node is in one group")
        return named

    @model_validator(mode="after")
    def _cuts_in_one_way(self) -> Self:
        if (self.groups is None) == (self.isolate is None):
            raise wrong("needs one of groups: [[1], [2, 3]] and isolate: 1; write one of the two")
        return self


def _node_name(node: object) -> str:
    if isinstance(node, int) and not isinstance(node, bool) and node >= 1:
        return f"store-{node}"
    if isinstance(node, str) and re.fullmatch(r"(store|tidb)-\d{1,4}|pd", node):
        return node
    raise wrong(f"{shown(node)} is no node; write a store's id, tidb-0 or pd")


MessageKind = Literal[
    "Append", "AppendResponse", "Heartbeat", "HeartbeatResponse", "RequestVote", "VoteResponse",
    "TimeoutNow", "Snapshot", "TransferLeaderRequest", "TransferLeaderAck",
]  # fmt: skip

ONLINE_KEYS = {
    "pessimistic-txn.pipelined": "pipelined",
    "pessimistic-txn.in-memory": "in_memory",
    "pessimistic-txn.in-memory-peer-size-limit": "in_memory_peer_size_limit",
    "pessimistic-txn.in-memory-instance-size-limit": "in_memory_instance_size_limit",
}
"""Keys of TiKV that can be changed while it runs, and their fields in its section."""


class SlowDiskSection(FaultSection):
    """Makes the disks of a store slower."""

    do: Literal["slow_disk"] = key()
    store: StoreField = key(description="Whose.")
    factor: Annotated[float, Number(0.01, 1_000_000)] = key(
        description="Every latency and every byte takes so many times as long."
    )


class FillDiskSection(FaultSection):
    """Leaves a store without space."""

    do: Literal["fill_disk"] = key()
    store: StoreField = key(description="Whose.")
    usage: Literal["almost_full", "already_full"] = key(
        default="already_full",
        description="How full: an almost full disk takes commits, rollbacks, splits and merges.",
    )


class SetConfigSection(TimedSection):
    """Changes a key of TiKV online."""

    do: Literal["set_config"] = key()
    key_: Text = key(alias="key", description="One of TiKV's that can be changed online.")
    value: Any = key(description="As in section tikv.")
    store: StoreField | None = key(
        default=None, description="On one store only. Source: by default, on all."
    )

    @model_validator(mode="before")
    @classmethod
    def _value_is_the_keys(cls, said: Any) -> Any:
        """Reads the value as section ``tikv`` would."""
        if not isinstance(said, dict) or "key" not in said or "value" not in said:
            return said
        name = said["key"]
        if name not in ONLINE_KEYS:
            raise wrong(f"{shown(name)} cannot be changed online; "
                        f"{suggestion(str(name), list(ONLINE_KEYS))}", at="key")  # fmt: skip
        try:
            tikv = TikvSection.model_validate({name: said["value"]})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if first["loc"]:
                raise wrong(str(first["msg"]), at="value") from None
            return said | {"value": _bytes(said["value"])}
        return said | {"value": getattr(tikv, ONLINE_KEYS[name])}


def _bytes(value: object) -> int:
    """Returns a limit that contradicts the default of the other one, which may change too."""
    return int(SIZE.parse(value))


class ChangePeerSection(TimedSection):
    """Adds or removes a replica, or moves one."""

    do: Literal["change_peer"] = key()
    region: RegionField = key(description="Whose.")
    add: StoreField | None = key(
        default=None, description="Where to; random: any without a replica."
    )
    remove: StoreField | None = key(
        default=None, description="From where; random: any that follows."
    )

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.add is None and self.remove is None:
            raise wrong("changes nothing; write add, remove or both")
        return self


class MessagesSection(FaultSection):
    """Which raft messages something happens to."""

    kind: MessageKind = key(description="Of this kind.")
    from_store: StoreField | None = key(
        default=None, description="Only those a store sends. Source: by default, any."
    )
    to_store: StoreField | None = key(
        default=None, description="Only those to a store. Source: by default, any."
    )
    region: RegionField | None = key(
        default=None, description="Only those of a region. Source: by default, any."
    )


class DropMessagesSection(MessagesSection):
    """Loses raft messages."""

    do: Literal["drop_messages"] = key()


class DelayMessagesSection(MessagesSection):
    """Delays raft messages."""

    do: Literal["delay_messages"] = key()
    delay: Interval = key(description="By so much.")


class BalanceLeaderSection(DrivenSection):
    """PD's balance-leader-scheduler."""

    do: Literal["balance_leader"] = key()
    every: Interval = key(
        default="10ms",
        description="Shortest interval between two looks; it grows by 1.3 up to 5 s while there "
        "is nothing to do. Source: tikv/pd schedulers (MinScheduleInterval, MaxScheduleInterval).",
    )
    tolerance: Annotated[int, Count(0, 1_000_000)] = key(
        default=5,
        description="Numbers of leaders may differ by twice this. Source: tikv/pd schedulers, "
        "utils.go (leaderTolerantSizeRatio).",
    )
    leader_schedule_limit: Annotated[int, Count(1, 1_000_000)] = key(
        default=4,
        alias="leader-schedule-limit",
        description="Transfers at a time. Source: PD docs, configuration file: 4.",
    )


class AutoSplitSection(DrivenSection):
    """Splits regions by size and by load."""

    do: Literal["auto_split"] = key()
    by: Literal["size", "load", "both"] = key(
        default="both", description="What a region is split for. Source: TiKV does both."
    )
    every: Interval = key(
        default="10s",
        description="Between two checks of the size; load is looked at every second. Source: "
        "raftstore store/config.rs, split-region-check-tick-interval.",
    )
    region_split_size: Annotated[int, Quantity(SIZE, "1KiB", "1TiB")] | None = key(
        default=None,
        alias="region-split-size",
        description="A region of 1.5 times this is split into pieces of it. Source: by default "
        "tikv.coprocessor.region-split-size.",
    )
    qps_threshold: Rate = key(
        default="3000/s",
        alias="qps-threshold",
        description="A region asked more often is split by load. Source: TiKV docs, configuration "
        "file, split.qps-threshold.",
    )
    detect_times: Annotated[int, Count(1, 1_000_000)] = key(
        default=10,
        alias="detect-times",
        description="Seconds in a row above the threshold. Source: TiKV docs, configuration file, "
        "split.detect-times.",
    )


class AutoMergeSection(DrivenSection):
    """PD's merge checker."""

    do: Literal["auto_merge"] = key()
    every: Interval = key(
        default="10s",
        description="Between two looks. Source: PD docs, configuration file, "
        "patrol-region-interval is 10ms a batch of regions; assumed for all of them.",
    )
    max_merge_region_size: Annotated[int, Quantity(SIZE, "1KiB", "1TiB")] = key(
        default="54MiB",
        alias="max-merge-region-size",
        description="Larger regions are not merged. Source: PD docs, configuration file: 54 MiB "
        "since v8.4, 20 MiB before.",
    )
    split_merge_interval: Annotated[int, Quantity(DURATION, "0s", "24h")] = key(
        default="1h",
        alias="split-merge-interval",
        description="A region is not merged so soon after a split. Source: PD docs, configuration "
        "file: 1h.",
    )
    merge_schedule_limit: Annotated[int, Count(1, 1_000_000)] = key(
        default=8,
        alias="merge-schedule-limit",
        description="Merges at a time. Source: PD docs, configuration file: 8.",
    )


_AnyOperation = (
    TransferLeaderSection
    | ShuffleLeaderSection
    | SplitRegionSection
    | MergeRegionSection
    | EvictLeaderSection
    | BalanceLeaderSection
    | AutoSplitSection
    | AutoMergeSection
    | CrashStoreSection
    | RestartStoreSection
    | PartitionSection
    | SlowDiskSection
    | FillDiskSection
    | UpgradeStoreSection
    | SetConfigSection
    | ChangePeerSection
    | DropMessagesSection
    | DelayMessagesSection
)

OperationEntry = Annotated[_AnyOperation, Field(discriminator="do")]
"""One entry, for editors."""

KINDS: dict[str, type[OperationSection]] = {
    get_args(section.model_fields["do"].annotation)[0]: section
    for section in get_args(_AnyOperation)
}
"""Which section each kind of operation has."""
