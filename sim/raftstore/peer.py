"""A peer: one region's replica on one store, with its mailbox and its turn at the pollers.

Law: at any time at most one poller handles a peer (batch-system's ownership of an FSM); what
arrives meanwhile waits in the mailbox. ``region`` is what the raftstore believes, ``state.region``
what has been applied: a split or merge is known to the apply thread first. A peer that is ``gone``
(its process died, or its region left the store) is never asked again; what is still under way for
it comes to nothing.

Source: tikv/tikv components/batch-system, components/raftstore/src/store/{peer,fsm/peer}.rs.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from sim.protocol.lock_table import InstanceMemory, LocksStatus, PeerPessimisticLocks
from sim.protocol.raft import LEADER, RaftPeer

if TYPE_CHECKING:
    from sim.protocol.admin import PrepareMerge
    from sim.protocol.mvcc import Mvcc
    from sim.protocol.raft.log import Entry
    from sim.protocol.region import Region
    from sim.raftstore.in_flight import InFlight
    from sim.raftstore.merge_state import MergeState
    from sim.raftstore.transfer_state import TransferState
    from sim.storage.request import KvRequest


class Turn(IntEnum):
    """Where a peer stands with the pollers of one pool."""

    IDLE = 0
    QUEUED = 1
    OWNED = 2


IDLE: Final = Turn.IDLE
QUEUED: Final = Turn.QUEUED
OWNED: Final = Turn.OWNED

NO_LEASE: Final = -1
"""A lease that has ended before the run began: this peer serves nothing without a closer look."""


class AppliedState:
    """What one replica has applied: its region, its records, and how far they go."""

    __slots__ = (
        "applied",
        "applied_term",
        "in_flashback",
        "merge_command",
        "merging",
        "mvcc",
        "region",
        "unborn",
    )

    def __init__(self, region: Region, mvcc: Mvcc, applied: int, applied_term: int) -> None:
        self.region = region
        self.mvcc = mvcc
        self.applied = applied
        self.applied_term = applied_term
        self.merging = 0
        """Index of the PrepareMerge that has been applied, 0 if there is none."""
        self.merge_command: PrepareMerge | None = None
        self.in_flashback = False
        self.unborn: tuple[AppliedState, ...] = ()
        """Replicas that a split has made and the raftstore does not know yet."""


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
        "awake_ticks",
        "commit_told",
        "died",
        "gone",
        "held",
        "in_flight",
        "lease_until_ns",
        "led",
        "locks",
        "mailbox",
        "max_ts_synced",
        "merge",
        "notices",
        "parked",
        "raft",
        "region",
        "state",
        "stirred",
        "store",
        "transfer",
        "turn",
        "uncampaigned",
        "unpersisted",
        "unusual",
        "urgent_index",
    )

    def __init__(  # noqa: PLR0915 - one flat record
        self,
        region: Region,
        store: int,
        state: AppliedState,
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
        self.led = raft.role is LEADER
        """Whether it is set up as a leader."""
        self.gone = False
        self.died = False
        """Gone because its process has died: nobody is even answered."""
        self.unusual = raft.role is not LEADER
        """Whether a proposal needs a closer look: no leader, handing over, merging, splitting."""
        self.awake_ticks = 0
        """Ticks that count although it has nothing to replicate: its leader may be gone."""
        self.stirred = True
        """Whether anything has happened since it was last seen to hibernate."""
        self.urgent_index = 0
        """Once this is committed every replica is told at once; 0: nothing is urgent."""
        self.lease_until_ns = NO_LEASE
        """Until when a leader may serve without asking a quorum."""
        self.parked: list[KvRequest] = []
        """Requests that wait for a quorum to confirm the leader."""
        self.max_ts_synced = True
        """Whether a new leader knows which timestamps have been read at."""
        self.in_flight: list[InFlight] = []
        """Splits, merges and changes of replicas proposed and not yet applied."""
        self.uncampaigned: list[int] = []
        """Children of splits that it did not lead: nobody has stood for election there."""
        self.transfer: TransferState | None = None
        self.merge: MergeState | None = None

    @property
    def is_leader(self) -> bool:
        """Whether this replica leads its region."""
        return self.raft.role is LEADER

    @property
    def has_applied_to_current_term(self) -> bool:
        """Whether everything that was committed before this leader's term is applied here."""
        return self.state.applied_term == self.raft.term

    @property
    def may_hold_lease(self) -> bool:
        """Whether a leader that has just been confirmed may serve by itself for a while."""
        closed = self.state.in_flashback or self.state.merging
        return self.has_applied_to_current_term and not closed

    def __str__(self) -> str:
        return f"{self.raft}, applied {self.state.applied}, {self.locks}"


def make_peer(
    region: Region,
    store: int,
    state: AppliedState,
    raft: RaftPeer,
    instance: InstanceMemory,
    *,
    peer_limit_bytes: int,
) -> Peer:
    """Returns the replica of ``region`` on ``store``, its lock table open if it leads."""
    locks = PeerPessimisticLocks(
        instance, peer_limit_bytes, term=raft.term, version=region.epoch.version
    )
    if raft.role is not LEADER:
        locks.status = LocksStatus.NOT_LEADER
    return Peer(region, store, state, raft, locks)
