"""Which regions there are and who leads them, as one TiDB node believes.

A route is used until a store contradicts it. If the store says where the region is now, that is
taken over at once; if it does not, the region is marked stale, and PD is asked before the next
request to it. What is older than what is known already is ignored, whoever says it.

All nodes begin with one map in common; a node takes its own copy when it first learns something.

Source: tikv/client-go internal/locate/region_cache.go (OnRegionEpochNotMatch, UpdateLeader,
InvalidateCachedRegion, insertRegionToCache).
"""

from collections.abc import Callable

from sim.protocol.region import Region, RegionMap, Route
from sim.protocol.region_errors import (
    EpochNotMatch,
    KeyNotInRegion,
    NotLeader,
    RegionError,
    RegionNotFound,
)


class RegionCache:
    """The routes that one TiDB node knows."""

    locate: Callable[[bytes], Route]
    """Returns the route of the region that holds a key, as far as this node knows."""

    def __init__(self, bootstrap: RegionMap) -> None:
        self._routes = bootstrap
        self._is_own = False
        self.locate = bootstrap.locate
        self.changes = 0
        """How often this node has learnt something: groups made before may be out of date."""
        self.stale: dict[int, None] = {}
        """Regions to ask PD about before their next request (a dict as a set)."""

    def on_error(self, region: Region, store: int, error: RegionError) -> bool:
        """Takes what ``store`` says about ``region``; returns whether that says where to go now.

        A store that is behind what this node knows has nothing to teach: it will catch up.
        """
        match error:
            case NotLeader(_, leader) if leader:
                self.set_leader(region, leader)
                return True
            case EpochNotMatch(regions) if regions:
                if any(_is_behind(each, region) for each in regions):
                    return False
                for each in regions:
                    self.learn(Route(each, self._leader(each, store)))
                return True
            case EpochNotMatch() | RegionNotFound() | KeyNotInRegion():
                self.invalidate(region)
            case _:
                """It says nothing about the region."""
        return False

    def set_leader(self, region: Region, leader: int) -> None:
        """Notes who leads; a store that has no replica makes the region stale."""
        known = self._known(region)
        if known is None:
            return
        # What remains of an old region has its id in common with the region of now.
        remains = known is not self._routes.by_id(region.region_id)
        if remains or leader not in region.stores:
            self.invalidate(region)
        elif known.leader_store != leader:
            self._own().set_leader(region.region_id, leader)

    def invalidate(self, region: Region) -> None:
        """Marks a region stale, unless a later one has taken its place already."""
        if self._known(region) is not None:
            self.stale[region.region_id] = None

    def _known(self, region: Region) -> Route | None:
        """Returns the route of a region or of what remains of it; None if it has been replaced."""
        known = self._routes.locate(region.start_key)
        is_same = known.region.region_id == region.region_id and known.region.epoch == region.epoch
        return known if is_same else None

    def learn(self, route: Route) -> bool:
        """Takes a route from PD or a store; returns whether it says anything new."""
        region = route.region
        known = self._overlapping(region)
        if any(_is_newer(old.region, region) for old in known):
            return False
        if len(known) == 1 and _is_same(known[0].region, region):
            self.stale.pop(region.region_id, None)
            if known[0].leader_store == route.leader_store:
                return False
            self._own().set_leader(region.region_id, route.leader_store)
            return True
        for old in known:
            self.stale.pop(old.region.region_id, None)
        self._own().put(route)
        return True

    def _leader(self, region: Region, store: int) -> int:
        """Returns who leads a region heard of from ``store``: as known, or it is that store."""
        known = self._routes.by_id(region.region_id)
        if (
            known is not None
            and known.leader_store in region.stores
            and _is_same(known.region, region)
        ):
            return known.leader_store
        return store if store in region.stores else region.stores[0]

    def _overlapping(self, region: Region) -> list[Route]:
        key = region.start_key
        found = []
        while True:
            route = self._routes.locate(key)
            found.append(route)
            key = route.region.end_key
            if not key or (region.end_key and key >= region.end_key):
                return found

    def _own(self) -> RegionMap:
        self.changes += 1
        if not self._is_own:
            self._routes = self._routes.copy()
            self.locate = self._routes.locate
            self._is_own = True
        return self._routes


def _is_behind(region: Region, known: Region) -> bool:
    epoch, other = region.epoch, known.epoch
    is_older = epoch.version < other.version or epoch.conf_ver < other.conf_ver
    return region.region_id == known.region_id and is_older


def _is_newer(region: Region, than: Region) -> bool:
    epoch, other = region.epoch, than.epoch
    if epoch.version != other.version:
        return epoch.version > other.version
    return region.region_id == than.region_id and epoch.conf_ver > other.conf_ver


def _is_same(region: Region, other: Region) -> bool:
    return (
        region.region_id == other.region_id
        and region.epoch == other.epoch
        and region.start_key == other.start_key
        and region.end_key == other.end_key
    )
