"""Raft, as one replica of a region carries it out, without time, disks or networks.

::

    quorum     what a majority has agreed on
    log        one replica's entries, and how far they are persisted, committed and applied
    progress   what a leader knows of one follower
    messages   what replicas send each other
    ready      what a replica asks its driver to do
    peer       ``RaftPeer``, the state machine, made of all of these

Source: etcd-io/raft, whose packages they are; tikv/raft-rs.
"""

from sim.protocol.raft.log import NOOP
from sim.protocol.raft.messages import (
    Append,
    AppendResponse,
    Heartbeat,
    RaftMessage,
    RequestVote,
    Snapshot,
    TimeoutNow,
    VoteResponse,
)
from sim.protocol.raft.peer import LEADER, RaftPeer, Role
from sim.protocol.raft.ready import NOTHING_READY, HardState, Ready

__all__ = [
    "LEADER",
    "NOOP",
    "NOTHING_READY",
    "Append",
    "AppendResponse",
    "HardState",
    "Heartbeat",
    "RaftMessage",
    "RaftPeer",
    "Ready",
    "RequestVote",
    "Role",
    "Snapshot",
    "TimeoutNow",
    "VoteResponse",
]
