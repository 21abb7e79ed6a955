"""Replicas of a region that have applied equally far hold equal locks and writes.

Versions below the oldest running transaction's ``start_ts`` are left out: each replica drops them
at its own time.

Source: Raft's state machine safety; TiKV's consistency check (tikv/tikv
components/raftstore/src/store/worker/consistency_check.rs).
"""

from collections.abc import Iterable
from typing import Final

from sim.checks.report import Report
from sim.protocol.keys import show_key
from sim.protocol.mvcc import Lock, Write
from sim.raftstore.peer import Peer
from sim.server.cluster import Cluster

LAW: Final = "equal replicas"

Records = dict[bytes, object]


def compare_replicas(report: Report, cluster: Cluster) -> None:
    """Reports regions whose replicas differ although they have applied the same entries."""
    safe_ts = cluster.tso.safe_ts()
    for peers in cluster.peers_by_region().values():
        seen: dict[int, Peer] = {}
        for peer in peers:
            first = seen.setdefault(peer.state.applied, peer)
            if first is not peer:
                _compare(report, first, peer, safe_ts)


def _compare(report: Report, first: Peer, second: Peer, safe_ts: int) -> None:
    for what in ("lock", "versions"):
        one, other = _records(first, what, safe_ts), _records(second, what, safe_ts)
        if one != other:
            key = min(key for key in {**one, **other} if one.get(key) != other.get(key))
            report.add(
                LAW,
                f"at index {first.state.applied} of {first.region} the {what} of {show_key(key)} "
                f"is {one.get(key)} on store {first.store} and {other.get(key)} on store "
                f"{second.store}",
            )


def _records(peer: Peer, what: str, safe_ts: int) -> Records:
    mvcc, contains = peer.state.mvcc, peer.state.region.contains
    if what == "lock":
        return {key: _lock(lock) for key, lock in mvcc.locks.items() if contains(key)}
    chains = (
        (key, tuple(_versions(head, safe_ts))) for key, head in mvcc.writes.items() if contains(key)
    )
    return {key: chain for key, chain in chains if chain}


def _lock(lock: Lock) -> tuple[int, int, int, int, int]:
    return lock.kind, lock.start_ts, lock.for_update_ts, lock.ttl_ms, lock.min_commit_ts


def _versions(head: Write | None, safe_ts: int) -> Iterable[tuple[int, int, int, object]]:
    write = head
    while write is not None and write.commit_ts >= safe_ts:
        yield write.kind, write.start_ts, write.commit_ts, write.value
        write = write.prev
