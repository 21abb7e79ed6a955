"""Merging a region into its neighbour, with the locks in memory.

TiKV's steps, on the source's leader until the third::

    PD: merge ► every replica's log is close enough ► fence: nothing else is proposed until all
      that was proposed is applied ► propose all locks, deleted marks or not ► propose PrepareMerge
      ► each replica asks the target's on its store ► the target's leader proposes CommitMerge with
        the entries that some replica may lack ► each replica brings its source up to date and
        takes over its records

Law: behind the fence no lock with a deleted mark can be deleted any more: either the write that
replaces it was applied, and the lock is gone, or it was refused. So all that is left must move. In
the target the locks are in the lock CF; the target's own table keeps its locks and gets the new
version. If the target changes before it commits, the merge is rolled back and the table opened.

Source: tikv/tikv components/raftstore/src/store/peer.rs (pre_propose_prepare_merge,
propose_locks_before_prepare_merge, post_propose_fail), fsm/peer.rs (on_check_merge,
schedule_merge, on_ready_prepare_merge, on_ready_commit_merge, on_ready_rollback_merge),
fsm/apply.rs (exec_prepare_merge, exec_commit_merge); RFC 77, Region merge.
"""

from __future__ import annotations

from typing import Final

from sim.protocol.admin import CommitMerge, PrepareMerge, RollbackMerge, TransferLeaderCommand
from sim.protocol.lock_table import LocksStatus
from sim.protocol.raft import LEADER
from sim.protocol.raft.log import Entry
from sim.raftstore.context import StoreContext
from sim.raftstore.disk_full import admits_admin, merge_step_proposed
from sim.raftstore.msg import Applied, AskCommitMerge, AskMerge, FencePassed, MergeTick
from sim.raftstore.peer import AdminProposal, MergeState, Peer
from sim.raftstore.propose import (
    Proposals,
    conflicts,
    migration_batch,
    propose_locks,
)
from sim.scenario.versions import RFC

_ENTRY_SHARE: Final = 0.9
"""Of ``raft-entry-max-size``: what the gap, or the locks, may take."""


class Merge:
    """Merges on one store: of sources that live here, and into targets that do."""

    def __init__(self, ctx: StoreContext, proposals: Proposals) -> None:
        self._ctx = ctx
        self._proposals = proposals

    def ask(self, peer: Peer, mail: AskMerge) -> None:
        """Begins a merge, if this peer leads and nothing else is under way."""
        if peer.raft.role is not LEADER or peer.merge is not None or peer.raft.lead_transferee:
            return
        if not peer.has_applied_to_current_term or not admits_admin(self._ctx, peer):
            return
        self._proposals.append_held(peer)
        self._try(peer, MergeState(mail.target))

    def _try(self, peer: Peer, merge: MergeState, *, fence_passed: bool = False) -> None:
        """Begins the merge if it may begin; or raises the fence, to look again behind it.

        Behind the fence a transfer may have closed the table: its locks were not proposed, so the
        merge proposes them.
        """
        if not self._is_as_expected(peer, merge):
            return
        if conflicts(peer, PrepareMerge(merge.target, 0)) or not self._gap_allows(peer, merge):
            self._ctx.probe.mark("merge.refused_gap")
            return
        if not peer.locks.map:
            self._ctx.probe.mark("merge.empty_table")
        elif fence_passed:
            pass
        elif peer.locks.status is not LocksStatus.NORMAL:
            self._ctx.probe.mark("merge.refused_status")
            return
        elif self._must_wait(peer):
            self._raise_fence(peer, merge)
            return
        self._propose(peer, merge)

    def _raise_fence(self, peer: Peer, merge: MergeState) -> None:
        """Lets nothing else be proposed until all that has been proposed is applied.

        The RFC closes the table first; TiKV leaves it open until it proposes the locks.
        """
        self._ctx.probe.mark("merge.fenced")
        merge.fence = peer.raft.log.last_index
        peer.merge = merge
        peer.needs_check = True
        if self._ctx.tikv.behaviour == RFC:
            peer.locks.close(LocksStatus.MERGING_REGION)

    def fence_passed(self, peer: Peer, _: FencePassed) -> None:
        """Goes on with a merge whose fence has been applied."""
        merge = peer.merge
        if merge is None or not merge.fence or peer.state.applied < merge.fence:
            return
        peer.merge = None
        merge.fence = 0
        if peer.raft.role is LEADER:
            if peer.locks.status is LocksStatus.MERGING_REGION:
                peer.locks.reopen()
            self._try(peer, merge, fence_passed=True)
        self._proposals.refresh(peer)

    def prepared(self, peer: Peer, applied: Applied) -> None:
        """Learns that this region takes nothing more; each replica looks for the target's."""
        command = applied.admin
        assert isinstance(command, PrepareMerge), f"no merge: {command}"
        self._begin_asking(peer, command, applied.log_index)

    def _begin_asking(self, peer: Peer, command: PrepareMerge, index: int) -> None:
        merge = peer.merge = MergeState(command.target)
        merge.commit, merge.min_index = index, command.min_index
        self.go_on(peer)

    def go_on(self, peer: Peer) -> None:
        """Asks the target's replica on this store, now and at every tick."""
        if peer.merge is not None:
            self.tick(peer, MergeTick(peer.merge))

    def resume(self, peer: Peer) -> None:
        """Takes up a merge whose PrepareMerge was applied before the process died."""
        command = peer.state.merge_command
        if command is not None:
            self._begin_asking(peer, command, peer.state.merging)

    def tick(self, peer: Peer, mail: MergeTick) -> None:
        """Asks the target again, or takes the merge back if the target has changed."""
        merge = peer.merge
        if merge is None or merge is not mail.merge or not merge.commit or peer.gone:
            return
        target = self._ctx.peers.get(merge.target.region_id)
        if self._has_changed(merge):
            self._roll_back(peer, merge)
        elif target is not None and target.raft.role is LEADER:
            ask = AskCommitMerge(peer.region, merge.commit, merge.min_index)
            self._ctx.router.deliver(target, ask)
        due_ns = self._ctx.now_ns + self._ctx.tikv.merge_check_tick_interval_ns
        self._ctx.router.deliver_at(due_ns, peer, mail)

    def commit(self, peer: Peer, ask: AskCommitMerge) -> None:
        """Proposes to take a source over; the target's side."""
        source = self._ctx.peers.get(ask.source.region_id)
        if peer.raft.role is not LEADER or source is None or source.merge is None:
            return
        if peer.region.epoch != source.merge.target.epoch:
            return
        log = source.raft.log
        first = max(ask.min_index + 1, log.first_index)
        entries = [entry for entry in log.since(first) if entry.index <= ask.commit]
        command = CommitMerge(ask.source, ask.commit, entries)
        if not admits_admin(self._ctx, peer):
            return
        if peer.merge is None and not conflicts(peer, command) and not peer.raft.lead_transferee:
            self._proposals.propose_admin(peer, command)

    def rolled_back(self, peer: Peer, applied: Applied) -> None:
        """Opens a source again whose merge has been taken back."""
        self._ctx.probe.mark("merge.rolled_back")
        peer.merge = None
        if peer.raft.role is LEADER:
            peer.locks.activate(peer.raft.term, applied.region.epoch.version)

    def _is_as_expected(self, peer: Peer, merge: MergeState) -> bool:
        """Returns whether the target is here, a neighbour and on the same stores, as PD believes.

        Source: tikv/tikv components/raftstore/src/store/fsm/peer.rs (check_merge_proposal).
        """
        target = self._ctx.peers.get(merge.target.region_id)
        if target is None or target.region.epoch != merge.target.epoch:
            return False
        left, right = sorted([peer.region, target.region], key=lambda region: region.start_key)
        adjacent = left.end_key == right.start_key
        return adjacent and set(left.stores) == set(right.stores) and target.merge is None

    def _has_changed(self, merge: MergeState) -> bool:
        """Returns whether what lies in the target's range is another region, or a later one.

        A region that is not here yet may still come: then nothing is known.
        """
        target = merge.target
        return any(
            region.epoch.version > target.epoch.version
            or (region.region_id == target.region_id and region.epoch > target.epoch)
            for region in self._ctx.regions_over(target)
        )

    def _must_wait(self, peer: Peer) -> bool:
        unapplied = peer.state.applied < peer.raft.log.last_index
        return unapplied and not self._ctx.ablations.merge_without_fence

    def _gap_allows(self, peer: Peer, merge: MergeState) -> bool:
        """Returns whether every replica is close enough; notes what all of them have."""
        log = peer.raft.log
        merge.min_index = min(peer.raft.matched.values())
        gap = log.since(merge.min_index + 1)
        return (
            merge.min_index > 0  # Else there is a replica of which nothing has been heard.
            and len(gap) <= self._ctx.tikv.merge_max_log_gap
            and not any(map(_is_in_the_way, gap))
            and sum(entry.size_bytes for entry in gap) <= self._limit_bytes()
        )

    def _limit_bytes(self) -> float:
        return _ENTRY_SHARE * self._ctx.tikv.raft_entry_max_size_bytes

    def _propose(self, peer: Peer, merge: MergeState) -> None:
        """Proposes the locks and PrepareMerge; the fence is passed."""
        point, what = "before_propose_merge_locks", (peer, merge)
        self._ctx.failpoints.run(point, peer, self._propose_all, what, later=self._resume)

    def _resume(self, what: tuple[Peer, MergeState]) -> None:
        """Goes on after a hold; what came meanwhile is looked at, and waited for."""
        peer, merge = what
        if not self._is_as_expected(peer, merge):
            return
        if peer.locks.map and self._must_wait(peer):
            self._raise_fence(peer, merge)
        else:
            self._propose_all(what)
        self._ctx.router.visit(peer)

    def _propose_all(self, what: tuple[Peer, MergeState]) -> None:
        peer, merge = what
        probe = self._ctx.probe
        if peer.gone or peer.raft.role is not LEADER:
            return
        all_locks = not self._ctx.ablations.merge_drops_deleted_locks
        locks = peer.locks.locks_to_propose(include_deleted=all_locks)
        batch = migration_batch(locks)
        if max(batch.raft_bytes, peer.locks.memory_size) > self._limit_bytes():
            probe.mark("merge.propose_failed")
            return
        marked = peer.locks.has_deleted_marks
        peer.locks.close(LocksStatus.MERGING_REGION)
        refused = not admits_admin(self._ctx, peer) or peer.raft.lead_transferee != 0
        if refused or conflicts(peer, PrepareMerge(merge.target, 0)):
            probe.mark("merge.propose_failed")
            peer.locks.reopen()
            return
        if locks:
            probe.mark("merge.locks_proposed")
            if marked and all_locks:
                probe.mark("merge.deleted_proposed")
            propose_locks(peer, batch)
            probe.locks_proposed(peer, locks, "merge")
        self._propose_step(peer, PrepareMerge(merge.target, merge.min_index))

    def _roll_back(self, peer: Peer, merge: MergeState) -> None:
        command = RollbackMerge(merge.commit)
        may = peer.raft.role is LEADER and not conflicts(peer, command)
        if may and admits_admin(self._ctx, peer):
            self._propose_step(peer, command)

    def _propose_step(self, peer: Peer, step: PrepareMerge | RollbackMerge) -> None:
        index = self._proposals.propose_admin(peer, step).index
        merge_step_proposed(self._ctx, peer, step, index)
        if isinstance(step, PrepareMerge):
            peer.raft.apply_only_persisted(index)


def _is_in_the_way(entry: Entry) -> bool:
    """Returns whether a merge must not begin while some replica may lack ``entry``."""
    payload: list[object] = entry.payload
    return any(
        isinstance(command, AdminProposal) and not isinstance(command.admin, TransferLeaderCommand)
        for command in payload
    )
