"""Messages between stores that are not Raft's own.

Source: kvproto ``raft_serverpb.proto``, ``eraftpb.proto`` (MsgTransferLeader); tikv/tikv
components/raftstore/src/store/fsm/peer.rs (on_transfer_leader_msg, on_gc_peer_request).
"""

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
    conf_ver: int


RaftMessage = PureRaftMessage | TransferLeaderRequest | TransferLeaderAck | GcPeer
