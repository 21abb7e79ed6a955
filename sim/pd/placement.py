"""PD's view of the regions: where they are, who leads them, which version the stores run.

Law: PD learns from the heartbeats of leaders and never asks. What comes from an older term, or an
older epoch than what it overlaps or than the same region was reported with, is ignored.

Source: tikv/pd pkg/core/region.go (PreCheckPutRegion), server/cluster (cluster version).
"""

from __future__ import annotations

from collections.abc import Mapping

from sim.protocol.region import Region, RegionId, RegionMap, Route
from sim.scenario.versions import Version


class Placement:
    """Routes of all regions and versions of all stores."""

    def __init__(self, routes: RegionMap, store_versions: Mapping[int, Version]) -> None:
        self.routes = routes
        self.store_versions = dict(store_versions)
        self._terms: dict[int, int] = {}
        self._next_region_id = max(route.region.region_id for route in routes.routes) + 1

    def cluster_version(self) -> Version:
        """Returns the oldest version that a store runs."""
        return min(self.store_versions.values())

    def new_region_id(self) -> RegionId:
        """Returns an id that no region has had."""
        self._next_region_id += 1
        return RegionId(self._next_region_id - 1)

    def heartbeat(self, region: Region, leader_store: int, term: int) -> None:
        """Takes a leader's report."""
        region_id = region.region_id
        self._next_region_id = max(self._next_region_id, region_id + 1)
        known = self.routes.by_id(region_id)
        if term < self._terms.get(region_id, 0):
            return
        if known is not None and known.region.epoch == region.epoch:
            self._terms[region_id] = term
            self.routes.set_leader(region_id, leader_store)
            return
        if known is not None and known.region.epoch.conf_ver > region.epoch.conf_ver:
            return
        if any(
            route.region.epoch.version > region.epoch.version
            for route in self.routes.routes
            if route.region.overlaps(region)
        ):
            return
        self._terms[region_id] = term
        self.routes.put(Route(region, leader_store))
