"""Keys and mutations by region, as they travel in requests.

Law: keys keep their order; keys of one region travel together until 16 KiB are full.

Source: tikv/client-go txnkv/transaction/2pc.go (groupMutations, txnCommitBatchSize).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from sim.units import KIB

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sim.protocol.percolator import Mutation
    from sim.protocol.region import Route


class Locator(Protocol):
    """Who knows the regions."""

    @property
    def locate(self) -> Callable[[bytes], Route]:
        """Returns what finds the route of a key."""


_BEHIND_ALL: Final = b"\xff" * 64
"""Behind every key: where the last region ends."""

BATCH_BYTES = 16 * KIB
"""``txnCommitBatchSize``: a larger request is cut."""


class RegionGroup:
    """What travels to one region in one request: keys, or mutations and their keys."""

    __slots__ = ("end_key", "keys", "mutations", "route", "size_bytes", "start_key")

    def __init__(self, route: Route) -> None:
        self.route = route
        self.start_key = route.region.start_key
        self.end_key = route.region.end_key or _BEHIND_ALL
        self.keys: list[bytes] = []
        self.mutations: list[Mutation] = []
        self.size_bytes = 0


def keys_by_region(regions: Locator, keys: Sequence[bytes]) -> list[tuple[Route, list[bytes]]]:
    """Returns the keys in groups of one region and at most 16 KiB, by first appearance."""
    if len(keys) == 1:
        return [(regions.locate(keys[0]), list(keys))]
    groups = _RegionGroups(regions)
    group: RegionGroup | None = None
    for key in keys:
        size = len(key)
        if (
            group is None
            or group.size_bytes + size > BATCH_BYTES
            or not group.start_key <= key < group.end_key
        ):
            group = groups.find(key, size)
        group.keys.append(key)
        group.size_bytes += size
    return [(group.route, group.keys) for group in groups.all]


def mutations_by_region(regions: Locator, mutations: Sequence[Mutation]) -> list[RegionGroup]:
    """Returns mutations in groups of one region and at most 16 KiB, by first appearance."""
    groups = _RegionGroups(regions)
    group: RegionGroup | None = None
    for mutation in mutations:
        key, _, value_bytes, _, _ = mutation
        size = len(key) + value_bytes if value_bytes > 0 else len(key)
        if (
            group is None
            or group.size_bytes + size > BATCH_BYTES
            or not group.start_key <= key < group.end_key
        ):
            group = groups.find(key, size)
        group.keys.append(key)
        group.mutations.append(mutation)
        group.size_bytes += size
    return groups.all


class _RegionGroups:
    """Groups in the making: the newest one of each region is open.

    A region is told by where it starts: a client that has heard of a split in part only believes in
    two ranges of one id, of which one is over.
    """

    __slots__ = ("_open", "_regions", "all")

    def __init__(self, regions: Locator) -> None:
        self._regions = regions
        self._open: dict[bytes, RegionGroup] = {}
        self.all: list[RegionGroup] = []

    def find(self, key: bytes, size_bytes: int) -> RegionGroup:
        """Returns the open group of the key's region, or a new one if that is full."""
        route = self._regions.locate(key)
        start_key = route.region.start_key
        group = self._open.get(start_key)
        if group is None or (group.keys and group.size_bytes + size_bytes > BATCH_BYTES):
            group = self._open[start_key] = RegionGroup(route)
            self.all.append(group)
        return group
