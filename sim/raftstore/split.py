"""Splitting a region: the apply thread cuts the records, then the raftstore moves the locks.

Law: the version of the lock table changes first, so that whoever took its snapshot before writes
into no table; then each lock goes to the table of its new region on this store, without a deleted
mark: the write that would have replaced it was proposed for the old version and will be skipped.
The parent keeps the last range. If it leads, its children stand for election at once, so that
leaders stay where the locks are; replicas elsewhere begin with empty tables.

Source: tikv/tikv components/raftstore/src/store/fsm/{apply.rs (exec_batch_split), peer.rs
(on_ready_split_region)}; RFC 77, Region split.
"""

from __future__ import annotations

from sim.protocol.admin import Split
from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.raft import LEADER
from sim.protocol.region import Region
from sim.raftstore.context import StoreContext
from sim.raftstore.disk_full import admits_admin
from sim.raftstore.msg import Applied, AskSplit, Campaign
from sim.raftstore.peer import AppliedState, Peer
from sim.raftstore.propose import Proposals, conflicts
from sim.scenario.versions import CAMPAIGN_LATER_SINCE


class SplitRegion:
    """Splits on one store."""

    def __init__(self, ctx: StoreContext, proposals: Proposals) -> None:
        self._ctx = ctx
        self._proposals = proposals
        self._campaigns_later = ctx.tikv.version >= CAMPAIGN_LATER_SINCE

    def ask(self, peer: Peer, mail: AskSplit) -> None:
        """Proposes a split, if this peer leads and the keys lie strictly inside its range."""
        command = Split(mail.keys, mail.region_ids)
        if peer.raft.role is not LEADER or peer.merge is not None or peer.raft.lead_transferee:
            return
        start = peer.region.start_key
        inside = all(start < key and peer.region.contains(key) for key in mail.keys)
        if inside and not conflicts(peer, command) and admits_admin(self._ctx, peer):
            self._proposals.propose_admin(peer, command)

    @staticmethod
    def apply(peer: Peer, command: Split, index: int) -> Applied:
        """Cuts the records of one replica; runs in the apply thread.

        The parent keeps them all until the raftstore has learnt of the split: as in a store's one
        RocksDB, who took its snapshot before goes on reading what was there.
        """
        state = peer.state
        regions = state.region.split(command.keys, command.region_ids)
        new_states = []
        state.cut_to_region()
        rest = state.mvcc.copy()
        for region, key in zip(regions, command.keys, strict=False):
            new, rest = rest, rest.split_off(key)
            new_states.append(AppliedState(region, new, 5, 5))
        state.region = regions[-1]
        state.unannounced += tuple(new_states)
        return Applied(command, index, state.region, tuple(new_states))

    def ready(self, peer: Peer, applied: Applied) -> None:
        """Learns of a split that has been applied: the lock table first, then the region.

        Whoever takes a snapshot in between finds the table in another version.
        """
        peer.locks.set_version(applied.region.epoch.version)
        regions = [state.region for state in applied.new_states]
        tables = self._group_locks(peer, [*regions, applied.region])
        what = (peer, applied, tables)
        point, go_on = "on_split_invalidate_locks", self._ctx.router.go_on
        self._ctx.failpoints.run_in_visit(point, peer, self._set_region, what, go_on)

    def _set_region(self, what: tuple[Peer, Applied, list[PeerPessimisticLocks]]) -> None:
        peer, applied, tables = what
        leads = peer.raft.role is LEADER
        peer.region = applied.region
        peer.state.cut_to_region()
        state = peer.state
        state.unannounced = state.unannounced[len(applied.new_states) :]
        if not leads:
            self._ctx.probe.mark("split.follower")
        for new_state, locks in zip(applied.new_states, tables, strict=False):
            child = self.child(new_state)
            if leads:
                self._hand_locks(peer, child, locks)
            self._ctx.add(child)
            self._ctx.callbacks.on_role_or_region_changed(child)
            self._ctx.deliver_pending(child)
            if leads:
                self._ctx.router.deliver(child, Campaign())
            else:
                peer.uncampaigned.append(new_state.region.region_id)
        self._proposals.admin_applied(peer, applied)  # Who waited is told of all regions.
        self._ctx.callbacks.on_role_or_region_changed(peer)
        self._ctx.probe.region_changed(peer, "split")
        if leads:
            self._ctx.pd.heartbeat(peer.region, peer.store, peer.raft.term)

    def parent_leads(self, peer: Peer) -> None:
        """Lets children stand for election whose parent led nothing when they were split off.

        Source: tikv/tikv#17625: else such a region may be without leader for long.
        """
        if self._campaigns_later:
            for region_id in peer.uncampaigned:
                child = self._ctx.peers.get(region_id)
                if child is not None and not child.raft.leader:
                    self._ctx.router.deliver(child, Campaign())
        peer.uncampaigned.clear()

    def _group_locks(self, peer: Peer, regions: list[Region]) -> list[PeerPessimisticLocks]:
        keep_marks = self._ctx.ablations.split_keeps_deleted_marks
        marked = peer.locks.has_deleted_marks
        tables = peer.locks.group_by_regions(
            [region.start_key for region in regions],
            derived=len(regions) - 1,
            keep_deleted_marks=keep_marks,
        )
        if marked and any(table.map for table in tables[:-1]):
            self._ctx.probe.mark("split.deleted_moved")
        return tables

    def child(self, state: AppliedState) -> Peer:
        """Returns this store's replica of a region that a split has made."""
        return self._ctx.make_peer(
            state, self._ctx.replicas.raft(state.region, self._ctx.store_id, 0)
        )

    def _hand_locks(self, peer: Peer, child: Peer, locks: PeerPessimisticLocks) -> None:
        """Gives a new leader's replica the locks of its range."""
        probe = self._ctx.probe
        if self._ctx.ablations.split_drops_locks:
            probe.table_dropped(child, locks.all_locks(), "split")
            locks.clear()
        child.locks = locks
        if locks.map:
            probe.mark("split.locks_moved")
            probe.locks_moved(peer, child, list(locks.map))
