"""Which region is hottest: the one whose raft log has grown most since the last look.

A leader's log grows by what is written, whatever the lock mode; reads do not count. Source of the
idea: tikv/pd server/statistics (hot regions by written bytes and keys).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.server.cluster import Cluster


class Heat:
    """One observer's memory of all logs."""

    __slots__ = ("_cluster", "_seen")

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._seen: dict[int, int] = {}

    def look(self) -> dict[int, int]:
        """Returns by how many entries the log of each led region has grown since the last look.

        The first look counts from a log's beginning. Regions that nobody has touched are absent.
        """
        grown: dict[int, int] = {}
        for store in self._cluster.stores.values():
            for region_id, peer in store.peers.items():
                if peer.is_leader:
                    last_index = peer.raft.log.last_index
                    grown[region_id] = max(0, last_index - self._seen.get(region_id, 0))
                    self._seen[region_id] = max(last_index, self._seen.get(region_id, 0))
        return grown

    def hottest(self) -> int | None:
        """Returns the region that has grown most, the smallest id among equals; None: none."""
        grown = self.look()
        return min(grown, key=lambda region_id: (-grown[region_id], region_id), default=None)
