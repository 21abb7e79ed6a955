"""Lock accounting: no lock that was granted is missing, and none that has ended is still there.

Invariant: granted = ended + held. A lock that is held is in some replica's lock CF (the leader's
may be behind), in a leader's table, or, where whoever had it died, in a committed entry that the
survivors have yet to apply; unless a table that had it was dropped while the command that replaces
it was under way. A lock in a leader's table that is not marked deleted is held, or lost with a
cause.
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

LocksByKey = dict[bytes, dict[int, None]]
"""By key, the transactions whose locks are there."""


def compare_locks(report: Report, cluster: Cluster, fates: LockFates) -> None:
    """Reports locks that should be held and are nowhere to be found, and the reverse."""
    ended, held = fates.ended_locks(), len(fates.held)
    if fates.granted_locks != ended + held:
        report.add(LAW, f"{fates.granted_locks} granted, but {ended} ended and {held} held")
    for peer in cluster.peers():
        if peer.raft.role is LEADER:
            _find_ghosts(report, fates, peer)
    found = _locks_by_key(cluster)
    missing = [
        (key, request)
        for key, request in fates.held.items()
        if request.start_ts not in found.get(key, {}) and not fates.places.is_doubtful(key, request)
    ]
    if missing:
        found = _durable_locks_by_key(cluster)
    for key, request in missing:
        if request.start_ts in found.get(key, {}):
            continue
        if request.path is LockPath.IN_MEMORY or fates.places.is_replicated(key, request):
            report.add(
                LAW, f"the lock of {request.start_ts} on {show_key(key)} vanished: {request}"
            )


def _locks_by_key(cluster: Cluster) -> LocksByKey:
    """Returns the locks that are in a leader's table or in any live replica's lock CF."""
    found: LocksByKey = {}
    for peer in cluster.peers():
        table = peer.locks.map if peer.raft.role is LEADER else {}
        for locks in (table, peer.state.mvcc.locks):
            for key, lock in locks.items():
                found.setdefault(key, {})[lock.start_ts] = None
    return found


def _durable_locks_by_key(cluster: Cluster) -> LocksByKey:
    """Returns the locks that the next leaders will find once they have applied their logs.

    A leader may die when it alone has applied a lock; the others have it in their logs. A region
    without a live majority waits for the replicas on stores that are down.
    """
    found: LocksByKey = {}
    at_rest = [peer for store in cluster.stores.values() for peer in store.raftstore.at_rest]
    live = cluster.peers_by_region()
    stranded = [
        peer
        for peer in at_rest
        if 2 * len(live.get(peer.region.region_id, ())) <= len(peer.region.stores)
    ]
    for peer in (*cluster.peers(), *stranded):
        for key, lock in peer.state.mvcc.locks.items():
            found.setdefault(key, {})[lock.start_ts] = None
        for entry in peer.raft.log.since(peer.state.applied + 1):
            if entry.is_applied:
                for command in entry.payload:
                    for key, lock in command.batch.lock_puts:
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
