"""Flashback: a region is closed while its data is taken back in time, and locks are dropped.

Law: PrepareFlashback empties the lock table and closes it; while it is in force nothing is read,
locked or written but by the flashback itself, and nothing happens to the region: no transfer of
leadership, split, merge or change of replicas. What is behind it in the log fails. FinishFlashback
opens the table again, empty. The taking back of the data is not modelled.

Source: tikv/tikv#14859; components/raftstore/src/store/fsm/{apply.rs (exec_flashback), peer.rs
(on_set_flashback_state)}.
"""

from __future__ import annotations

from sim.protocol.admin import FinishFlashback, PrepareFlashback
from sim.protocol.lock_table import LocksStatus
from sim.protocol.raft import LEADER
from sim.raftstore.context import StoreContext
from sim.raftstore.disk_full import admits_admin
from sim.raftstore.msg import Applied, AskFlashback
from sim.raftstore.peer import Peer
from sim.raftstore.propose import Proposals, conflicts


class Flashback:
    """Flashbacks of the regions of one store."""

    def __init__(self, ctx: StoreContext, proposals: Proposals) -> None:
        self._ctx = ctx
        self._proposals = proposals

    def ask(self, peer: Peer, mail: AskFlashback) -> None:
        """Proposes to begin or to end a flashback, if this peer leads."""
        command = PrepareFlashback() if mail.begins else FinishFlashback()
        busy = peer.merge is not None or peer.raft.lead_transferee
        if peer.raft.role is not LEADER or not admits_admin(self._ctx, peer):
            return
        if not busy and not conflicts(peer, command):
            self._proposals.propose_admin(peer, command)

    def ready(self, peer: Peer, applied: Applied) -> None:
        """Learns that a flashback has begun or ended."""
        self.adjust_table(peer)
        self._proposals.admin_applied(peer, applied)
        self._ctx.callbacks.on_role_or_region_changed(peer)
        self._ctx.probe.region_changed(peer, applied.admin.name)

    def adjust_table(self, peer: Peer) -> None:
        """Brings the table in line with what is applied; also for a new leader."""
        locks = peer.locks
        if peer.state.in_flashback:
            dropped = locks.all_locks()
            if dropped:
                self._ctx.probe.table_dropped(peer, dropped, "flashback")
            locks.clear()
            locks.close(LocksStatus.IS_IN_FLASHBACK)
            peer.lease.expire()
        elif locks.status is LocksStatus.IS_IN_FLASHBACK:
            if peer.raft.role is LEADER:
                locks.reopen()
            else:
                locks.close(LocksStatus.NOT_LEADER)
