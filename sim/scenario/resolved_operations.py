"""What happens to a cluster while clients use it: operations, in integer nanoseconds and bytes.

Law: a field is called as its key in the file, with its unit behind (``down_ns`` for ``down``), so
reading and writing go by the names alone. A ``Timed`` operation is carried out at moments, a
``Driven`` one is a scheduler that looks and acts by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionTarget:
    """A region that an operation is about, chosen when it is carried out."""

    by: Literal["id", "key", "table", "hottest", "random"]
    region_id: int = 0
    key: str = ""
    """In hex."""
    table: str = ""
    row: int | None = None
    """The region is the one with this row, counted from 1 in key order; None: with the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTarget:
    """A store that an operation is about, chosen when it is carried out."""

    by: Literal["id", "random", "each", "leader_of"]
    store: int = 0
    region: RegionTarget | None = None


def _does(word: str) -> str:
    """Returns a field that says which operation it is, and is the same in all of a class."""
    said: str = field(default=word, init=False)
    return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One entry of ``operations``."""

    do: str = _does("")
    name: str
    """Its key in the file; an entry of a list without a name is called by its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed(Operation):
    """Carried out once (``at``), again and again (``every``) or by chance (``rate``)."""

    at_ns: int | None
    every_ns: int | None
    rate_per_s: float | None
    from_ns: int | None
    until_ns: int | None
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven(Operation):
    """A scheduler: looks every ``every`` from ``from`` until ``until``."""

    every_ns: int
    from_ns: int
    until_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferLeader(Timed):
    """Moves the leader of a region to another store of the region."""

    do: str = _does("transfer_leader")
    region: RegionTarget
    to: StoreTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffleLeader(Timed):
    """Moves the leader of every region to a random store of the region."""

    do: str = _does("shuffle_leader")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRegion(Timed):
    """Splits a region in its middle, or the region with a row at that row."""

    do: str = _does("split_region")
    region: RegionTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRegion(Timed):
    """Merges a region into its neighbour."""

    do: str = _does("merge_region")
    region: RegionTarget
    into: Literal["next", "previous"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolling(Timed):
    """Empties a store of leaders, and restarts it if ``restart``."""

    store: StoreTarget
    restart: bool
    down_ns: int
    pause_ns: int
    """Between two stores."""
    timeout_ns: int
    """A store that still has leaders then is stopped all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictLeader(Rolling):
    """Moves all leaders away from a store, and restarts it if asked to."""

    do: str = _does("evict_leader")
    for_ns: int
    """Without a restart leaders are kept away this long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeStore(Rolling):
    """Gives a store another version."""

    do: str = _does("upgrade_store")
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashStore(Timed):
    """Stops a store without warning; what it had only in memory is gone."""

    do: str = _does("crash_store")
    store: StoreTarget
    for_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartStore(Timed):
    """Starts a store that has crashed."""

    do: str = _does("restart_store")
    store: StoreTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(Timed):
    """Cuts the network into groups of nodes, or one store off from all others."""

    do: str = _does("partition")
    groups: tuple[tuple[str, ...], ...] | None
    """Names of nodes, such as ``store-1`` and ``tidb-0``."""
    isolate: StoreTarget | None
    for_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowDisk(Timed):
    """Makes the disks of a store slower by a factor."""

    do: str = _does("slow_disk")
    store: StoreTarget
    factor: float
    for_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FillDisk(Timed):
    """Leaves a store without space; it refuses writes."""

    do: str = _does("fill_disk")
    store: StoreTarget
    usage: str
    for_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetConfig(Timed):
    """Changes a key of TiKV's configuration online."""

    do: str = _does("set_config")
    key: str
    value: bool | int
    store: StoreTarget | None
    """None: on every store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePeer(Timed):
    """Adds a replica to a region, removes one, or first one and then the other."""

    do: str = _does("change_peer")
    region: RegionTarget
    add: StoreTarget | None
    remove: StoreTarget | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages(Timed):
    """Which raft messages something happens to."""

    kind: str
    from_store: StoreTarget | None
    to_store: StoreTarget | None
    region: RegionTarget | None
    for_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DropMessages(Messages):
    """Loses raft messages of a kind."""

    do: str = _does("drop_messages")


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayMessages(Messages):
    """Delays raft messages of a kind."""

    do: str = _does("delay_messages")
    delay_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceLeader(Driven):
    """Moves leaders from the store with the most to the one with the fewest."""

    do: str = _does("balance_leader")
    tolerance: int
    """Stores whose numbers of leaders differ by no more than twice this are left alone."""
    leader_schedule_limit: int
    """Transfers at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoSplit(Driven):
    """Splits regions that are too large, or that are asked too often."""

    do: str = _does("auto_split")
    by: Literal["size", "load", "both"]
    region_split_size_bytes: int | None
    """None: that of the TiKV section."""
    qps_threshold_per_s: float
    detect_times: int
    """A region is split by load after so many seconds above the threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoMerge(Driven):
    """Merges regions that are small and old enough into a neighbour."""

    do: str = _does("auto_merge")
    max_merge_region_size_bytes: int
    split_merge_interval_ns: int
    merge_schedule_limit: int
    """Merges at a time."""


_KINDS: tuple[type[Operation], ...] = (
    TransferLeader, ShuffleLeader, SplitRegion, MergeRegion, EvictLeader, UpgradeStore,
    CrashStore, RestartStore, Partition, SlowDisk, FillDisk, SetConfig, ChangePeer,
    DropMessages, DelayMessages, BalanceLeader, AutoSplit, AutoMerge,
)  # fmt: skip

OPERATIONS: dict[str, type[Operation]] = {
    str(each.__dataclass_fields__["do"].default): each for each in _KINDS
}
"""What can be done, by its name."""
