"""What goes in must come out: disk bytes by cause against the disks' own count, and transactions.

Each check returns an empty line if it holds, and otherwise says which figures disagree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.client.client_stats import ClientStats
    from sim.cluster.cluster import Cluster


def broken_conservation(cluster: Cluster, stats: ClientStats) -> list[str]:
    """Returns one line for each check, empty where it holds."""
    return [_disk_bytes(cluster), _transactions(stats)]


def _disk_bytes(cluster: Cluster) -> str:
    disks = {}
    for store in cluster.stores.values():
        disks[id(store.raft_disk)] = store.raft_disk
        disks[id(store.kv_disk)] = store.kv_disk
    written = sum(disk.written_bytes for disk in disks.values())
    explained = cluster.ledger.total()
    if written == explained:
        return ""
    return f"disks wrote {written} bytes, but places and causes sum to {explained}"


def _transactions(stats: ClientStats) -> str:
    ended = stats.total_committed() + stats.total_aborted()
    if ended <= stats.started.value:
        return ""
    return f"{ended} transactions ended, but only {stats.started.value} were started"
