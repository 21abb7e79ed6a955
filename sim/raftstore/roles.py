"""Winning and losing leadership: what a peer sets up, and what it lets go.

Law: a new leader's table is open, of its term and of the region's version; what a table holds when
its peer steps down is lost. A new leader serves nothing until it has applied all that was committed
before its term, and no async commit until it knows which timestamps have been read at.

Source: tikv/tikv components/raftstore/src/store/peer.rs (on_role_changed,
activate_in_memory_pessimistic_locks, clear_in_memory_pessimistic_locks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.lock_table import LocksStatus
from sim.protocol.raft import LEADER, Role
from sim.protocol.region_errors import NotLeader, StaleCommand
from sim.raftstore.letting_go import drop_table, refuse_waiting
from sim.raftstore.msg import AppliedToTerm
from sim.raftstore.peer import NO_LEASE

if TYPE_CHECKING:
    from sim.raftstore.merge import Merge
    from sim.raftstore.peer import Peer
    from sim.raftstore.split import SplitRegion
    from sim.server.cluster import Cluster
    from sim.server.store import Store


class Roles:
    """Changes of role on one store."""

    __slots__ = ("_cluster", "_merge", "_split", "_store")

    def __init__(self, cluster: Cluster, store: Store, split: SplitRegion, merge: Merge) -> None:
        self._split = split
        self._cluster = cluster
        self._store = store
        self._merge = merge

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
        self._store.admission.refresh(peer)
        self._cluster.probe.role_changed(peer)

    def applied_to_term(self, peer: Peer, _: AppliedToTerm) -> None:
        """Notes that a new leader has applied all that was committed before it led."""
        self._store.admission.refresh(peer)
        if peer.parked:
            self._store.ask_quorum(peer)

    def _lead(self, peer: Peer) -> None:
        peer.led = True
        peer.locks.activate(peer.raft.term, peer.region.epoch.version)
        peer.lease_until_ns = NO_LEASE
        peer.max_ts_synced = False
        peer.urgent_index = peer.raft.log.last_index
        self._cluster.sync_max_ts(peer)
        self._cluster.report(peer)
        if not peer.region.start_key:
            self._cluster.move_detector(peer.store)
        if peer.state.in_flashback:
            self._store.region_life.flashback.take_over(peer)
        if peer.uncampaigned:
            self._split.parent_leads(peer)
        if peer.state.merging:
            self._merge.go_on(peer)

    def _step_down(self, peer: Peer) -> None:
        if drop_table(self._store, peer, "step_down"):
            self._cluster.probe.mark("step_down.locks_dropped")
        peer.lease_until_ns = NO_LEASE
        peer.led = False
        peer.transfer = None
        if peer.merge is not None and not peer.merge.commit:
            peer.merge = None
        region_id = peer.region.region_id
        error = NotLeader(region_id, peer.raft.leader)
        refuse_waiting(self._store, peer, error, behind_admin=StaleCommand(region_id))

    def noop_applied(self, peer: Peer) -> None:
        """Tells the raftstore that a new leader's empty entry is applied here."""
        if peer.raft.role is LEADER and peer.has_applied_to_current_term:
            self._store.raft_pool.deliver(peer, AppliedToTerm())
