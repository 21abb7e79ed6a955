"""Section ``operations``, continued: disks, configuration, replicas, messages and schedulers."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from sim.scenario.fields import Count, Number, Quantity, Rate, Text, key, wrong
from sim.scenario.problems import shown, suggestion
from sim.scenario.quantities import DURATION, SIZE
from sim.scenario.schema.operations import (
    CrashStoreSection,
    DrivenSection,
    EvictLeaderSection,
    FaultSection,
    Interval,
    MergeRegionSection,
    OperationSection,
    PartitionSection,
    RestartStoreSection,
    ShuffleLeaderSection,
    SplitRegionSection,
    TimedSection,
    TransferLeaderSection,
    UpgradeStoreSection,
)
from sim.scenario.schema.tikv import TikvSection
from sim.scenario.targets import RegionField, StoreField

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

    do: Literal["slow_disk"] = key(description="Source: given.")
    store: StoreField = key(description="Whose. Source: given.")
    factor: Annotated[float, Number(0.01, 1_000_000)] = key(
        description="Every latency and every byte takes so many times as long. Source: given."
    )


class FillDiskSection(FaultSection):
    """Leaves a store without space."""

    do: Literal["fill_disk"] = key(description="Source: given.")
    store: StoreField = key(description="Whose. Source: given.")


class SetConfigSection(TimedSection):
    """Changes a key of TiKV online."""

    do: Literal["set_config"] = key(description="Source: given.")
    key_: Text = key(
        alias="key", description="One of TiKV's that can be changed online. Source: given."
    )
    value: Any = key(description="As in section tikv. Source: given.")
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

    do: Literal["change_peer"] = key(description="Source: given.")
    region: RegionField = key(description="Whose. Source: given.")
    add: StoreField | None = key(
        default=None, description="Where to; random: any without a replica. Source: given."
    )
    remove: StoreField | None = key(
        default=None,
        description="From where; random: any that follows. Source: given.",
    )

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.add is None and self.remove is None:
            raise wrong("changes nothing; write add, remove or both")
        return self


class MessagesSection(FaultSection):
    """Which raft messages something happens to."""

    kind: MessageKind = key(description="Of this kind. Source: given.")
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

    do: Literal["drop_messages"] = key(description="Source: given.")


class DelayMessagesSection(MessagesSection):
    """Delays raft messages."""

    do: Literal["delay_messages"] = key(description="Source: given.")
    delay: Interval = key(description="By so much. Source: given.")


class BalanceLeaderSection(DrivenSection):
    """PD's balance-leader-scheduler."""

    do: Literal["balance_leader"] = key(description="Source: given.")
    every: Interval = key(
        default="10ms",
        description="Shortest interval between two looks; it grows by 1.3 up to 5 s while there is "
        "nothing to do. Source: tikv/pd schedulers (MinScheduleInterval, MaxScheduleInterval).",
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

    do: Literal["auto_split"] = key(description="Source: given.")
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

    do: Literal["auto_merge"] = key(description="Source: given.")
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


KINDS: dict[str, type[OperationSection]] = {
    "transfer_leader": TransferLeaderSection,
    "shuffle_leader": ShuffleLeaderSection,
    "split_region": SplitRegionSection,
    "merge_region": MergeRegionSection,
    "evict_leader": EvictLeaderSection,
    "balance_leader": BalanceLeaderSection,
    "auto_split": AutoSplitSection,
    "auto_merge": AutoMergeSection,
    "crash_store": CrashStoreSection,
    "restart_store": RestartStoreSection,
    "partition": PartitionSection,
    "slow_disk": SlowDiskSection,
    "fill_disk": FillDiskSection,
    "upgrade_store": UpgradeStoreSection,
    "set_config": SetConfigSection,
    "change_peer": ChangePeerSection,
    "drop_messages": DropMessagesSection,
    "delay_messages": DelayMessagesSection,
}
"""Which section each kind of operation has."""

OperationEntry = Annotated[
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
    | DelayMessagesSection,
    Field(discriminator="do"),
]
"""One entry, for editors."""
