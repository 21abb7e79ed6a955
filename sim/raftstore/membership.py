"""Changing the replicas of a region: one at a time, the newcomer begins with a snapshot.

Law: locks and status of the table stay as they are, since the region's version does. A leader does
not remove itself; PD moves leadership first.

Source: tikv/tikv components/raftstore/src/store/fsm/{apply.rs (exec_change_peer), peer.rs
(on_ready_change_peer, on_ready_apply_snapshot)}.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sim.protocol.admin import ChangePeer
from sim.protocol.mvcc import Mvcc
from sim.protocol.raft import LEADER, Append, Heartbeat, RequestVote, Snapshot
from sim.protocol.raft.quorum import committed_index, is_majority
from sim.protocol.region import Region, StoreId
from sim.raftstore.context import StoreContext
from sim.raftstore.destroy import destroy
from sim.raftstore.disk_full import refill
from sim.raftstore.msg import Applied, AskChangePeer
from sim.raftstore.peer import AppliedState, Peer
from sim.raftstore.propose import Proposals, conflicts
from sim.transport.messages import GcPeer, RaftMessage

_RECORD_BYTES: Final = 120
"""A record in a snapshot file. ASSUMED; rows that a run has never touched are not in it."""

_FIRST_CONTACTS: Final = (Append, Heartbeat, Snapshot, RequestVote)
"""What a leader sends to a replica that it has just been given, or who wants to become one."""


class SnapshotData(NamedTuple):
    """What a snapshot carries."""

    region: Region
    mvcc: Mvcc
    in_flashback: bool

    @property
    def size_bytes(self) -> int:
        """Bytes on the network."""
        return _RECORD_BYTES * (1 + len(self.mvcc.locks) + len(self.mvcc.writes))


class Membership:
    """Changes of replicas on one store."""

    def __init__(self, ctx: StoreContext, proposals: Proposals) -> None:
        self._ctx = ctx
        self._proposals = proposals

    def ask(self, peer: Peer, mail: AskChangePeer) -> None:
        """Proposes the change, if this peer leads, stays, and the change would be one."""
        command = ChangePeer(add=mail.add, remove=mail.remove)
        stores = peer.region.stores
        sensible = (mail.add not in stores) if mail.add else (mail.remove in stores)
        if peer.raft.role is not LEADER or mail.remove == peer.store or not sensible:
            return
        busy = peer.merge is not None or peer.raft.lead_transferee or conflicts(peer, command)
        safe = _is_safe(peer, command) and self._stays_available(peer, command)
        if safe and not busy and peer.raft.may_change_voters():
            self._proposals.propose_admin(peer, command)

    def _stays_available(self, peer: Peer, command: ChangePeer) -> bool:
        """Returns whether a majority of those who are left after a removal has been heard lately.

        A region that hibernates hears nobody; there, who has everything will do.

        Source: tikv/tikv components/raftstore/src/store/util.rs
        (check_availability_by_last_heartbeats).
        """
        raft = peer.raft
        asleep = self._ctx.ticks.hibernates(peer)
        left = tuple(store for store in raft.voters if store != command.remove)
        heard = [
            store
            for store, progress in raft.progress.items()
            if progress.active or (asleep and raft.matched[store] >= raft.log.committed)
        ]
        return not command.remove or is_majority([peer.store, *heard], left)

    @staticmethod
    def apply(peer: Peer, command: ChangePeer, index: int) -> Applied:
        """Changes the region of one replica, and its voters; runs in the apply thread."""
        region = peer.state.region
        stores = tuple(store for store in region.stores if store != command.remove)
        if command.add:
            stores = (*stores, StoreId(command.add))
        peer.state.region = region.with_stores(stores, region.epoch.conf_ver + 1)
        peer.raft.set_voters(tuple(stores))
        return Applied(command, index, peer.state.region)

    def ready(self, peer: Peer, applied: Applied) -> None:
        """Learns of a change that has been applied."""
        peer.region = applied.region
        self._proposals.admin_applied(peer, applied)
        self._ctx.callbacks.on_role_or_region_changed(peer)
        self._ctx.probe.region_changed(peer, "change_peer")
        if peer.store not in applied.region.stores:
            destroy(self._ctx, peer, "removed")
        elif peer.raft.role is LEADER:
            self._ctx.pd.heartbeat(peer.region, peer.store, peer.raft.term)
            self._ctx.ticks.wake_up(peer)
            if peer.disk_full is not None and peer.disk_full.usages:
                refill(self._ctx, peer)

    def send_snapshots(self, peer: Peer, stores: list[int]) -> None:
        """Sends what has been applied here to replicas whose entries are no longer in the log."""
        state = peer.state
        data = SnapshotData(state.region, state.mvcc.copy(), state.in_flashback)
        for store in stores:
            snapshot = peer.raft.make_snapshot(data)
            self._ctx.transport.send_message(store, snapshot, data.size_bytes)

    def first_contact(self, message: RaftMessage) -> Peer | None:
        """Returns a new, empty replica if the region has been given to this store.

        It refuses what its leader sends until that sends a snapshot, but votes: where a second
        replica is missing, nobody can lead without its vote, and send it one. A region that
        overlaps one which is here must wait until that has been split; but one that has been
        merged away while this store was not there has nobody left to learn from, and makes room.
        Not before nobody else is in the way: the split may bring the target as it was before the
        merge, and then it will take the source over.

        Source: tikv/tikv components/raftstore/src/store/fsm/store.rs (maybe_create_peer_internal),
        util.rs (is_initial_msg).
        """
        region = self._region_given(message) if isinstance(message, _FIRST_CONTACTS) else None
        if region is None or region.region_id in self._ctx.merged_into:
            return None
        outlived = self._outlived_by(region)
        going = {peer.region.region_id for peer in outlived}
        if any(each.region_id not in going for each in self._ctx.regions_over(region)):
            return None
        self._make_room(outlived, region)
        replicas = self._ctx.replicas
        state = AppliedState(region, replicas.records(), 0, 0)
        peer = self._ctx.make_peer(state, replicas.uninitialized_raft(region, self._ctx.store_id))
        self._ctx.add(peer)
        return peer

    def _region_given(self, message: RaftMessage) -> Region | None:
        """Returns a message's region if it was given to this store, as PD or a candidate has it.

        A candidate asks those who vote; what has made this store one of them may have been lost on
        its way to PD. One that has been removed from here may not know that it was.
        """
        route = self._ctx.pd.placement.routes.by_id(message.region_id)
        store_id = StoreId(self._ctx.store_id)
        if route is None or store_id in route.region.stores:
            return route and route.region
        region = route.region
        if isinstance(message, RequestVote) and region.region_id not in self._ctx.ever_here:
            return region.with_stores((*region.stores, store_id), region.epoch.conf_ver)
        return None

    def _outlived_by(self, region: Region) -> list[Peer]:
        """Returns replicas here of regions that have become part of ``region`` without them.

        Source: tikv/tikv components/raftstore/src/store/fsm/peer.rs (need_gc_merge, on_gc_merge).
        """
        return [peer for peer in self._ctx.peers.values() if self._has_taken_over(region, peer)]

    def _has_taken_over(self, region: Region, peer: Peer) -> bool:
        """Returns whether other stores know that a replica's region is part of ``region`` by now.

        Not if it went by way of a region that is here: that one will take it over.
        """
        merged_into: dict[int, Region] = {}
        for tombstones in self._ctx.tombstones.values():
            merged_into.update(tombstones)
        merged = merged_into.get(peer.region.region_id)
        while merged is not None and merged.region_id != region.region_id:
            if merged.region_id in self._ctx.peers:
                return False
            merged = merged_into.get(merged.region_id)
        return merged is not None and merged.epoch.version <= region.epoch.version

    def _make_room(self, outlived: list[Peer], region: Region) -> None:
        for peer in outlived:
            self._ctx.merged_into[peer.region.region_id] = region
            destroy(self._ctx, peer, "merged")

    def send_gc(self, peer: Peer, store: int) -> None:
        """Tells a replica on ``store`` that it has been removed."""
        region = peer.region
        message = GcPeer(region.region_id, peer.store, peer.raft.term, region.epoch.conf_ver)
        self._ctx.transport.send_message(store, message)

    def answer_for_merged(self, vote: RequestVote) -> None:
        """Tells a candidate that its region is no more, if it did not belong to it at the end.

        One that did will be brought up to date, and taken over, by the target's replica beside it.

        Source: tikv/tikv components/raftstore/src/store/fsm/store.rs (check_msg: a peer that is
        isolated before prepare_merge and conf remove just removes itself).
        """
        ctx = self._ctx
        merged = ctx.merged_into.get(vote.region_id)
        if merged is not None and vote.store not in merged.stores:
            message = GcPeer(vote.region_id, ctx.store_id, vote.term, None)
            ctx.transport.send_message(vote.store, message)

    def gc(self, peer: Peer, mail: GcPeer) -> None:
        """Removes a replica whose region has gone on without it."""
        if mail.conf_ver is None or peer.region.epoch.conf_ver < mail.conf_ver:
            destroy(self._ctx, peer, "removed")

    def install(self, peer: Peer, snapshot: Snapshot) -> None:
        """Replaces a replica's records by a snapshot's, unless Raft knows better.

        What the snapshot's region has taken over before it was made is not in its log any more.
        """
        data: SnapshotData = snapshot.payload
        if peer.raft.install_snapshot(snapshot):
            peer.state = AppliedState(
                data.region, data.mvcc.copy(), snapshot.index, snapshot.index_term
            )
            peer.state.in_flashback = data.in_flashback
            peer.region = data.region
            peer.apply_queue = []
            self._make_room(self._outlived_by(data.region), data.region)
        self._ctx.router.visit(peer)  # Its answer is in the next ready.


def _is_safe(peer: Peer, command: ChangePeer) -> bool:
    """Returns whether a majority after the change is known to hold what the log has forgotten.

    A region with one replica may always get a second.

    Source: tikv/tikv components/raftstore/src/store/peer.rs (check_conf_change).
    """
    matched = dict(peer.raft.matched)
    if len(matched) == 1:
        return True
    matched.pop(command.remove, None)
    if command.add:
        matched[command.add] = 0
    return committed_index(matched.values()) >= peer.raft.log.first_index - 1
