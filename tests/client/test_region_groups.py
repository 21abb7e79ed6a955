"""Keys by region, whatever the client believes; requests that are sent again elsewhere."""

from __future__ import annotations

from sim.client.connections import NOT_IN_FLIGHT
from sim.client.region_cache import RegionCache
from sim.client.region_groups import (
    copy_of,
    keys_by_region,
    mutations_by_region,
    ranges_by_region,
    requests_by_region,
)
from sim.protocol.mvcc import PUT
from sim.protocol.percolator import Mutation
from sim.protocol.region import Region, RegionEpoch, RegionId, RegionMap, Route, StoreId
from sim.storage.request import Kind, KvRequest
from tests.client.scripted_stores import region, route

STORES = (StoreId(1), StoreId(2), StoreId(3))

WHOLE = route(region(1, b"", b"", 1), 1)
SPLIT = RegionCache(
    RegionMap([route(region(2, b"", b"m", 2), 2), route(region(1, b"m", b"", 2), 3)])
)
FIELDS = frozenset(KvRequest.__slots__)

LEFT_TO_STORES = {
    "applied_ns", "arrived_ns", "batch", "cid", "committed_ns", "done_ns", "executed_ns",
    "fallback", "latched_ns", "marked", "path", "peer", "proposed_ns", "replied_ns",
    "reply_at_proposed", "result", "slots", "term", "waited_ns", "woken",
}  # fmt: skip
"""What the stations of a request's way write on it: a new request begins without."""

DECIDED_ANEW = {
    "caller", "connection", "is_retry", "opens_message", "region", "sent_ns", "store",
}  # fmt: skip


def half_learnt_split() -> RegionMap:
    """Region 1 was split at ``m``; its new right part is known, what became of the left is not."""
    regions = RegionMap([Route(Region(RegionId(1), b"", b"", STORES), 1)])
    regions.put(Route(Region(RegionId(1), b"m", b"", STORES, RegionEpoch(1, 2)), 1))
    return regions


def test_two_ranges_of_one_id_are_two_groups() -> None:
    regions = half_learnt_split()
    groups = keys_by_region(regions, [b"p", b"a", b"q"])
    assert [(route.region.epoch.version, keys) for route, keys in groups] == [
        (2, [b"p", b"q"]),
        (1, [b"a"]),
    ]
    mutations = [Mutation(key, PUT, 1) for key in (b"p", b"a", b"q")]
    assert [group.keys for group in mutations_by_region(regions, mutations)] == [
        [b"p", b"q"],
        [b"a"],
    ]
    for group in mutations_by_region(regions, mutations):
        assert all(group.route.region.contains(key) for key in group.keys)


def test_ranges_are_cut_where_a_region_ends_and_stay_pairs() -> None:
    bounds = [b"a", b"c", b"k", b"p", b"r", b"t"]
    groups = ranges_by_region(SPLIT, bounds)
    assert [(route.region.region_id, keys) for route, keys in groups] == [
        (2, [b"a", b"c", b"k", b"m"]),
        (1, [b"m", b"p", b"r", b"t"]),
    ]
    assert [
        keys for _, keys in ranges_by_region(half_learnt_split(), [b"a", b"b", b"p", b"q"])
    ] == [
        [b"a", b"b"],
        [b"p", b"q"],
    ]


def test_a_region_that_has_left_two_stumps_stays_known_by_its_id() -> None:
    regions = RegionMap([Route(Region(RegionId(1), b"", b"", STORES), 1)])
    regions.put(Route(Region(RegionId(2), b"f", b"m", STORES, RegionEpoch(1, 2)), 1))
    regions.put(Route(Region(RegionId(1), b"", b"f", STORES, RegionEpoch(1, 2)), 1))
    regions.put(Route(Region(RegionId(3), b"m", b"", STORES, RegionEpoch(1, 2)), 1))
    known = regions.by_id(1)
    assert known is not None
    assert (known.region.start_key, known.region.end_key) == (b"", b"f")


def request(kind: Kind, *keys: bytes, **fields: object) -> KvRequest:
    made = KvRequest(kind, WHOLE, NOT_IN_FLIGHT, 0, 7)
    made.keys = keys
    made.request_bytes = 100
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_a_copy_has_all_that_the_client_filled_in_and_nothing_else() -> None:
    made = request(Kind.LOCK, b"a")
    marks = {name: object() for name in sorted(FIELDS - {"kind", "tidb", "start_ts"})}
    for name, mark in marks.items():
        setattr(made, name, mark)
    copy = copy_of(made, WHOLE)
    kept = {name for name, mark in marks.items() if getattr(copy, name) is mark}
    unknown = set(marks) - kept - LEFT_TO_STORES - DECIDED_ANEW
    assert unknown == set()
    assert kept.isdisjoint(LEFT_TO_STORES | DECIDED_ANEW)
    assert copy.is_retry
    assert (copy.kind, copy.tidb, copy.start_ts) == (Kind.LOCK, 0, 7)


def test_keys_go_to_the_regions_of_now() -> None:
    parts = requests_by_region(SPLIT, request(Kind.LOCK, b"a", b"x", b"b"))
    assert [(part.region.region_id, part.store, part.keys) for part in parts] == [
        (2, 2, (b"a", b"b")), (1, 3, (b"x",)),
    ]  # fmt: skip
    assert [part.request_bytes for part in parts] == [66, 33]


def prewrite(*keys: bytes, **fields: object) -> list[KvRequest]:
    mutations = tuple(Mutation(key, PUT, 10) for key in keys)
    made = request(Kind.PREWRITE, *keys, mutations=mutations, primary=b"a", **fields)
    return requests_by_region(SPLIT, made)


def test_one_phase_is_over_when_its_mutations_are_apart() -> None:
    assert [part.one_pc for part in prewrite(b"a", b"x", one_pc=True)] == [False, False]
    assert [part.one_pc for part in prewrite(b"a", b"b", one_pc=True)] == [True]


def test_the_secondaries_go_with_the_primary() -> None:
    parts = prewrite(b"a", b"x", use_async_commit=True, secondaries=(b"x",))
    assert [part.secondaries for part in parts] == [(b"x",), None]
    assert all(part.use_async_commit for part in parts)
    assert [[m.key for m in part.mutations] for part in parts] == [[b"a"], [b"x"]]


def test_a_range_is_cut_where_a_region_ends() -> None:
    parts = requests_by_region(SPLIT, request(Kind.COP, b"c", b"p", b"q", b"r", rows=40))
    assert [part.keys for part in parts] == [(b"c", b"m"), (b"m", b"p", b"q", b"r")]
    assert [part.rows for part in parts] == [20, 20]


def test_a_range_that_ends_with_its_region_stays_whole() -> None:
    parts = requests_by_region(SPLIT, request(Kind.COP, b"c", b"d", rows=40))
    assert [(part.keys, part.rows) for part in parts] == [((b"c", b"d"), 40)]
