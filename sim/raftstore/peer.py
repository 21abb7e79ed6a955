"""A peer: one region's replica on one store, with its mailbox, and the commands that it is sent.

Invariant: at any time at most one store poller handles a peer (batch-system's ownership of an FSM);
what arrives meanwhile waits in the mailbox. ``region`` is what the raftstore knows,
``state.region`` what has been applied: the apply thread learns of a split or merge first. A peer
that is ``gone`` (its process died, or its region left the store) handles nothing any more. What is
nearly always empty is a tuple: thousands of peers share the empty one.

Source: tikv/tikv components/raftstore/src/store/{peer.rs, fsm/peer.rs, msg.rs},
components/batch-system.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from sim.protocol.admin import AdminCommand, PrepareMerge, Split
from sim.protocol.lock_table import InstanceMemory, LocksStatus, PeerPessimisticLocks
from sim.protocol.mvcc import Mvcc
from sim.protocol.raft import LEADER, RaftPeer
from sim.protocol.raft.log import Entry
from sim.protocol.region import Region
from sim.protocol.write_batch import ADMIN, WriteBatch
from sim.raftstore.lease import Lease
from sim.transport.messages import DiskUsage


class Turn(IntEnum):
    """Where a peer stands with the pollers of one pool."""

    IDLE = 0
    QUEUED = 1
    OWNED = 2
    STOPPED = 3
    """A failpoint holds up its handler; its mail waits."""


IDLE: Final = Turn.IDLE
QUEUED: Final = Turn.QUEUED
OWNED: Final = Turn.OWNED
STOPPED: Final = Turn.STOPPED


class AppliedState:
    """What one replica has applied: its region, its records, and up to which entry."""

    __slots__ = (
        "applied", "applied_term", "in_flashback", "merge_command", "merging", "mvcc", "region",
        "unannounced",
    )  # fmt: skip

    def __init__(self, region: Region, mvcc: Mvcc, applied: int, applied_term: int) -> None:
        self.region = region
        self.mvcc = mvcc
        self.applied = applied
        self.applied_term = applied_term
        self.merging = 0
        """Index of the PrepareMerge that has been applied, 0 if there is none."""
        self.merge_command: PrepareMerge | None = None
        self.in_flashback = False
        self.unannounced: tuple[AppliedState, ...] = ()
        """Regions split off by the apply thread that the raftstore has not heard of yet."""

    def cut_to_region(self) -> None:
        """Drops the records that a split has given to other regions."""
        if self.region.start_key:
            self.mvcc = self.mvcc.split_off(self.region.start_key)


@dataclass(slots=True)
class TransferState:
    """A leader's attempt to hand leadership over; the lock table is closed meanwhile."""

    to_store: int
    """The target of the latest attempt."""
    ticks: int = 0
    """Reactivation ticks since the locks were proposed."""
    locks_index: int = 0
    """Where the locks stand in the log, 0 if none were proposed."""
    left_out: str = ""
    """Why locks were not proposed although there were some: ``too_large``, ``in_flight`` (a
    split or merge would make them fail), or ``disk_full``."""
    handing_over: bool = False
    """Whether Raft has been told to hand over."""


@dataclass(slots=True)
class MergeState:
    """A merge of this region, the source, into ``target``."""

    target: Region
    """As it was when the merge began."""
    fence: int = 0
    """Nothing else is proposed until the log is applied up to here; 0: no fence."""
    min_index: int = 0
    """What every replica is known to have."""
    commit: int = 0
    """Where the PrepareMerge stands in the log, once it is applied; 0 before."""


@dataclass(slots=True)
class DiskFullPeers:
    """What a leader has concluded from its followers' disks."""

    usages: dict[int, DiskUsage] = field(default_factory=dict)
    """By store: followers whose disk is full."""
    helpful: set[int] = field(default_factory=set)
    """Those of them that are sent entries, because a quorum needs them."""
    majority: bool = False
    """Whether those with room make no quorum."""
    dangerous: bool = False
    """Whether the best quorum needs a disk that is already full. Like TiKV's, it is only looked at
    again when a majority is full."""
    merge_index: int = 0
    """A step of a merge that all followers must hear of, 0: none."""


@dataclass(slots=True)
class ProposedAdmin:
    """An admin command that is proposed and not yet applied (CmdEpochChecker)."""

    admin: AdminCommand
    index: int
    waiting: list[RaftCommand] = field(default_factory=list)
    """Writes refused because of it; they are answered EpochNotMatch once it is applied."""


@dataclass(slots=True)
class ReadIndexRequest:
    """Requests that wait for a quorum to confirm the leader (read_queue.rs)."""

    context: int
    """What Raft knows it by."""
    asked_ns: int
    commands: list[RaftCommand]
    is_confirmed: bool = False


@dataclass(slots=True)
class Persisted:
    """A write worker's notice: the ready that ended at ``index``, of ``term``, is durable."""

    index: int
    term: int


class Peer:
    """One replica on one store."""

    __slots__ = (
        "apply_queue", "apply_turn", "awake_ticks", "commit_told", "died", "disk_full", "gone",
        "held", "lease",
        "led", "locks", "mailbox", "max_ts_synced", "merge", "needs_check", "notices",
        "pending_reads", "proposed_admin", "raft", "region", "state", "stirred", "store",
        "transfer", "turn", "uncampaigned", "unpersisted", "urgent_index",
    )  # fmt: skip

    def __init__(  # noqa: PLR0915 - one flat record
        self, store: int, state: AppliedState, raft: RaftPeer, locks: PeerPessimisticLocks
    ) -> None:
        self.region = state.region
        self.store = store
        self.state = state
        self.raft = raft
        self.locks = locks
        self.mailbox: list[object] = []
        self.turn: Turn = IDLE
        self.gone = self.died = False  # Died: with its process, so nobody is even answered.
        # Proposing (raftstore/propose.py).
        self.held: tuple[RaftCommand, ...] = ()
        """Commands that the batch builder keeps until the last ready is persisted (async IO)."""
        self.proposed_admin: tuple[ProposedAdmin, ...] = ()
        """Splits, merges and changes of replicas proposed and not yet applied."""
        self.needs_check = raft.role is not LEADER
        """Whether a proposal is to be checked: no leader, handing over, merging, splitting."""
        self.disk_full: DiskFullPeers | None = None
        """Followers whose disks are full; None: there has been none (raftstore/disk_full.py)."""
        self.urgent_index = 0
        """Once this is committed the followers are told at once; 0: nothing is urgent."""
        # Persisting (raftstore/poller.py, write_worker.py).
        self.notices: tuple[Persisted, ...] = ()
        """What write workers have made durable since the last visit (async IO)."""
        self.unpersisted = 0
        """Readies handed to the write workers and not yet persisted (async IO)."""
        self.commit_told = raft.log.committed
        """Commit index that the followers have been told, for the heartbeat."""
        # Applying (raftstore/apply.py).
        self.apply_queue: list[Entry] = []
        self.apply_turn: Turn = IDLE
        # Ticks (raftstore/ticks.py).
        self.awake_ticks = 0
        """Ticks that count although it has nothing to replicate: its leader may be gone."""
        self.stirred = True
        """Whether anything has happened since it was last seen to hibernate."""
        # Serving reads and snapshots (raftstore/read.py).
        self.lease = Lease()
        self.pending_reads: list[ReadIndexRequest] = []
        """Questions to a quorum, in their order; the first ones may be confirmed."""
        self.max_ts_synced = True
        """Whether a new leader knows which timestamps have been read at."""
        # Role and region (raftstore/role.py, leader_transfer.py, split.py, merge.py).
        self.led = raft.role is LEADER
        """Whether it is set up as a leader."""
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
        state = self.state
        if state.applied_term != self.raft.term or state.in_flashback:
            return False
        if not self.proposed_admin and self.merge is None:  # As nearly always.
            return True
        return not self.is_splitting and not self.is_merging

    @property
    def is_splitting(self) -> bool:
        """Whether a split is committed of which this leader's raftstore has still to hear.

        The other replicas may have applied it, and elected a leader for a part of the region.
        """
        return bool(self.proposed_admin) and self._has_committed(Split)

    @property
    def is_merging(self) -> bool:
        """Whether a PrepareMerge is committed and not taken back: the target may have taken over.

        Source: tikv/tikv components/raftstore/src/store/peer.rs (is_splitting, is_merging).
        """
        if self.merge is not None and self.merge.commit:
            return True
        return bool(self.proposed_admin) and self._has_committed(PrepareMerge)

    def _has_committed(self, kind: type[AdminCommand]) -> bool:
        committed = self.raft.log.committed
        return any(
            isinstance(earlier.admin, kind) and earlier.index <= committed
            for earlier in self.proposed_admin
        )

    def __str__(self) -> str:
        return f"{self.raft}, applied {self.state.applied}, {self.locks}"


def make_peer(
    store: int,
    state: AppliedState,
    raft: RaftPeer,
    instance: InstanceMemory,
    *,
    peer_limit_bytes: int,
) -> Peer:
    """Returns the replica of ``state.region`` on ``store``, its lock table open if it leads."""
    version = state.region.epoch.version
    locks = PeerPessimisticLocks(instance, peer_limit_bytes, term=raft.term, version=version)
    if raft.role is not LEADER:
        locks.status = LocksStatus.NOT_LEADER
    return Peer(store, state, raft, locks)


class RaftCommand:
    """What is proposed to a region, as the raftstore sees it (msg.rs: RaftCommand).

    Attributes:
        region: what its sender believes the region to be; its version is checked.
        term: the leader's term when the command took its snapshot.
        batch: what is to be written.
        peer: where it was received, and proposed.
        replaced_locks: keys whose locks in memory the command has marked deleted.
        allowed_on_almost_full: whether its sender wants it written to an almost full disk
            (kvrpcpb DiskFullOpt).
        reply_at_proposed: whether its sender is answered as soon as it is proposed.
        proposed_ns: when a store poller has proposed it, which may be yet to come; 0: not proposed.
        committed_ns, applied_ns: written by the apply poller of the proposing replica.
    """

    __slots__ = (
        "allowed_on_almost_full", "applied_ns", "batch", "committed_ns", "peer", "proposed_ns",
        "region", "replaced_locks", "reply_at_proposed", "term",
    )  # fmt: skip

    is_write = True
    """Whether it is a client's write, which somebody waits for."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.term = 0
        self.batch: WriteBatch | None = None
        self.peer: Peer | None = None
        self.replaced_locks: list[bytes] = []
        self.allowed_on_almost_full = False
        self.reply_at_proposed = False
        self.proposed_ns = self.committed_ns = self.applied_ns = 0


class MigratedLocks(RaftCommand):
    """Locks of a table on their way into the lock CF of every replica."""

    __slots__ = ()

    is_write = False

    def __init__(self, peer: Peer, batch: WriteBatch) -> None:
        super().__init__(peer.region)
        self.peer = peer
        self.batch = batch


class AdminProposal(RaftCommand):
    """An admin command on its way through Raft; it is alone in its entry (AdminRequest)."""

    __slots__ = ("admin",)

    is_write = False

    def __init__(self, peer: Peer, admin: AdminCommand) -> None:
        super().__init__(peer.region)
        self.peer = peer
        self.admin = admin
        self.batch = WriteBatch(ADMIN)
        self.batch.raft_bytes = admin.size_bytes
        self.batch.wal_bytes = admin.size_bytes
