"""Winning and losing leadership: what a peer sets up, and what it lets go.

Law: a new leader's table is open, of its term and of the region's version; what a table holds when
its peer steps down is lost. A new leader serves nothing until it has applied all that was committed
before its term, and no async commit until it knows which timestamps have been read at.

Source: tikv/tikv components/raftstore/src/store/peer.rs (on_role_changed,
activate_in_memory_pessimistic_locks, clear_in_memory_pessimistic_locks).
"""

from __future__ import annotations

from sim.engine import Story
from sim.pd.client import RETRY_NS
from sim.protocol.lock_table import LocksStatus
from sim.protocol.raft import LEADER, Role
from sim.protocol.region_errors import NotLeader, StaleCommand
from sim.raftstore import disk_full
from sim.raftstore.context import StoreContext
from sim.raftstore.destroy import drop_table, refuse_waiting
from sim.raftstore.flashback import Flashback
from sim.raftstore.merge import Merge
from sim.raftstore.msg import AppliedToTerm
from sim.raftstore.peer import Peer
from sim.raftstore.propose import Proposals
from sim.raftstore.split import SplitRegion


class Roles:
    """Changes of role on one store."""

    def __init__(
        self,
        ctx: StoreContext,
        proposals: Proposals,
        split: SplitRegion,
        merge: Merge,
        flashback: Flashback,
    ) -> None:
        self._ctx = ctx
        self._proposals = proposals
        self._split = split
        self._merge = merge
        self._flashback = flashback

    def changed(self, peer: Peer) -> None:
        """Brings a peer in line with the role that Raft has just given it."""
        role = peer.raft.role
        leads = role is LEADER
        lost = role is Role.FOLLOWER and peer.locks.status is not LocksStatus.NOT_LEADER
        if leads:
            self._lead(peer)
        elif peer.led or lost:
            self._step_down(peer)
        elif role is Role.FOLLOWER:
            peer.locks.deactivate(peer.raft.term, peer.region.epoch.version)
        if not leads and peer.raft.leader:
            peer.awake_ticks = 0  # It has heard from its leader, who may hibernate.
        self._proposals.refresh(peer)
        self._ctx.callbacks.on_role_or_region_changed(peer)
        self._ctx.probe.role_changed(peer)

    def applied_to_term(self, peer: Peer, _: AppliedToTerm) -> None:
        """Notes that a new leader has applied all that was committed before it led."""
        self._proposals.refresh(peer)

    def _lead(self, peer: Peer) -> None:
        peer.led = True
        peer.locks.activate(peer.raft.term, peer.region.epoch.version)
        peer.lease.expire()
        self.sync_max_ts(peer)
        peer.urgent_index = peer.raft.log.last_index
        self._ctx.pd.heartbeat(peer.region, peer.store, peer.raft.term)
        if self._ctx.store_disk_usages:
            disk_full.refill(self._ctx, peer)
        if peer.state.in_flashback:
            self._flashback.adjust_table(peer)
        if peer.uncampaigned:
            self._split.parent_leads(peer)
        if peer.state.merging:
            self._merge.go_on(peer)

    def _step_down(self, peer: Peer) -> None:
        if drop_table(self._ctx, peer, "step_down"):
            self._ctx.probe.mark("step_down.locks_dropped")
        peer.lease.expire()
        peer.led = False
        disk_full.clear(peer)
        peer.transfer = None
        if peer.merge is not None and not peer.merge.commit:
            peer.merge = None
        region_id = peer.region.region_id
        error = NotLeader(region_id, peer.raft.leader)
        refuse_waiting(self._ctx, peer, error, waiting=StaleCommand(region_id))

    def sync_max_ts(self, peer: Peer) -> None:
        """Asks PD for a timestamp: others may have served reads of what this leader serves now.

        It has just been elected, or has taken over a region whose leader was elsewhere.
        """
        peer.max_ts_synced = False
        self._ctx.env.process(self._sync_max_ts(peer, self._ctx.pd.round_trip_ns()))

    def _sync_max_ts(self, peer: Peer, round_trip_ns: int) -> Story:
        term = peer.raft.term
        yield round_trip_ns
        while not peer.gone and peer.raft.term == term:
            if not self._ctx.pd.is_cut:
                self._ctx.concurrency.update_max_ts(self._ctx.pd.timestamp())
                peer.max_ts_synced = True
                return
            yield RETRY_NS
