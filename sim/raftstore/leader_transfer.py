"""Handing leadership over, with the locks in memory.

TiKV's steps::

    PD: transfer ► ask the target ► it has little to catch up with ► close the table
      ► propose the locks not marked deleted ► propose TransferLeader
      ► the target has applied both ► Raft's own transfer ► step down, drop the table

Law: after the table is closed new locks are proposed, so every lock is either among the proposed
ones or behind them in the log. A lock marked deleted is not proposed: the write that replaces it is
in the log already. If nothing comes of it, the table opens again after some ticks. Behind a merge's
fence the table is closed all the same, but neither locks nor command are proposed: the merge goes
on.

The RFC's text lets the leader go on by itself when its locks are applied, and ignore an answer that
comes after the table was opened again; TiKV starts over in that case.

Source: tikv/tikv components/raftstore/src/store/peer.rs (pre_transfer_leader,
propose_transfer_leader, ready_to_transfer_leader), fsm/peer.rs (on_transfer_leader_msg,
propose_locks_before_transfer_leader, on_reactivate_memory_lock_tick); RFC 77, Region leader
transfer.
"""

from __future__ import annotations

from sim.protocol.admin import ChangePeer, TransferLeaderCommand
from sim.protocol.lock_table import LocksStatus
from sim.protocol.raft import LEADER
from sim.protocol.raft.progress import ProgressState
from sim.protocol.records import Lock
from sim.raftstore.context import StoreContext
from sim.raftstore.disk_full import admits_admin
from sim.raftstore.msg import Applied, LocksApplied, StartTransfer, TransferTick
from sim.raftstore.peer import Peer, TransferState
from sim.raftstore.propose import (
    Proposals,
    conflicts,
    migration_batch,
    propose_locks,
)
from sim.scenario.versions import IN_MEMORY_SINCE, RFC, TRANSFER_UNCHECKED_SINCE
from sim.transport.messages import DiskUsage, TransferLeaderAck, TransferLeaderRequest


class LeaderTransfer:
    """Both ends of transfers, on one store."""

    def __init__(self, ctx: StoreContext, proposals: Proposals) -> None:
        self._ctx = ctx
        self._proposals = proposals
        self._goes_on_alone = ctx.tikv.behaviour == RFC

    def start(self, peer: Peer, mail: StartTransfer) -> None:
        """Takes PD's advice, if this peer leads and the target is another voter."""
        raft = peer.raft
        if raft.role is not LEADER or mail.to_store not in raft.voters:
            return
        if mail.to_store == peer.store or peer.state.in_flashback:
            return
        if self._goes_on_alone:
            # A merge's table must not be opened again, either, when nothing comes of the transfer.
            if peer.merge is None and peer.locks.status is not LocksStatus.MERGING_REGION:
                self._close_table(peer, mail.to_store)
        else:
            self._ask(peer, mail.to_store)

    def asked(self, peer: Peer, mail: TransferLeaderRequest) -> None:
        """The target's side: answers how far it is, unless it cannot lead."""
        if mail.term != peer.raft.term or peer.raft.role is LEADER:
            return
        leader_is_full = mail.store in self._ctx.store_disk_usages
        if self._ctx.disk_usage is not DiskUsage.NORMAL and not leader_is_full:
            self._ctx.probe.mark("transfer.target_full")
            return
        self._answer(peer, command_reply=False)

    def applied_command(self, peer: Peer, applied: Applied) -> None:
        """The target's side: the leader's command is applied, so its locks are, too.

        A store older than the feature does not know the command.
        """
        admin = applied.admin
        assert isinstance(admin, TransferLeaderCommand), f"no transfer: {admin}"
        old = self._ctx.version < IN_MEMORY_SINCE
        if admin.to_store == peer.store and admin.term == peer.raft.term and not old:
            self._answer(peer, command_reply=True)

    def acknowledged(self, peer: Peer, ack: TransferLeaderAck) -> None:
        """The leader's side: the target is ready, or has applied the locks."""
        raft = peer.raft
        if raft.role is not LEADER or ack.term != raft.term or raft.lead_transferee:
            return
        if not self._close_enough(peer, ack):
            self._ctx.probe.mark("transfer.rejected_lag")
            return
        closed = peer.locks.status is LocksStatus.TRANSFERRING_LEADER
        if self._goes_on_alone:
            if peer.transfer is not None:
                self._go(peer, ack.store)
            else:
                self._ctx.probe.mark("transfer.late_ack")
        elif ack.command_reply and (closed or self._ctx.ablations.transfer_keeps_table_writable):
            self._go(peer, ack.store)
        elif peer.locks.status is not LocksStatus.NORMAL:
            self._ctx.probe.mark("transfer.repeated")
            self._propose_command(peer, ack.store)
        else:
            if ack.command_reply:
                self._ctx.probe.mark("transfer.late_ack")
            self._close_table(peer, ack.store)

    def locks_applied(self, peer: Peer, mail: LocksApplied) -> None:
        """The leader's side of the RFC's text: the locks are applied, so it goes on."""
        transfer = peer.transfer
        if self._goes_on_alone and transfer is not None and transfer.locks_index == mail.log_index:
            self._ask(peer, transfer.to_store)

    def tick(self, peer: Peer, mail: TransferTick) -> None:
        """Opens the table again when nothing has come of the transfer for long enough."""
        transfer = peer.transfer
        if transfer is None or transfer is not mail.transfer or peer.raft.role is not LEADER:
            return
        if transfer.handing_over and not peer.raft.lead_transferee:
            self._ctx.probe.mark("transfer.aborted")
            transfer.handing_over = False
        transfer.ticks += 1
        done = transfer.ticks >= self._ctx.tikv.reactive_memory_lock_timeout_tick
        if not done or peer.raft.lead_transferee:
            self._arm(peer, transfer)
            return
        peer.transfer = None
        self._proposals.refresh(peer)
        if peer.locks.status is LocksStatus.TRANSFERRING_LEADER:
            self._ctx.probe.mark("transfer.reactivated")
            peer.locks.reopen()

    def _ask(self, peer: Peer, to_store: int) -> None:
        request = TransferLeaderRequest(peer.region.region_id, peer.store, peer.raft.term)
        self._ctx.transport.send_message(to_store, request)

    def _answer(self, peer: Peer, *, command_reply: bool) -> None:
        region_id, term, applied = peer.region.region_id, peer.raft.term, peer.state.applied
        ack = TransferLeaderAck(region_id, peer.store, term, applied, command_reply)
        self._ctx.failpoints.run("before_transfer_ack", peer, self._send_ack, (peer, ack))

    def _send_ack(self, to_leader: tuple[Peer, TransferLeaderAck]) -> None:
        peer, ack = to_leader
        leader = peer.raft.leader
        if leader and leader != peer.store and not peer.gone:  # Its own answer it would ignore.
            self._ctx.transport.send_message(leader, ack)

    def _close_enough(self, peer: Peer, ack: TransferLeaderAck) -> bool:
        """Returns whether the target has so little to catch up with that nobody will notice."""
        raft = peer.raft
        changes = [f.index for f in peer.proposed_admin if isinstance(f.admin, ChangePeer)]
        if any(each.state is ProgressState.SNAPSHOT for each in raft.progress.values()):
            return False
        if ack.store not in raft.voters or (changes and max(changes) > ack.applied_index):
            return False
        lag = self._ctx.tikv.leader_transfer_max_log_lag
        return raft.log.last_index < ack.applied_index + lag

    def _close_table(self, peer: Peer, to_store: int) -> None:
        self._proposals.append_held(peer)
        transfer = peer.transfer = TransferState(to_store)
        if not self._ctx.ablations.transfer_keeps_table_writable:
            peer.locks.close(LocksStatus.TRANSFERRING_LEADER)
        self._arm(peer, transfer)
        if not peer.locks.map:
            self._ctx.probe.mark("transfer.empty_table")
            if self._goes_on_alone:
                self._ask(peer, to_store)
            else:
                self._go(peer, to_store)
        else:
            point, go_on = "before_propose_locks", self._ctx.router.go_on
            self._ctx.failpoints.run_in_visit(point, peer, self._propose_locks, peer, go_on)

    def _propose_locks(self, peer: Peer) -> None:
        transfer, probe = peer.transfer, self._ctx.probe
        if transfer is None or peer.raft.role is not LEADER or peer.gone:
            return
        locks = peer.locks.locks_to_propose(
            include_deleted=self._ctx.ablations.transfer_sends_deleted_locks
        )
        if not locks:
            probe.mark("transfer.all_deleted")
        elif not self._ctx.ablations.transfer_without_locks:
            self._propose_migration(peer, transfer, locks)
        if not self._goes_on_alone:
            self._propose_command(peer, transfer.to_store)
        elif not transfer.locks_index:
            self._ask(peer, transfer.to_store)

    def _propose_migration(
        self, peer: Peer, transfer: TransferState, locks: list[tuple[bytes, Lock]]
    ) -> None:
        """Proposes locks in one entry, unless it is too large, meets a split, or disks are full."""
        probe = self._ctx.probe
        batch = migration_batch(locks)
        if not admits_admin(self._ctx, peer):
            transfer.left_out = "disk_full"
        elif batch.raft_bytes > self._ctx.tikv.raft_entry_max_size_bytes:
            probe.mark("transfer.too_large")
            transfer.left_out = "too_large"
        elif peer.merge is not None:
            transfer.left_out = "in_flight"
        elif any(earlier.admin.changes_version for earlier in peer.proposed_admin):
            probe.mark("transfer.met_split")
            transfer.left_out = "in_flight"
        else:
            probe.mark("transfer.locks_proposed")
            transfer.locks_index = propose_locks(peer, batch).index
            probe.locks_proposed(peer, locks, "transfer")

    def _propose_command(self, peer: Peer, to_store: int) -> None:
        if peer.merge is not None:  # Like every proposal behind a fence (ProposalInMergingMode).
            self._ctx.probe.mark("transfer.met_merge")
            return
        # Since then a split or merge under way stops the locks, but not the command.
        checks = self._ctx.tikv.version < TRANSFER_UNCHECKED_SINCE
        command = TransferLeaderCommand(to_store, peer.raft.term, checks_epoch=checks)
        if admits_admin(self._ctx, peer) and not conflicts(peer, command):
            self._proposals.propose_admin(peer, command)
            self._ctx.probe.transfer_proposed(peer)

    def _go(self, peer: Peer, to_store: int) -> None:
        """Lets Raft hand over; from now on proposals are refused, and reads ask a quorum."""
        peer.lease.expire()
        peer.raft.transfer_leader(to_store)
        if peer.transfer is not None:
            peer.transfer.handing_over = True
        peer.needs_check = True
        self._ctx.ticks.wake_up(peer)

    def _arm(self, peer: Peer, transfer: TransferState) -> None:
        due_ns = self._ctx.now_ns + self._ctx.tikv.reactive_memory_lock_tick_interval_ns
        self._ctx.router.deliver_at(due_ns, peer, TransferTick(transfer))
