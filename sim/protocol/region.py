"""A region: a range of keys with an epoch, replicated on some stores.

Law: the regions of a ``RegionMap`` cover the whole key space exactly once, in key order.
``version`` grows when the range changes (split, merge), ``conf_ver`` when the replicas change.
This module knows neither Raft nor stores; a region only names them.

Source: tikv/kvproto ``metapb.proto`` (Region, RegionEpoch).
"""

from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple, NewType

RegionId = NewType("RegionId", int)
StoreId = NewType("StoreId", int)


class RegionEpoch(NamedTuple):
    """The two counters by which a request proves that it knows the region's present shape."""

    conf_ver: int
    version: int


class Region:
    """One key range ``[start_key, end_key)``; an empty ``end_key`` means unbounded."""

    __slots__ = ("end_key", "epoch", "leader_store", "region_id", "start_key", "stores")

    def __init__(
        self,
        region_id: RegionId,
        start_key: bytes,
        end_key: bytes,
        stores: tuple[StoreId, ...],
        leader_store: StoreId,
    ) -> None:
        self.region_id = region_id
        self.start_key = start_key
        self.end_key = end_key
        self.stores = stores
        self.leader_store = leader_store
        self.epoch = RegionEpoch(1, 1)

    def contains(self, key: bytes) -> bool:
        """Returns whether ``key`` lies in this region's range."""
        return self.start_key <= key and (not self.end_key or key < self.end_key)

    def __str__(self) -> str:
        end = self.end_key.decode("latin-1") or "+inf"
        start = self.start_key.decode("latin-1") or "-inf"
        return f"region {self.region_id} [{start}, {end}) v{self.epoch.version}"


class RegionMap:
    """All regions by key, as PD and a fresh region cache know them."""

    __slots__ = ("_starts", "regions")

    def __init__(self, regions: list[Region]) -> None:
        assert regions, "a cluster has at least one region"
        assert regions[0].start_key == b"", "the first region must begin the key space"
        for left, right in pairwise(regions):
            assert left.end_key == right.start_key, f"gap or overlap between {left} and {right}"
        assert regions[-1].end_key == b"", "the last region must end the key space"
        self.regions = regions
        self._starts = [region.start_key for region in regions]

    def locate(self, key: bytes) -> Region:
        """Returns the region that holds ``key``."""
        return self.regions[bisect_right(self._starts, key) - 1]


def lay_out_regions(start_keys: list[bytes], stores: int, replicas: int) -> RegionMap:
    """Places the regions that begin at ``start_keys`` on ``stores`` stores, evenly.

    Leaders go round robin, as PD's balance-leader leaves them; followers are the next stores.
    Region ids begin at 1, store ids at 1.
    """
    regions = []
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
        regions.append(Region(RegionId(number + 1), start, end, placed, placed[0]))
    return RegionMap(regions)
