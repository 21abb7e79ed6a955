"""What a peer does with mail that is neither a command nor an append, and with Raft's ``Ready``.

Source: tikv/tikv components/raftstore/src/store/fsm/peer.rs (handle_msgs, on_apply_res,
on_ready_result), peer.rs (handle_raft_ready_append).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from sim.protocol.raft import LEADER, RequestVote, TimeoutNow
from sim.protocol.raft.ready import EventfulReady
from sim.raftstore.context import StoreContext
from sim.raftstore.destroy import refuse_lost_entry
from sim.raftstore.flashback import Flashback
from sim.raftstore.leader_transfer import LeaderTransfer
from sim.raftstore.membership import Membership
from sim.raftstore.merge import Merge
from sim.raftstore.msg import (
    VISIT,
    Applied,
    AppliedToTerm,
    AskChangePeer,
    AskCommitMerge,
    AskFlashback,
    AskMerge,
    AskSplit,
    Campaign,
    FencePassed,
    LocksApplied,
    MergeTick,
    ReadIndex,
    Skipped,
    StartTransfer,
    TransferTick,
)
from sim.raftstore.peer import Peer
from sim.raftstore.propose import Proposals
from sim.raftstore.read import LocalReader, ReadIndexes
from sim.raftstore.role import Roles
from sim.raftstore.split import SplitRegion
from sim.transport.messages import DiskUsage, GcPeer, TransferLeaderAck, TransferLeaderRequest


class PeerFsm:
    """The handlers of one store's peers, and which mail goes to which."""

    def __init__(self, ctx: StoreContext, proposals: Proposals, reader: LocalReader) -> None:
        self._ctx = ctx
        self._proposals = proposals
        self.split = SplitRegion(ctx, proposals)
        self.merge = Merge(ctx, proposals)
        self.membership = Membership(ctx, proposals)
        flashback = Flashback(ctx, proposals)
        transfer = LeaderTransfer(ctx, proposals)
        self._role = role = Roles(ctx, proposals, self.split, self.merge, flashback)
        self._read_indexes = ReadIndexes(ctx, reader)
        self._by_kind: dict[type, Callable[[Peer, Any], None]] = {
            StartTransfer: transfer.start,
            TransferLeaderRequest: transfer.asked,
            TransferLeaderAck: transfer.acknowledged,
            TransferTick: transfer.tick,
            LocksApplied: transfer.locks_applied,
            AskSplit: self.split.ask,
            AskMerge: self.merge.ask,
            AskCommitMerge: self.merge.commit,
            MergeTick: self.merge.tick,
            FencePassed: self.merge.fence_passed,
            AskChangePeer: self.membership.ask,
            AskFlashback: flashback.ask,
            Campaign: self._campaign,
            ReadIndex: self._read_indexes.ask,
            RequestVote: self._asked_for_vote,
            TimeoutNow: self._told_to_lead,
            GcPeer: self.membership.gc,
            Applied: self._applied,
            AppliedToTerm: role.applied_to_term,
            Skipped: proposals.admin_applied,
        }
        self._by_admin: dict[type, Callable[[Peer, Applied], None]] = {
            Split: self.split.ready,
            PrepareMerge: self._merge_step_applied,
            CommitMerge: self._merge_step_applied,
            RollbackMerge: self._merge_step_applied,
            ChangePeer: self.membership.ready,
            PrepareFlashback: flashback.ready,
            FinishFlashback: flashback.ready,
            TransferLeaderCommand: transfer.applied_command,
        }

    def handle(self, peer: Peer, message: Any) -> None:
        """Handles a message that is neither a command, an append nor an answer to one."""
        if message is VISIT:
            self._visit(peer)
            return
        handler = self._by_kind.get(message.__class__)
        if handler is None:
            peer.raft.step(message)
        else:
            handler(peer, message)
        self._proposals.refresh(peer)
        self._serve_reads(peer)

    def _visit(self, peer: Peer) -> None:
        """Comes without mail: what stood in the way of proposals may be over."""
        if peer.needs_check and peer.raft.role is LEADER:
            self._proposals.refresh(peer)
        self._serve_reads(peer)

    def _serve_reads(self, peer: Peer) -> None:
        if peer.pending_reads:  # What was in their way may be applied now.
            self._read_indexes.serve_confirmed(peer)

    def handle_ready(self, peer: Peer, ready: EventfulReady) -> None:
        """Does what an unusual ``Ready`` asks for beyond writing and sending."""
        if ready.role_changed:
            self._role.changed(peer)
        if ready.read_states:
            self._read_indexes.confirmed(peer, ready.read_states)
        if ready.snapshot is not None:
            self.membership.install(peer, ready.snapshot)
        if ready.needs_snapshot:
            self.membership.send_snapshots(peer, ready.needs_snapshot)
        for entry in peer.raft.take_truncated():
            refuse_lost_entry(self._ctx, peer, entry)

    def _applied(self, peer: Peer, applied: Applied) -> None:
        self._by_admin[type(applied.admin)](peer, applied)

    def _merge_step_applied(self, peer: Peer, applied: Applied) -> None:
        """A merge's step: the source is stopped, taken over, or opened again."""
        peer.region = applied.region
        peer.locks.set_version(applied.region.epoch.version)
        if isinstance(applied.admin, PrepareMerge):
            self.merge.prepared(peer, applied)
        elif isinstance(applied.admin, RollbackMerge):
            self.merge.rolled_back(peer, applied)
        else:
            self._ctx.probe.mark("merge.committed")
            if peer.raft.role is LEADER:
                self._role.sync_max_ts(peer)
        self._proposals.admin_applied(peer, applied)
        self._ctx.callbacks.on_role_or_region_changed(peer)
        self._ctx.probe.region_changed(peer, applied.admin.name)
        if peer.raft.role is LEADER:
            self._ctx.pd.heartbeat(peer.region, peer.store, peer.raft.term)

    def _campaign(self, peer: Peer, _: Campaign) -> None:
        if peer.raft.role is not LEADER:
            peer.raft.campaign()
            self._ctx.ticks.wake_up(peer)

    def _told_to_lead(self, peer: Peer, message: TimeoutNow) -> None:
        """Stands for election at the leader's wish, unless this disk is already full."""
        if self._ctx.disk_usage is not DiskUsage.ALREADY_FULL:
            peer.raft.step(message)

    def _asked_for_vote(self, peer: Peer, message: RequestVote) -> None:
        """Another replica misses its leader: this one wakes up, whether it leads or follows.

        A hibernating follower's time stands still, and with it the lease for which it refuses
        votes. A replica that does not belong to the region any more is told to destroy itself.

        Source: tikv/tikv store/fsm/peer.rs (on_raft_message: a vote message means chaos).
        """
        if peer.region.stores and message.store not in peer.region.stores:
            if not message.forced:
                self.membership.send_gc(peer, message.store)
            return
        self._ctx.ticks.wake_up(peer)
        peer.raft.step(message)
