"""Lock accounting: no lock that was granted is missing, and none that has ended is still there.

Invariant: granted = ended + held. A lock that is held is in some replica's lock CF (the leader's
may be behind) or in a leader's table, unless a table that had it was dropped while the command that
replaces it was under way. A lock in a leader's table that is not marked deleted is held, or lost
with a cause.
"""

from typing import Final

from sim.checks.report import Report
from sim.observers.lock_fates import LockFates
from sim.protocol.keys import show_key
from sim.protocol.raft import LEADER
from sim.raftstore.peer import Peer
from sim.server.cluster import Cluster
from sim.storage.request import LockPath

LAW: Final = "lock accounting"


def compare_locks(report: Report, cluster: Cluster, fates: LockFates) -> None:
    """Reports locks that should be held and are nowhere to be found, and the reverse."""
    ended, held = fates.ended_locks(), len(fates.held)
    if fates.granted_locks != ended + held:
        report.add(LAW, f"{fates.granted_locks} granted, but {ended} ended and {held} held")
    for peer in cluster.peers():
        if peer.raft.role is LEADER:
            _find_ghosts(report, fates, peer)
    found = _locks_by_key(cluster)
    for key, request in fates.held.items():
        if request.start_ts in found.get(key, {}) or fates.places.is_doubtful(key, request):
            continue
        if request.path is LockPath.IN_MEMORY or fates.places.is_replicated(key, request):
            report.add(
                LAW, f"the lock of {request.start_ts} on {show_key(key)} vanished: {request}"
            )


def _locks_by_key(cluster: Cluster) -> dict[bytes, dict[int, None]]:
    """Returns by key the transactions whose locks are in a leader's table or in any lock CF."""
    found: dict[bytes, dict[int, None]] = {}
    for peer in cluster.peers():
        table = peer.locks.map if peer.raft.role is LEADER else {}
        for locks in (table, peer.state.mvcc.locks):
            for key, lock in locks.items():
                found.setdefault(key, {})[lock.start_ts] = None
    return found


def _find_ghosts(report: Report, fates: LockFates, peer: Peer) -> None:
    table = peer.locks
    for key, lock in table.map.items():
        holder = fates.held.get(key)
        if table.is_deleted(key) or (holder is not None and holder.start_ts == lock.start_ts):
            continue
        if fates.loss_of(key, lock.start_ts) is None:
            report.add(LAW, f"{lock} on {show_key(key)} is still in {table} of {peer.region}")
