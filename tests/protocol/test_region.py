"""Regions cover the key space once; replicas and leaders are spread evenly over the stores."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.protocol.region import Region, RegionId, RegionMap, StoreId, lay_out_regions

KEYS = st.binary(max_size=3)
STARTS = st.sets(st.binary(min_size=1, max_size=3), max_size=12).map(lambda s: [b"", *sorted(s)])


def region(number: int, start_key: bytes, end_key: bytes) -> Region:
    return Region(RegionId(number), start_key, end_key, (StoreId(1),), StoreId(1))


@given(STARTS, KEYS)
def test_every_key_lies_in_exactly_one_region_and_is_found_there(
    starts: list[bytes], key: bytes
) -> None:
    regions = lay_out_regions(starts, stores=3, replicas=3)
    homes = [region for region in regions.regions if region.contains(key)]
    assert homes == [regions.locate(key)]


@pytest.mark.parametrize(("stores", "replicas"), [(1, 1), (3, 1), (3, 3), (5, 3), (6, 5), (7, 3)])
def test_replicas_lie_on_different_stores_and_leaders_are_spread_evenly(
    stores: int, replicas: int
) -> None:
    count = stores * max(1, stores - 1) * 4
    starts = [b"", *(number.to_bytes(2, "big") for number in range(1, count))]
    placed = lay_out_regions(starts, stores, replicas).regions
    assert all(len(set(r.stores)) == replicas and r.leader_store in r.stores for r in placed)
    assert {store for r in placed for store in r.stores} == set(range(1, stores + 1))
    assert set(Counter(r.leader_store for r in placed).values()) == {count // stores}
    replicas_on = Counter(store for r in placed for store in r.stores)
    assert max(replicas_on.values()) - min(replicas_on.values()) <= 0.2 * count * replicas / stores


def test_ids_begin_at_one_and_follow_the_keys() -> None:
    placed = lay_out_regions([b"", b"b", b"m"], stores=3, replicas=3).regions
    assert [str(r) for r in placed] == [
        "region 1 [-inf, b) v1", "region 2 [b, m) v1", "region 3 [m, +inf) v1",
    ]  # fmt: skip
    assert [r.stores for r in placed] == [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
    assert [r.leader_store for r in placed] == [1, 2, 3]


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
        RegionMap([region(number, *ends) for number, ends in enumerate(ranges)])
