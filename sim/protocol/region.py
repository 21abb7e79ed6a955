"""A region: a range of keys with an epoch, replicated on some stores.

A ``Region`` is a value: a change makes a new one with a greater epoch. ``version`` grows when the
range changes (split, merge), ``conf_ver`` when the replicas change. The routes of a ``RegionMap``
cover the whole key space exactly once, in key order. This module knows neither Raft nor stores; a
region only names them.

Source: tikv/kvproto ``metapb.proto`` (Region, RegionEpoch); tikv/pd server/core (RegionsInfo).
"""

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import NamedTuple, NewType

from sim.protocol.keys import show_key

RegionId = NewType("RegionId", int)
StoreId = NewType("StoreId", int)


class RegionEpoch(NamedTuple):
    """Two counters in every request, which show whether its sender knows the present region."""

    conf_ver: int
    version: int


_BOOTSTRAP_EPOCH = RegionEpoch(1, 1)


class Region:
    """One key range ``[start_key, end_key)``; an empty ``end_key`` means unbounded."""

    __slots__ = ("end_key", "epoch", "region_id", "start_key", "stores")

    def __init__(
        self,
        region_id: RegionId,
        start_key: bytes,
        end_key: bytes,
        stores: tuple[StoreId, ...],
        epoch: RegionEpoch = _BOOTSTRAP_EPOCH,
    ) -> None:
        self.region_id = region_id
        self.start_key = start_key
        self.end_key = end_key
        self.stores = stores
        self.epoch = epoch

    def contains(self, key: bytes) -> bool:
        """Returns whether ``key`` lies in this region's range."""
        return self.start_key <= key and (not self.end_key or key < self.end_key)

    def overlaps(self, other: "Region") -> bool:
        """Returns whether the two ranges have a key in common."""
        return (not self.end_key or other.start_key < self.end_key) and (
            not other.end_key or self.start_key < other.end_key
        )

    def with_range(self, start_key: bytes, end_key: bytes, version: int) -> "Region":
        """Returns the region after a split or merge."""
        epoch = RegionEpoch(self.epoch.conf_ver, version)
        return Region(self.region_id, start_key, end_key, self.stores, epoch)

    def with_version(self, version: int) -> "Region":
        """Returns the same range under another version (merge's preparation and rollback)."""
        return self.with_range(self.start_key, self.end_key, version)

    def with_stores(self, stores: tuple[StoreId, ...], conf_ver: int) -> "Region":
        """Returns the region after a change of its replicas."""
        epoch = RegionEpoch(conf_ver, self.epoch.version)
        return Region(self.region_id, self.start_key, self.end_key, stores, epoch)

    def split(self, keys: list[bytes], region_ids: list[RegionId]) -> list["Region"]:
        """Returns the regions after a split at ``keys``, left to right; this one keeps the last.

        Every region of the result has a version greater by the number of new regions.

        Source: tikv/tikv store/fsm/apply.rs (exec_batch_split with ``right_derive``).
        """
        version = self.epoch.version + len(keys)
        epoch = RegionEpoch(self.epoch.conf_ver, version)
        bounds = [self.start_key, *keys, self.end_key]
        return [
            Region(region_id, start, end, self.stores, epoch)
            for region_id, (start, end) in zip(
                [*region_ids, self.region_id], pairwise(bounds), strict=True
            )
        ]

    def __str__(self) -> str:
        end = show_key(self.end_key) if self.end_key else "+inf"
        start = show_key(self.start_key) if self.start_key else "-inf"
        return f"region {self.region_id} [{start}, {end}) v{self.epoch.version}"


class Route(NamedTuple):
    """Where to find a region, as PD or a client believes."""

    region: Region
    leader_store: int
    """0: unknown."""


class RegionMap:
    """Routes by key: PD's, or those that a client believes."""

    def __init__(self, routes: list[Route]) -> None:
        assert routes, "a cluster has at least one region"
        assert routes[0].region.start_key == b"", "the first region must begin the key space"
        for (left, _), (right, _) in pairwise(routes):
            assert left.end_key == right.start_key, f"gap or overlap between {left} and {right}"
        assert routes[-1].region.end_key == b"", "the last region must end the key space"
        self.routes = routes
        self._starts = [route.region.start_key for route in routes]
        self._by_id = {route.region.region_id: route for route in routes}

    def locate(self, key: bytes) -> Route:
        """Returns the route of the region that holds ``key``."""
        return self.routes[bisect_right(self._starts, key) - 1]

    def by_id(self, region_id: int) -> Route | None:
        """Returns the route of a region, None if there is none of that id."""
        return self._by_id.get(RegionId(region_id))

    def copy(self) -> "RegionMap":
        """Returns an independent copy."""
        return RegionMap(list(self.routes))

    def put(self, route: Route) -> None:
        """Enters a region over those that it overlaps; what remains of them on either side stays.

        A remaining part keeps its region's id and epoch, so its store refuses a request to it and
        answers with the regions that are there now.
        """
        region = route.region
        first = bisect_right(self._starts, region.start_key) - 1
        end = region.end_key
        last = bisect_left(self._starts, end) if end else len(self.routes)
        new = [route]
        left, right = self.routes[first], self.routes[last - 1]
        if left.region.start_key < region.start_key:
            new.insert(0, _cut(left, left.region.start_key, region.start_key))
        if region.end_key and (not right.region.end_key or region.end_key < right.region.end_key):
            new.append(_cut(right, region.end_key, right.region.end_key))
        for old in self.routes[first:last]:
            # If two parts of a region remain, the other one stays known by its id.
            if self._by_id.get(old.region.region_id) is old:
                del self._by_id[old.region.region_id]
        self.routes[first:last] = new
        self._starts[first:last] = [entry.region.start_key for entry in new]
        for entry in new:
            self._by_id[entry.region.region_id] = entry
        self._by_id[region.region_id] = route

    def set_leader(self, region_id: int, leader_store: int) -> None:
        """Notes the leader of a region, if the region is known."""
        route = self._by_id.get(RegionId(region_id))
        if route is None or route.leader_store == leader_store:
            return
        at = bisect_right(self._starts, route.region.start_key) - 1
        self.routes[at] = self._by_id[route.region.region_id] = Route(route.region, leader_store)


def _cut(route: Route, start_key: bytes, end_key: bytes) -> Route:
    region = route.region
    version = region.epoch.version
    return Route(region.with_range(start_key, end_key, version), route.leader_store)


def lay_out_regions(start_keys: list[bytes], stores: int, replicas: int) -> RegionMap:
    """Places the regions that begin at ``start_keys`` on ``stores`` stores, evenly.

    Leaders go round robin (PD's balance-leader leaves up to ten more on a store than on another);
    followers are the next stores.
    Region ids begin at 1, store ids at 1.
    """
    routes = []
    for number, start in enumerate(start_keys):
        end = start_keys[number + 1] if number + 1 < len(start_keys) else b""
        first = number % stores
        # The shift makes the follower sets differ when there are more stores than replicas.
        shift = 1 + (number // stores) % max(1, stores - 1) if replicas < stores else 1
        peers = [first + 1]
        candidate = first
        while len(peers) < replicas:
            candidate = (candidate + shift) % stores
            while candidate + 1 in peers:
                candidate = (candidate + 1) % stores
            peers.append(candidate + 1)
        placed = tuple(StoreId(peer) for peer in peers)
        routes.append(Route(Region(RegionId(number + 1), start, end, placed), placed[0]))
    return RegionMap(routes)
