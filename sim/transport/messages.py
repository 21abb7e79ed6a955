"""Messages between stores that are not Raft's own.

Source: kvproto ``raft_serverpb.proto``, ``eraftpb.proto`` (MsgTransferLeader); tikv/tikv
components/raftstore/src/store/fsm/peer.rs (on_transfer_leader_msg, on_gc_peer_request).
"""

from enum import IntEnum
from typing import NamedTuple

from sim.protocol.raft.messages import RaftMessage as PureRaftMessage


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


class GcPeer(NamedTuple):
    """To a replica that has been removed from its region and has not heard of it."""

    region_id: int
    store: int
    term: int
    conf_ver: int | None
    """Of the region that goes on without it; None: that is part of another one by now."""


class DiskUsage(IntEnum):
    """How full a store's disk is (kvproto ``disk_usage.proto``)."""

    NORMAL = 0
    ALMOST_FULL = 1
    ALREADY_FULL = 2


class DiskUsageReport(NamedTuple):
    """How full the sender's disk is: a field of every raft message, here one for a whole batch."""

    store: int
    usage: DiskUsage
    region_ids: tuple[int, ...]
    """Whose messages it comes with."""

    region_id: int = 0
    """It is for no peer in particular."""


RaftMessage = PureRaftMessage | TransferLeaderRequest | TransferLeaderAck | GcPeer | DiskUsageReport
