"""Keys, mutations and whole requests by region, as they travel.

Keys keep their order; keys of one region travel together until 16 KiB are full. What is sent again
after a region error is a new request: the old one may still be with a store. After a split its keys
may lie in several regions; then each part travels on its own, a commit in one phase is no longer
possible, and an async commit's secondaries go with the primary.

Source: tikv/client-go txnkv/transaction/2pc.go (groupMutations, txnCommitBatchSize), prewrite.go
(handleSingleBatch, checkOnePCFallBack); pingcap/tidb pkg/store/copr/key_ranges.go (SplitByRegion).
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from sim.client.connections import NOT_IN_FLIGHT
from sim.protocol.percolator import Mutation
from sim.protocol.region import Route
from sim.storage.request import Kind, KvRequest
from sim.units import KIB


class Locator(Protocol):
    """Knows the regions: a region cache, or PD's map."""

    @property
    def locate(self) -> Callable[[bytes], Route]:
        """Returns what finds the route of a key."""


_AFTER_ALL: Final = b"\xff" * 64
"""Above every key: where the last region ends."""

BATCH_BYTES = 16 * KIB
"""``txnCommitBatchSize``: a larger request is cut."""

_CLIENT_FIELDS: Final = (
    "access", "allow_lock_with_conflict", "bypass", "commit_ts", "current_ts",
    "expected_for_update_ts", "for_update_ts", "force_sync_commit", "insert", "keys",
    "lock_ttl_ms", "max_commit_ts", "min_commit_ts", "mutations", "one_pc", "pessimistic",
    "primary", "request_bytes", "rollback_if_not_exist", "row_bytes", "rows", "secondaries",
    "use_async_commit", "wait_timeout_ns", "wants_values",
)  # fmt: skip
"""What a client fills in; the rest of a request is written by the stations on its way."""


class RegionGroup:
    """What travels to one region in one request: keys, or mutations and their keys."""

    __slots__ = ("end_key", "keys", "mutations", "route", "size_bytes", "start_key")

    def __init__(self, route: Route) -> None:
        region, _ = self.route = route
        self.start_key = region.start_key
        self.end_key = region.end_key or _AFTER_ALL
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


def ranges_by_region(regions: Locator, bounds: Sequence[bytes]) -> list[tuple[Route, list[bytes]]]:
    """Returns ranges in groups of one region, by first appearance, cut where a region ends.

    Args:
        regions: where they lie.
        bounds: the first and the last key of each range, one range after the other.
    """
    groups: dict[bytes, tuple[Route, list[bytes]]] = {}
    for first, last in zip(bounds[::2], bounds[1::2], strict=True):
        start = first
        while True:
            route = regions.locate(start)
            end = route.region.end_key
            _, ranges = groups.setdefault(route.region.start_key, (route, []))
            if not end or last < end:
                ranges += (start, last)
                break
            ranges += (start, end)
            start = end
    return list(groups.values())


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

    A region is identified by its start key: a client that has learnt only one half of a split
    believes in two ranges with one id, one of which is out of date.
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


def copy_of(request: KvRequest, route: Route) -> KvRequest:
    """Returns a copy of a request, not yet sent, for ``route``."""
    copy = KvRequest(request.kind, route, NOT_IN_FLIGHT, request.tidb, request.start_ts)
    for name in _CLIENT_FIELDS:
        setattr(copy, name, getattr(request, name))
    copy.is_retry = True
    return copy


def requests_by_region(regions: Locator, request: KvRequest) -> list[KvRequest]:
    """Returns what to send instead of ``request``: a copy, or one for each region of its keys."""
    prewrites = mutations_by_region(regions, request.mutations)
    if prewrites:
        groups = [(group.route, group.keys) for group in prewrites]
    elif request.kind is Kind.COP:
        groups = ranges_by_region(regions, request.keys)
    else:
        groups = keys_by_region(regions, request.keys)
    keys_in_all = sum(len(keys) for _, keys in groups)
    parts = []
    for route, keys in groups:
        part = copy_of(request, route)
        part.keys = tuple(keys)
        part.rows = request.rows // len(groups)
        part.one_pc = request.one_pc and len(groups) == 1
        part.request_bytes = request.request_bytes * len(keys) // keys_in_all
        parts.append(part)
    for part, group in zip(parts, prewrites, strict=False):
        part.mutations = tuple(group.mutations)
        if request.primary not in group.keys:
            part.secondaries = None
    return parts
