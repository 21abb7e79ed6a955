"""A request once more: the same keys, in the regions of now.

Law: a request that was sent belongs to the store; what is sent again is a new one. After a split
its keys may lie in several regions: then each part goes on its own, a commit in one phase is over,
and an async commit's secondaries go with the primary.

Source: tikv/client-go txnkv/transaction/prewrite.go (handleSingleBatch, checkOnePCFallBack),
pingcap/tidb pkg/store/copr/key_ranges.go (SplitByRegion).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.client.callers import NOBODY
from sim.client.region_groups import keys_by_region, mutations_by_region
from sim.storage.request import Kind, KvRequest

if TYPE_CHECKING:
    from sim.client.region_groups import Locator
    from sim.protocol.region import Route

_COPIED: Final = (
    "allow_lock_with_conflict", "bypass", "commit_ts", "current_ts", "expected_for_update_ts",
    "for_update_ts", "force_sync_commit", "insert", "keys", "lock_ttl_ms", "max_commit_ts",
    "min_commit_ts", "mutations", "one_pc", "pessimistic", "primary",
    "request_bytes", "rollback_if_not_exist", "rows", "secondaries", "use_async_commit",
    "wait_timeout_ns", "wants_values",
)  # fmt: skip
"""What a client fills in."""


def again(request: KvRequest, route: Route) -> KvRequest:
    """Returns a copy of a request, not yet sent, for ``route``."""
    copy = KvRequest(request.kind, route, NOBODY, request.tidb, request.start_ts)
    for name in _COPIED:
        setattr(copy, name, getattr(request, name))
    copy.is_retry = True
    return copy


def cut_again(request: KvRequest, regions: Locator) -> list[KvRequest]:
    """Returns what to send instead of ``request``: a copy, or one for each region of its keys."""
    if request.kind is Kind.COP:
        return _cut_ranges(request, regions)
    if request.mutations:
        return _cut_mutations(request, regions)
    parts = []
    for route, keys in keys_by_region(regions, request.keys):
        part = again(request, route)
        part.keys = tuple(keys)
        parts.append(part)
    return _share_bytes(request, parts)


def _cut_mutations(request: KvRequest, regions: Locator) -> list[KvRequest]:
    groups = mutations_by_region(regions, request.mutations)
    parts = []
    for group in groups:
        part = again(request, group.route)
        part.mutations = tuple(group.mutations)
        part.keys = tuple(group.keys)
        part.one_pc = request.one_pc and len(groups) == 1
        if request.primary not in group.keys:
            part.secondaries = None
        parts.append(part)
    return _share_bytes(request, parts)


def _cut_ranges(request: KvRequest, regions: Locator) -> list[KvRequest]:
    """Cuts the ranges, pairs (first, last) of keys, where a region ends."""
    cuts: dict[int, tuple[Route, list[bytes]]] = {}
    for first, last in zip(request.keys[::2], request.keys[1::2], strict=True):
        start = first
        while True:
            route = regions.locate(start)
            end = route.region.end_key
            ranges = cuts.setdefault(route.region.region_id, (route, []))[1]
            is_last = not end or last < end
            ranges += (start, last if is_last else end)
            if is_last:
                break
            start = end
    parts = []
    for route, keys in cuts.values():
        part = again(request, route)
        part.keys = tuple(keys)
        part.rows = request.rows // len(cuts)
        parts.append(part)
    return _share_bytes(request, parts)


def _share_bytes(request: KvRequest, parts: list[KvRequest]) -> list[KvRequest]:
    if len(parts) > 1:
        keys = sum(len(part.keys) for part in parts)
        for part in parts:
            part.request_bytes = request.request_bytes * len(part.keys) // keys
    return parts
