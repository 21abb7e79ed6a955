"""The way of a peer's mail to whoever handles it, and what Raft's ``Ready`` asks besides.

Source: tikv/tikv components/raftstore/src/store/fsm/peer.rs (handle_msgs, on_apply_res).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.ablations import Ablations
from sim.protocol.admin import (
    ChangePeer,
    CommitMerge,
    FinishFlashback,
    PrepareFlashback,
    PrepareMerge,
    RollbackMerge,
    Split,
    TransferLeaderCommand,
)
from sim.protocol.raft import LEADER, RequestVote
from sim.protocol.region_errors import EpochNotMatch, RegionNotFound, StaleCommand
from sim.raftstore.admission import Admission
from sim.raftstore.apply_admin import ApplyAdmin
from sim.raftstore.flashback import Flashback
from sim.raftstore.leader_transfer import LeaderTransfer
from sim.raftstore.letting_go import drop_table, refuse_waiting
from sim.raftstore.membership import Replicas
from sim.raftstore.merge import Merge
from sim.raftstore.msg import (
    Applied,
    AppliedToTerm,
    AskChangePeer,
    AskCommitMerge,
    AskFlashback,
    AskMerge,
    AskSplit,
    Campaign,
    Dismissal,
    FencePassed,
    LocksApplied,
    MergeTick,
    ReadIndex,
    Skipped,
    StartTransfer,
    Tick,
    TransferLeaderAck,
    TransferLeaderRequest,
    TransferTick,
)
from sim.raftstore.read_index import QuorumReads
from sim.raftstore.roles import Roles
from sim.raftstore.split import SplitRegion
from sim.storage.request import KvRequest

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sim.protocol.raft import Ready
    from sim.protocol.raft.log import Entry
    from sim.raftstore.peer import Peer
    from sim.scenario.resolved_tikv import Tikv
    from sim.server.cluster import Cluster
    from sim.server.store import Store


class RegionLife:
    """All of it, for one store."""

    __slots__ = (
        "_by_admin",
        "_by_kind",
        "_cluster",
        "_store",
        "admission",
        "apply_admin",
        "flashback",
        "merge",
        "reads",
        "replicas",
        "roles",
        "split",
        "transfer",
    )

    def __init__(self, cluster: Cluster, store: Store, tikv: Tikv) -> None:
        ablations = Ablations.of(tikv.ablations)
        self._cluster = cluster
        self._store = store
        self.admission = Admission(cluster, store, tikv.raft_entry_max_size_bytes)
        self.transfer = LeaderTransfer(cluster, store, tikv, ablations)
        self.split = SplitRegion(
            cluster, store, ablations, campaigns_later=tikv.behaviour == "v8.5"
        )
        self.merge = Merge(cluster, store, tikv, ablations)
        self.replicas = Replicas(cluster, store)
        self.flashback = Flashback(cluster, store)
        self.roles = Roles(cluster, store, self.split, self.merge)
        self.reads = QuorumReads(cluster, store, tikv.raft_store_max_leader_lease_ns)
        self.apply_admin = ApplyAdmin(cluster, store)
        self._by_kind: dict[type, Callable[[Peer, Any], None]] = {
            StartTransfer: self.transfer.start,
            TransferLeaderRequest: self.transfer.asked,
            TransferLeaderAck: self.transfer.acknowledged,
            TransferTick: self.transfer.tick,
            LocksApplied: self.transfer.locks_applied,
            AskSplit: self.split.ask,
            AskMerge: self.merge.ask,
            AskCommitMerge: self.merge.commit,
            MergeTick: self.merge.tick,
            FencePassed: self.merge.fence_passed,
            AskChangePeer: self.replicas.ask,
            AskFlashback: self.flashback.ask,
            Campaign: self._campaign,
            ReadIndex: self.reads.ask,
            RequestVote: self._asked_for_vote,
            Dismissal: self.replicas.dismissed,
            Applied: self._applied,
            AppliedToTerm: self.roles.applied_to_term,
            Skipped: self.admin_applied,
            Tick: lambda _peer, _mail: None,
        }
        self._by_admin: dict[type, Callable[[Peer, Applied], None]] = {
            Split: self.split.ready,
            PrepareMerge: self._version_changed,
            CommitMerge: self._version_changed,
            RollbackMerge: self._version_changed,
            ChangePeer: self.replicas.ready,
            PrepareFlashback: self.flashback.ready,
            FinishFlashback: self.flashback.ready,
            TransferLeaderCommand: self.transfer.applied_command,
        }

    def handle(self, peer: Peer, message: object) -> None:
        """Handles a message that is neither a request, an append nor an answer to one."""
        handler = self._by_kind.get(message.__class__)
        if handler is None:
            peer.raft.step(message)  # type: ignore[arg-type]
        else:
            handler(peer, message)
        self.admission.refresh(peer)

    def ready(self, peer: Peer, ready: Ready) -> None:
        """Does what an unusual ``Ready`` asks for beyond writing and sending."""
        if ready.role_changed:
            self.roles.changed(peer)
        if ready.read_states:
            self.reads.confirmed(peer, ready.read_states)
        if ready.snapshot is not None:
            self.replicas.install(peer, ready.snapshot)
        if ready.needs_snapshot:
            self.replicas.send_snapshots(peer, ready.needs_snapshot)
        for entry in peer.raft.take_truncated():
            self._cut_off_all(peer, entry)

    def admin_applied(self, peer: Peer, applied: Applied | Skipped) -> None:
        """Lets those fail who waited for an admin command; it is in flight no longer."""
        index = applied.log_index
        over = [earlier for earlier in peer.in_flight if earlier.index <= index]
        peer.in_flight = [earlier for earlier in peer.in_flight if earlier.index > index]
        refuse = self._store.writes.refuse
        for earlier in over:
            for command in earlier.waiting:
                if earlier.index == index:
                    refuse(command, EpochNotMatch(self._store.regions_over(command.region)))
                else:
                    refuse(command, StaleCommand(peer.region.region_id))
        self.admission.refresh(peer)

    def skipped(self, command: KvRequest) -> None:
        """Tells the proposer of a command that it was skipped when it was applied."""
        error = EpochNotMatch(self._store.regions_over(command.region))
        self._store.writes.refuse(command, error)

    def let_go(self, peer: Peer, cause: str) -> None:
        """Ends what is under way for a replica that leaves the store."""
        drop_table(self._store, peer, cause)
        error = RegionNotFound(peer.region.region_id)
        refuse_waiting(self._store, peer, error, behind_admin=error)
        mailbox, peer.mailbox = peer.mailbox, []
        for message in mailbox:
            if isinstance(message, KvRequest):
                self._store.writes.refuse(message, error)
        for entry in peer.raft.log.since(peer.raft.log.first_index):
            if entry.index > peer.state.applied:
                self._cut_off_all(peer, entry)

    def _applied(self, peer: Peer, applied: Applied) -> None:
        self._by_admin[type(applied.admin)](peer, applied)

    def _version_changed(self, peer: Peer, applied: Applied) -> None:
        """A merge's step: the source is stopped, taken over, or let go."""
        peer.region = applied.region
        peer.locks.version = applied.region.epoch.version
        if isinstance(applied.admin, PrepareMerge):
            self.merge.prepared(peer, applied)
        elif isinstance(applied.admin, RollbackMerge):
            self.merge.rolled_back(peer, applied)
        else:
            self._cluster.probe.mark("merge.committed")
        self.admin_applied(peer, applied)
        self._cluster.probe.region_changed(peer, applied.admin.name)
        if peer.raft.role is LEADER:
            self._cluster.report(peer)

    def _campaign(self, peer: Peer, _: Campaign) -> None:
        if peer.raft.role is not LEADER:
            peer.raft.campaign()
            self._store.wake(peer)

    def _asked_for_vote(self, peer: Peer, message: RequestVote) -> None:
        """A replica misses its leader: if that is us, it shall hear from us; we may miss it, too.

        A hibernating follower's time stands still, and with it the lease for which it refuses
        votes. One that does not belong to the region any more is told so.

        Source: tikv/tikv store/fsm/peer.rs (on_raft_message: a vote message means chaos).
        """
        if peer.region.stores and message.store not in peer.region.stores:
            if not message.forced:
                self.replicas.dismiss(peer, message.store)
            return
        self._store.wake(peer)
        peer.raft.step(message)

    def _cut_off_all(self, peer: Peer, entry: Entry) -> None:
        """Tells the proposers of an entry that it will never be applied."""
        payload: list[object] = entry.payload  # type: ignore[assignment]
        for command in payload:
            if isinstance(command, KvRequest) and command.peer is peer:
                self._cluster.probe.mark("log.truncated")
                self._store.writes.refuse(command, StaleCommand(peer.region.region_id))
