"""What must hold after a run of an etcd cluster; Raft's own safety is watched while it runs.

Each check yields a line for what it finds broken.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from sim.etcd.cluster import EtcdCluster

CHECKS: Final = 6
"""Raft's safety, equal replicas, lost puts, disk bytes, counted puts, Little's law."""

_SHOWN: Final = 5
"""Lost puts that are named; the others are counted."""


def broken_puts(cluster: EtcdCluster, acknowledged: Mapping[bytes, int]) -> Iterator[str]:
    """No put that was acknowledged is lost.

    Once a client has its answer, whoever leads has the put, or a later one of the same key; while
    nobody leads, some replica has.

    Args:
        cluster: the cluster after a run.
        acknowledged: by key, the latest version whose client has its answer.
    """
    leader = cluster.leader()
    holders = list(cluster.members.values())
    if leader is not None and leader.raft.applied_index >= leader.raft.noop_index:
        holders = [leader]
    lost = [
        key
        for key, version in acknowledged.items()
        if max(holder.backend.versions.get(key, 0) for holder in holders) < version
    ]
    if lost:
        yield f"{len(lost)} acknowledged puts are lost, such as of {lost[:_SHOWN]}"


def broken_replicas(cluster: EtcdCluster) -> Iterator[str]:
    """Members that have applied equally far hold the same."""
    seen: dict[int, int] = {}
    for store, member in cluster.members.items():
        index = member.raft.applied_index
        first = seen.setdefault(index, store)
        if cluster.members[first].backend.versions != member.backend.versions:
            yield f"at index {index} members {first} and {store} hold different puts"
