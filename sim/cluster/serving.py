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

from sim.cluster.region_life.mail import ReadIndex
from sim.cluster.request import Kind
from sim.protocol.raft import LEADER
from sim.protocol.region_errors import (
    EpochNotMatch,
    KeyNotInRegion,
    MaxTimestampNotSynced,
    NotLeader,
    ProposalInMergingMode,
    RegionError,
    RegionNotFound,
    StaleCommand,
)

if TYPE_CHECKING:
    from sim.cluster.peer import Peer
    from sim.cluster.request import KvRequest
    from sim.cluster.store import Store
    from sim.protocol.ablations import Ablations


class Serving:
    """The snapshots of one store."""

    __slots__ = ("_ablations", "_store")

    def __init__(self, store: Store, ablations: Ablations) -> None:
        self._store = store
        self._ablations = ablations

    def refusal(self, request: KvRequest, peer: Peer) -> RegionError | None:
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
        if peer.merge is not None and peer.merge.commit:
            return ProposalInMergingMode(region_id)
        return None

    def park(self, request: KvRequest, peer: Peer) -> None:
        """Lets a request wait until a quorum has confirmed the leader."""
        peer.parked.append(request)
        if len(peer.parked) == 1 and peer.has_applied_to_current_term:
            self._store.raft_pool.deliver(peer, ReadIndex())

    def changed_since(self, request: KvRequest, peer: Peer) -> RegionError | None:
        """Returns what a command finds when it reads the lock table after its snapshot."""
        locks = peer.locks
        if request.term != locks.term and not self._ablations.no_term_check:
            return StaleCommand(peer.region.region_id)
        if request.region.epoch.version != locks.version and not self._ablations.no_version_check:
            return EpochNotMatch(self._store.regions_over(request.region))
        return None

    def keys_outside(self, request: KvRequest) -> RegionError | None:
        """Returns an error if a key does not lie in the region that it was sent to."""
        for key in request.keys or [mutation.key for mutation in request.mutations]:
            if not request.region.contains(key):
                return KeyNotInRegion(key, request.region)
        return None

    @staticmethod
    def not_synced(request: KvRequest, peer: Peer) -> RegionError | None:
        """Returns an error if a new leader cannot promise a commit_ts yet."""
        promises = request.kind is Kind.PREWRITE and (request.use_async_commit or request.one_pc)
        if promises and not peer.max_ts_synced:
            return MaxTimestampNotSynced(peer.region.region_id)
        return None
