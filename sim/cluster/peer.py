"""A peer: one region's replica on one store, with its mailbox and its turn at the pollers.

Law: at any time at most one poller handles a peer (batch-system's ownership of an FSM); what
arrives meanwhile waits in the mailbox. The replicas of a region share one ``Mvcc``: all apply the
same log, so the first to apply an entry makes it visible, and the others only pay for it.

Source: tikv/tikv components/batch-system, components/raftstore/src/store/fsm/peer.rs.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from sim.protocol.lock_table import InstanceMemory, LocksStatus, PeerPessimisticLocks
from sim.protocol.mvcc import Mvcc
from sim.protocol.raft import LEADER, RaftPeer

if TYPE_CHECKING:
    from sim.cluster.request import KvRequest
    from sim.protocol.raft_log import Entry
    from sim.protocol.region import Region


class Turn(IntEnum):
    """Where a peer stands with the pollers of one pool."""

    IDLE = 0
    QUEUED = 1
    OWNED = 2


IDLE: Final = Turn.IDLE
QUEUED: Final = Turn.QUEUED
OWNED: Final = Turn.OWNED


class RegionState:
    """What the replicas of a region have in common: its records and how far they are applied."""

    __slots__ = ("applied", "mvcc")

    def __init__(self, mvcc: Mvcc, applied: int) -> None:
        self.mvcc = mvcc
        self.applied = applied


class Persisted:
    """A write worker's notice: the ready that ended at ``index``, of ``term``, is durable."""

    __slots__ = ("index", "term")

    def __init__(self, index: int, term: int) -> None:
        self.index = index
        self.term = term


class Peer:
    """One replica on one store."""

    __slots__ = (
        "apply_queue",
        "apply_turn",
        "commit_told",
        "held",
        "locks",
        "mailbox",
        "notices",
        "raft",
        "region",
        "state",
        "store",
        "turn",
        "unpersisted",
    )

    def __init__(
        self,
        region: Region,
        store: int,
        state: RegionState,
        raft: RaftPeer,
        locks: PeerPessimisticLocks,
    ) -> None:
        self.region = region
        self.store = store
        self.state = state
        self.raft = raft
        self.locks = locks
        self.mailbox: list[object] = []
        self.notices: list[Persisted] = []
        """What write workers have made durable since the last visit (async IO)."""
        self.turn: Turn = IDLE
        self.held: list[KvRequest] = []
        """Commands that the batch builder keeps until the last ready is persisted (async IO)."""
        self.unpersisted = 0
        """Readies handed to the write workers and not yet persisted (async IO)."""
        self.apply_queue: list[Entry] = []
        self.apply_turn: Turn = IDLE
        self.commit_told = raft.log.committed
        """Commit index that the followers have been told, for the heartbeat."""

    @property
    def is_leader(self) -> bool:
        """Whether this replica leads its region."""
        return self.raft.role is LEADER


def make_peer(
    region: Region,
    store: int,
    state: RegionState,
    instance: InstanceMemory,
    *,
    peer_limit_bytes: int,
    max_inflight: int,
) -> Peer:
    """Returns the replica of ``region`` on ``store``, its lock table open if it leads."""
    raft = RaftPeer(
        region.region_id, store, region.stores, region.leader_store, max_inflight=max_inflight
    )
    locks = PeerPessimisticLocks(
        instance, peer_limit_bytes, term=raft.term, version=region.epoch.version
    )
    if raft.role is not LEADER:
        locks.status = LocksStatus.NOT_LEADER
    return Peer(region, store, state, raft, locks)
