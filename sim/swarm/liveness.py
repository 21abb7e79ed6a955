"""Rest: what a healed cluster comes to once its clients are done; all the swarm reads in stores.

Invariant: at rest every region has exactly one leader with an open lock table, every replica has
applied everything, and no lock is left, in memory or in the lock CF. Locks of transactions whose
clients gave up are resolved by those who meet them: a sweep locks every key that has a lock.
"""

from collections.abc import Generator, Iterator
from typing import Any, Final

from sim.client.session import Session
from sim.engine import LeanEnv, Wait
from sim.protocol.keys import show_key
from sim.protocol.lock_table import LocksStatus
from sim.protocol.percolator.read import newest_data
from sim.raftstore.peer import Peer
from sim.server.cluster import Cluster
from sim.units import NS_PER_MS
from sim.workload.statement import Script, Statement

_PAUSE_NS: Final = 100 * NS_PER_MS


def sweep(env: LeanEnv, session: Session, cluster: Cluster) -> Generator[Wait, Any, None]:
    """Locks keys that are locked, until there are none."""
    while True:
        keys = sorted({key: None for peer in cluster.peers() for key in _locks(peer)})
        if not keys:
            return
        for key in keys:
            statement = Statement("SELECT FOR UPDATE", (), (key,), fresh_ts=True)
            yield from session.run(Script("sweep", [statement]), env.now_ns)
        yield env.timeout(_PAUSE_NS)


def unrest(cluster: Cluster) -> list[str]:
    """Returns why the cluster is not at rest, a line for each reason; none if it is."""
    reasons = []
    for region_id, peers in cluster.peers_by_region().items():
        leaders = [peer for peer in peers if peer.is_leader]
        if len(leaders) != 1:
            reasons.append(f"region {region_id} has {len(leaders)} leaders")
            continue
        (leader,) = leaders
        if leader.locks.status is not LocksStatus.NORMAL:
            reasons.append(f"the lock table of {leader.region} stays closed: {leader.locks}")
        behind = [
            p.store
            for p in peers
            if p.state.applied < leader.raft.log.last_index
            and not _is_stale_and_uninitialized(p, leader)
        ]
        if behind:
            reasons.append(f"stores {behind} have not applied all of {leader}")
        missing = [s for s in leader.region.stores if s not in {peer.store for peer in peers}]
        if missing:
            reasons.append(f"{leader.region} has no replica on {missing}")
    locked = {key: None for peer in cluster.peers() for key in _locks(peer)}
    reasons += [f"{show_key(key)} is still locked" for key in sorted(locked)]
    return reasons


def _is_stale_and_uninitialized(peer: Peer, leader: Peer) -> bool:
    """Whether a replica still waits for the snapshot of a region that it does not belong to.

    A late message made it after the region had done without it. TiKV finds out from PD after ten
    minutes at the earliest (abnormal-leader-missing-duration).
    """
    return not peer.raft.voters and peer.store not in leader.region.stores


def _locks(peer: Peer) -> Iterator[bytes]:
    yield from peer.locks.map
    yield from peer.state.mvcc.locks


def payloads(cluster: Cluster, prefix: bytes) -> dict[bytes, object]:
    """Returns what the keys that begin with ``prefix`` hold, as their leaders know it."""
    found: dict[bytes, object] = {}
    for peer in cluster.peers():
        if not peer.is_leader:
            continue
        for key, head in peer.state.mvcc.writes.items():
            newest = newest_data(head)
            if key.startswith(prefix) and newest is not None and newest.value is not None:
                found[key] = newest.value
    return found
