"""Which region is hottest: the one whose raft log has grown most since it was last asked.

A leader's log grows by what is written, whatever the lock mode; reads do not count. Source of the
idea: tikv/pd server/statistics (hot regions by written bytes and keys).
"""

from sim.server.cluster import Cluster


class HotRegions:
    """One observer's memory of all logs."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._last_index: dict[int, int] = {}

    def grown(self) -> dict[int, int]:
        """Returns by how many entries the log of each led region has grown since the last call.

        The first call counts from a log's beginning. Regions that nobody has touched are absent.
        """
        grown: dict[int, int] = {}
        for store in self._cluster.stores.values():
            for region_id, peer in store.peers.items():
                if peer.is_leader:
                    known = self._last_index.get(region_id, 0)
                    last_index = peer.raft.log.last_index
                    grown[region_id] = max(0, last_index - known)
                    self._last_index[region_id] = max(last_index, known)
        return grown

    def hottest(self) -> int | None:
        """Returns the region that has grown most, the smallest id among equals; None: none."""
        grown = self.grown()
        return min(grown, key=lambda region_id: (-grown[region_id], region_id), default=None)
