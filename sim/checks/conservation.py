"""Conservation: disk bytes by cause against the disks' own count, transactions, Little's law.

Each check returns an empty line if it holds, and otherwise says which figures disagree.
"""

from sim.client.client_stats import ClientStats
from sim.server.cluster import Cluster


def broken_conservation(cluster: Cluster, stats: ClientStats) -> list[str]:
    """Returns one line for each check, empty where it holds."""
    now_ns = cluster.env.now_ns
    return [_disk_bytes(cluster), _transactions(stats), _littles_law(stats, now_ns)]


def _disk_bytes(cluster: Cluster) -> str:
    disks = {}
    for store in cluster.stores.values():
        disks[id(store.machine.raft_disk)] = store.machine.raft_disk
        disks[id(store.machine.kv_disk)] = store.machine.kv_disk
    written = sum(disk.written_bytes for disk in disks.values())
    explained = cluster.ledger.total()
    if written == explained:
        return ""
    return f"disks wrote {written} bytes, but places and causes sum to {explained}"


def _transactions(stats: ClientStats) -> str:
    ended = stats.total_committed() + stats.total_aborted()
    present = stats.population.present
    if ended + present == stats.started.value:
        return ""
    return f"{ended} transactions ended and {present} run, but {stats.started.value} were started"


def _littles_law(stats: ClientStats, now_ns: int) -> str:
    area_ns = stats.population.area_ns(now_ns)
    stays_ns = stats.stays_ns + stats.population.unfinished_ns(now_ns)
    if area_ns == stays_ns:
        return ""
    return (
        f"Little's law: the number in the system sums to {area_ns} ns, the stays to {stays_ns} ns"
    )
