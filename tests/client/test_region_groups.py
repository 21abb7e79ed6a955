"""Keys by region: each in the group of the range that holds it, whatever the client believes."""

from __future__ import annotations

from sim.client.region_groups import keys_by_region, mutations_by_region
from sim.protocol.mvcc import PUT
from sim.protocol.percolator import Mutation
from sim.protocol.region import Region, RegionEpoch, RegionId, RegionMap, Route, StoreId

STORES = (StoreId(1), StoreId(2), StoreId(3))


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


def test_a_region_that_has_left_two_stumps_stays_known_by_its_id() -> None:
    regions = RegionMap([Route(Region(RegionId(1), b"", b"", STORES), 1)])
    regions.put(Route(Region(RegionId(2), b"f", b"m", STORES, RegionEpoch(1, 2)), 1))
    regions.put(Route(Region(RegionId(1), b"", b"f", STORES, RegionEpoch(1, 2)), 1))
    regions.put(Route(Region(RegionId(3), b"m", b"", STORES, RegionEpoch(1, 2)), 1))
    known = regions.by_id(1)
    assert known is not None
    assert (known.region.start_key, known.region.end_key) == (b"", b"f")
