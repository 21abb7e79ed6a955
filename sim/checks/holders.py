"""At most one valid holder of a key, over all replicas that may still serve it.

Invariant: when a key is granted, no other replica that may serve without asking anybody (it leads
by its own belief, within its lease) holds the key's lock for another transaction. A leader that was
replaced may keep locks in memory, but not beyond its lease, and the new one is not elected before.

Source: RFC 77, Correctness; tikv/tikv components/raftstore/src/store/util.rs (Lease).
"""

from typing import Final

from sim.checks.report import Report
from sim.observers.lock_fates import LockFates
from sim.protocol.keys import show_key
from sim.protocol.raft import LEADER
from sim.raftstore.peer import Peer
from sim.server.cluster import Cluster
from sim.storage.probe import Probe
from sim.storage.request import KvRequest

LAW: Final = "one valid holder a key"


class ValidHolders(Probe):
    """Watches grants of keys that others hold."""

    def __init__(self, report: Report, cluster: Cluster, fates: LockFates) -> None:
        self._report = report
        self._cluster = cluster
        self._fates = fates

    def granted(self, peer: Peer, request: KvRequest) -> None:
        """Looks for the locks of others on the keys that a request was granted."""
        held = self._fates.held
        start_ts = request.start_ts
        for key, _ in request.result.locks:  # type: ignore[attr-defined]
            other = held.get(key)
            if other is not None and other.start_ts != start_ts:
                self._look(key, other, peer, start_ts)

    def _look(self, key: bytes, other: KvRequest, peer: Peer, start_ts: int) -> None:
        assert other.peer is not None, "a lock was granted by a peer"
        for holding in self._cluster.stores[other.peer.store].peers.values():
            lock = holding.locks.get(key)
            if (
                lock is not None
                and lock.start_ts == other.start_ts
                and not holding.locks.is_deleted(key)
                and holding is not peer
                and self._may_serve(holding)
            ):
                self._report.add(
                    LAW,
                    f"{show_key(key)} was granted to {start_ts} by {peer}, and {lock.start_ts} "
                    f"holds it on store {holding.store}, whose lease is valid: {holding}",
                )

    def _may_serve(self, peer: Peer) -> bool:
        """Returns whether a replica would serve a request that believes in its region."""
        return (
            peer.raft.role is LEADER
            and self._cluster.env.now_ns <= peer.lease.until_ns
            and peer.locks.version == peer.region.epoch.version
        )
