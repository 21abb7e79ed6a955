"""No put that was acknowledged is lost.

Law: once a client has its answer, whoever leads has the put, or a later one of the same key; while
nobody leads, some replica has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sim.server.cluster import Cluster

_TOLD = 5
"""Lost puts that are named; the others are counted."""


def broken_puts(cluster: Cluster, acknowledged: Mapping[bytes, int]) -> str:
    """Returns what was lost, an empty line if nothing was.

    Args:
        cluster: the cluster after a run.
        acknowledged: by key, the latest version whose client has been told.
    """
    region_id = cluster.bootstrap.routes[0].region.region_id
    leader = cluster.leader_of(region_id)
    if leader is not None and leader.has_applied_to_current_term:
        replicas = [leader]
    else:
        replicas = list(cluster.peers_of(region_id).values())
        for store in cluster.stores.values():
            replicas += store.resting
    records = [peer.state.mvcc for peer in replicas]
    lost = []
    for key, version in acknowledged.items():
        newest = [found.commit_ts for each in records if (found := each.newest_commit(key))]
        if max(newest, default=0) < version:
            lost.append(key)
    if not lost:
        return ""
    return f"{len(lost)} acknowledged puts are lost, such as of {lost[:_TOLD]}"
