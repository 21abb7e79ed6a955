"""Mail to a peer that is neither a command nor a raft message: PD's orders, results of applying.

Source: tikv/tikv components/raftstore/src/store/msg.rs (PeerMsg, CasualMessage, ApplyTaskRes).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sim.protocol.admin import AdminCommand
from sim.protocol.region import Region, RegionId
from sim.raftstore.peer import AppliedState, MergeState, RaftCommand, TransferState


class StartTransfer(NamedTuple):
    """PD's advice to hand leadership to another store."""

    to_store: int


class LocksApplied(NamedTuple):
    """The leader has applied the locks of a transfer (RFC 77's way)."""

    log_index: int


class TransferTick(NamedTuple):
    """It is time to see whether a transfer that has not happened should be forgotten."""

    transfer: TransferState


class AskSplit(NamedTuple):
    """PD's or the split checker's order to cut the region."""

    keys: list[bytes]
    region_ids: list[RegionId]


class AskMerge(NamedTuple):
    """PD's order to merge this region into ``target``."""

    target: Region


class AskCommitMerge(NamedTuple):
    """The source's replica on this store asks the target's to take it over."""

    source: Region
    commit: int
    min_index: int


class FencePassed(NamedTuple):
    """All that was proposed before a merge began has been applied."""


class MergeTick(NamedTuple):
    """It is time to try again to commit a merge."""

    merge: MergeState


class AskChangePeer(NamedTuple):
    """PD's order to add a replica or to remove one."""

    add: int
    remove: int


class AskFlashback(NamedTuple):
    """An operator's order to begin a flashback, or to end it."""

    begins: bool


ORDERS: Final = frozenset(
    (StartTransfer, AskSplit, AskMerge, AskCommitMerge, AskChangePeer, AskFlashback)
)
"""Upon which an admin command may be proposed, or the way to one begun."""


class Campaign(NamedTuple):
    """Stand for election now."""


class ReadIndex(NamedTuple):
    """A request that needs a snapshot, of a leader without a lease: a quorum is to be asked."""

    command: RaftCommand


class Visit(NamedTuple):
    """A reason for a poller to come, and nothing to be read.

    A tick (PeerMsg::Tick), entries that were written to RocksDB (ApplyTaskRes::Apply), or what
    somebody else has proposed.
    """


VISIT: Final = Visit()
"""The one there is."""


class AppliedToTerm(NamedTuple):
    """A new leader's empty entry has been applied: all that was committed before is."""


class Applied(NamedTuple):
    """An admin command that the apply thread has executed (ExecResult).

    Attributes:
        admin: the command.
        log_index: its place in the log.
        region: the region as it is now.
        new_states: replicas of the regions that a split has made, left to right.
    """

    admin: AdminCommand
    log_index: int
    region: Region
    new_states: tuple[AppliedState, ...] = ()


class Skipped(NamedTuple):
    """An admin command was not applied: the region's epoch had changed since it was proposed."""

    log_index: int
