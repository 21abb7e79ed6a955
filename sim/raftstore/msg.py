"""Mail to a peer that is neither a request nor Raft's: orders of PD, results of the apply thread.

Source: tikv/tikv components/raftstore/src/store/msg.rs (PeerMsg, CasualMessage, ApplyTaskRes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sim.protocol.admin import AdminCommand
    from sim.protocol.region import Region, RegionId
    from sim.raftstore.peer import AppliedState


class StartTransfer(NamedTuple):
    """PD's advice to hand leadership to another store."""

    to_store: int


class TransferLeaderRequest(NamedTuple):
    """Leader to target: will you lead? (MsgTransferLeader)."""

    region_id: int
    store: int
    term: int


class TransferLeaderAck(NamedTuple):
    """Target to leader: I have applied up to ``applied_index``.

    ``command_reply``: it has applied the TransferLeader command, so the locks proposed before it.
    """

    region_id: int
    store: int
    term: int
    applied_index: int
    command_reply: bool


class Dismissal(NamedTuple):
    """To a replica that has been removed and has not heard of it (MsgGcPeer)."""

    region_id: int
    store: int
    term: int
    conf_ver: int


class LocksApplied(NamedTuple):
    """The leader has applied the locks of a transfer (RFC 77's way)."""

    log_index: int


class TransferTick(NamedTuple):
    """It is time to see whether a transfer that has not happened should be forgotten."""

    transfer: object


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

    merge: object


class AskChangePeer(NamedTuple):
    """PD's order to add a replica or to remove one."""

    add: int
    remove: int


class AskFlashback(NamedTuple):
    """An operator's order to begin a flashback, or to end it."""

    begins: bool


class Campaign(NamedTuple):
    """Stand for election now."""


class ReadIndex(NamedTuple):
    """Requests are parked until a quorum has confirmed the leader."""


class Tick(NamedTuple):
    """Raft has something to send after a tick."""


class AppliedToTerm(NamedTuple):
    """A new leader's empty entry has been applied: all that was committed before is."""


class Applied(NamedTuple):
    """What the apply thread has carried out.

    Attributes:
        admin: the command.
        log_index: where it stood in the log.
        region: the region as it is now.
        new_states: replicas of the regions that a split has made, left to right.
    """

    admin: AdminCommand
    log_index: int
    region: Region
    new_states: tuple[AppliedState, ...] = ()


class Skipped(NamedTuple):
    """An admin command was over when it was to be applied: its epoch has passed."""

    log_index: int
