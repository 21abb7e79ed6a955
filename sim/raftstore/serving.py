"""Taking a snapshot: may this replica serve this request now?

Law: a leader serves by its lease, or after a quorum has confirmed it; who has not applied what was
committed before its term waits until it has. The snapshot's term and region version go with the
command, and what it reads or writes later is refused if they are over by then.

Source: tikv/tikv components/raftstore/src/store/worker/read.rs (LocalReader), peer.rs (read_index,
handle_read), util.rs (check_region_epoch); src/storage/mvcc/reader/reader.rs (the lock table's
term and version).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.raft import LEADER
from sim.protocol.region_errors import (
    EpochNotMatch,
    FlashbackInProgress,
    NotLeader,
    ReadIndexNotReady,
    RegionError,
    RegionNotFound,
    StaleCommand,
)
from sim.raftstore.msg import ReadIndex
from sim.storage.ablated import commands_under
from sim.storage.request import Kind

if TYPE_CHECKING:
    from sim.protocol.ablations import Ablations
    from sim.raftstore.peer import Peer
    from sim.server.store import Store
    from sim.storage.request import KvRequest


class Serving:
    """The snapshots of one store."""

    __slots__ = ("_ablations", "_store", "commands")

    def __init__(self, store: Store, ablations: Ablations) -> None:
        self._store = store
        self._ablations = ablations
        self.commands = commands_under(ablations)
        """What is carried out for each kind of request, on its snapshot."""

    def look_closer(self, request: KvRequest, peer: Peer) -> bool:
        """Returns whether ``peer`` serves ``request`` now; if not, it is answered or waits."""
        if peer.died:
            return False
        error = self._refusal(request, peer)
        if error is not None:
            self._store.scheduler.turn_away(request, error)
            return False
        if self._store.now_ns > peer.lease_until_ns:
            self._park(request, peer)
            return False
        return self._take_snapshot(request, peer)

    def serve_parked(self, peer: Peer) -> None:
        """Takes up what waited for a quorum, which has confirmed the leader.

        Whether that renews the lease is another matter: while leadership is handed over it does
        not, and still what was confirmed is served.
        """
        parked, peer.parked = peer.parked, []
        for request in parked:
            error = self._refusal(request, peer)
            if error is not None:
                self._store.scheduler.turn_away(request, error)
            elif self._take_snapshot(request, peer):
                self._store.scheduler.serve(request, peer)

    def answer_parked(self, peer: Peer, error: RegionError) -> None:
        """Turns away what waited for a quorum: this peer leads no more."""
        parked, peer.parked = peer.parked, []
        for request in parked:
            self._store.scheduler.turn_away(request, error)

    def changed_since(self, request: KvRequest, peer: Peer) -> RegionError | None:
        """Returns what a command finds when it reads the lock table after its snapshot."""
        locks = peer.locks
        if peer.gone:
            return RegionNotFound(request.region.region_id)
        if request.term != locks.term and not self._ablations.no_term_check:
            return StaleCommand(peer.region.region_id)
        if request.region.epoch.version != locks.version and not self._ablations.no_version_check:
            return EpochNotMatch(self._store.regions_over(request.region))
        return None

    @staticmethod
    def not_synced(request: KvRequest) -> bool:
        """Returns whether a request needs a commit_ts promised, which a new leader cannot."""
        return request.kind is Kind.PREWRITE and (request.use_async_commit or request.one_pc)

    def _refusal(self, request: KvRequest, peer: Peer) -> RegionError | None:
        """Returns why ``peer`` cannot serve ``request`` at all; the lease is another question."""
        region_id = request.region.region_id
        probe = self._store.probe
        if peer.gone:
            return RegionNotFound(region_id)
        if peer.raft.role is not LEADER:
            probe.mark("snapshot.not_leader")
            return NotLeader(region_id, peer.raft.leader)
        if request.region.epoch.version != peer.region.epoch.version:
            probe.mark("snapshot.epoch")
            return EpochNotMatch(self._store.regions_over(request.region))
        if peer.state.in_flashback:
            return FlashbackInProgress(region_id)
        if peer.state.merging and self._store.now_ns > peer.lease_until_ns:
            return ReadIndexNotReady(region_id, "can not read index due to merge")
        return None

    def _take_snapshot(self, request: KvRequest, peer: Peer) -> bool:
        """Gives a request its snapshot, unless the lock table is of another version by now."""
        request.term = peer.raft.term
        error = self.changed_since(request, peer)
        if error is not None:
            self._store.scheduler.turn_away(request, error)
        return error is None

    def _park(self, request: KvRequest, peer: Peer) -> None:
        """Lets a request wait until a quorum has confirmed the leader."""
        peer.parked.append(request)
        if len(peer.parked) == 1 and peer.has_applied_to_current_term:
            self._store.raft_pool.deliver(peer, ReadIndex())
