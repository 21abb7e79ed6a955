"""What PD believes of leaders' heartbeats.

Source: tikv/pd pkg/core/region.go (check).
"""

import pytest

from sim.pd.placement import Placement
from sim.protocol.region import Region, RegionEpoch, RegionId, RegionMap, Route, StoreId

STORES = (StoreId(1), StoreId(2), StoreId(3))


def region(conf_ver: int, version: int) -> Region:
    return Region(RegionId(1), b"", b"", STORES, RegionEpoch(conf_ver, version))


@pytest.mark.parametrize(
    ("conf_ver", "version", "term", "is_taken"),
    [
        (5, 5, 5, True),
        (6, 5, 5, True),
        (5, 6, 5, True),
        (5, 5, 6, True),
        (4, 5, 5, False),
        (5, 4, 5, False),
        (5, 5, 4, False),
        (6, 5, 4, False),
        (4, 6, 5, False),
        (6, 4, 5, False),
    ],
)
def test_a_heartbeat_is_stale_by_term_version_or_conf_ver(
    conf_ver: int, version: int, term: int, *, is_taken: bool
) -> None:
    placement = Placement(RegionMap([Route(region(5, 5), 1)]), {1: (8, 5, 0)})
    placement.heartbeat(region(5, 5), 1, 5)
    reported = region(conf_ver, version)
    placement.heartbeat(reported, 2, term)
    (route,) = placement.routes.routes
    assert (route.leader_store == 2) == is_taken
    assert (route.region.epoch == reported.epoch) == (is_taken or (conf_ver, version) == (5, 5))
