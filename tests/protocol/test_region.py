"""Regions cover the key space once; replicas and leaders are spread evenly over the stores."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.protocol.region import (
    Region,
    RegionEpoch,
    RegionId,
    RegionMap,
    Route,
    StoreId,
    lay_out_regions,
)

KEYS = st.binary(max_size=3)
STARTS = st.sets(st.binary(min_size=1, max_size=3), max_size=12).map(lambda s: [b"", *sorted(s)])


def region(number: int, start_key: bytes, end_key: bytes, version: int = 1) -> Region:
    epoch = RegionEpoch(1, version)
    return Region(RegionId(number), start_key, end_key, (StoreId(1),), epoch)


def show(regions: RegionMap) -> list[str]:
    return [str(route.region) for route in regions.routes]


@given(STARTS, KEYS)
def test_every_key_lies_in_exactly_one_region_and_is_found_there(
    starts: list[bytes], key: bytes
) -> None:
    regions = lay_out_regions(starts, stores=3, replicas=3)
    homes = [route for route in regions.routes if route.region.contains(key)]
    assert homes == [regions.locate(key)]


@pytest.mark.parametrize(("stores", "replicas"), [(1, 1), (3, 1), (3, 3), (5, 3), (6, 5), (7, 3)])
def test_replicas_lie_on_different_stores_and_leaders_are_spread_evenly(
    stores: int, replicas: int
) -> None:
    count = stores * max(1, stores - 1) * 4
    starts = [b"", *(number.to_bytes(2, "big") for number in range(1, count))]
    placed = lay_out_regions(starts, stores, replicas).routes
    assert all(len(set(r.stores)) == replicas and leader in r.stores for r, leader in placed)
    assert {store for r, _ in placed for store in r.stores} == set(range(1, stores + 1))
    assert set(Counter(leader for _, leader in placed).values()) == {count // stores}
    replicas_on = Counter(store for r, _ in placed for store in r.stores)
    assert max(replicas_on.values()) - min(replicas_on.values()) <= 0.2 * count * replicas / stores


def test_ids_begin_at_one_and_follow_the_keys() -> None:
    placed = lay_out_regions([b"", b"b", b"m"], stores=3, replicas=3).routes
    assert [str(r) for r, _ in placed] == [
        "region 1 [-inf, b) v1", "region 2 [b, m) v1", "region 3 [m, +inf) v1",
    ]  # fmt: skip
    assert [r.stores for r, _ in placed] == [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
    assert [leader for _, leader in placed] == [1, 2, 3]


@pytest.mark.parametrize(
    ("ranges", "reason"),
    [
        ([], "at least one region"),
        ([(b"a", b"")], "begin the key space"),
        ([(b"", b"m")], "end the key space"),
        ([(b"", b"b"), (b"c", b"")], "gap or overlap"),
        ([(b"", b"c"), (b"b", b"")], "gap or overlap"),
    ],
)
def test_a_map_with_holes_is_refused(ranges: list[tuple[bytes, bytes]], reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        RegionMap([Route(region(number, *ends), 1) for number, ends in enumerate(ranges)])


def test_a_split_leaves_the_last_range_to_the_region_and_raises_every_version() -> None:
    parts = region(1, b"a", b"z", 3).split([b"g", b"m"], [RegionId(7), RegionId(8)])
    assert list(map(str, parts)) == [
        "region 7 [a, g) v5", "region 8 [g, m) v5", "region 1 [m, z) v5",
    ]  # fmt: skip


def test_a_region_that_is_put_covers_what_it_overlaps_and_stumps_stay() -> None:
    regions = lay_out_regions([b"", b"g", b"m"], stores=3, replicas=3)
    regions.put(Route(region(9, b"c", b"p", 5), 2))
    assert show(regions) == [
        "region 1 [-inf, c) v1", "region 9 [c, p) v5", "region 3 [p, +inf) v1",
    ]  # fmt: skip
    assert regions.by_id(2) is None
    assert regions.by_id(9) == regions.locate(b"g")


@given(STARTS, st.tuples(KEYS, KEYS).map(sorted), KEYS)
def test_a_map_covers_everything_once_whatever_is_put(
    starts: list[bytes], ends: list[bytes], key: bytes
) -> None:
    regions = lay_out_regions(starts, stores=3, replicas=3)
    start, end = ends
    if start == end:
        end = b""
    regions.put(Route(region(99, start, end, 2), 1))
    RegionMap(regions.routes)  # Raises if it has holes.
    home = regions.locate(key)
    assert home.region.contains(key)
    assert (home.region.region_id == 99) == region(99, start, end).contains(key)


def test_a_new_leader_is_noted_in_both_ways_to_look_a_region_up() -> None:
    regions = lay_out_regions([b"", b"g"], stores=3, replicas=3)
    copy = regions.copy()
    regions.set_leader(2, 3)
    found = regions.by_id(2)
    assert found is not None
    assert found.leader_store == regions.locate(b"h").leader_store == 3
    assert copy.locate(b"h").leader_store == 2
