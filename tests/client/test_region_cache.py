"""What a TiDB node believes about regions, and whom."""

from __future__ import annotations

from sim.client.region_cache import RegionCache
from sim.protocol.region import RegionMap, Route
from sim.protocol.region_errors import (
    EpochNotMatch,
    KeyNotInRegion,
    NotLeader,
    RegionNotFound,
    ServerIsBusy,
    StaleCommand,
)
from tests.client.scripted_stores import region, route

LEFT, RIGHT = region(1, b"", b"m", 1), region(2, b"m", b"", 1)


def bootstrap() -> RegionMap:
    return RegionMap([route(LEFT, 1), route(RIGHT, 2)])


def known(cache: RegionCache, *keys: bytes) -> list[tuple[int, int, int]]:
    """Returns (region, version, leader) for each key."""
    routes: list[Route] = [cache.locate(key) for key in keys]
    return [(of.region_id, of.epoch.version, leader) for of, leader in routes]


def test_nodes_begin_with_one_map_and_learn_for_themselves() -> None:
    shared = bootstrap()
    one, other = RegionCache(shared), RegionCache(shared)
    one.on_error(LEFT, 1, NotLeader(1, 3))
    assert known(one, b"a", b"z") == [(1, 1, 3), (2, 1, 2)]
    assert known(other, b"a", b"z") == [(1, 1, 1), (2, 1, 2)]
    assert shared.locate(b"a").leader_store == 1


def test_a_leader_that_has_no_replica_makes_the_region_stale() -> None:
    cache = RegionCache(bootstrap())
    cache.on_error(LEFT, 1, NotLeader(1, 7))
    assert list(cache.stale) == [1]
    assert known(cache, b"a") == [(1, 1, 1)]


def test_what_remains_of_an_old_region_is_asked_for_by_itself() -> None:
    cache = RegionCache(bootstrap())
    cache.learn(Route(region(1, b"f", b"m", 2), 1))  # the left part, of another id, is unknown
    rest = cache.locate(b"a").region
    assert (rest.region_id, rest.epoch.version, rest.end_key) == (1, 1, b"f")
    cache.on_error(rest, 1, NotLeader(1, 7))
    assert list(cache.stale) == [1]
    cache.stale.clear()
    cache.on_error(rest, 1, NotLeader(1, 2))
    assert list(cache.stale) == [1]
    assert known(cache, b"a", b"f") == [(1, 1, 1), (1, 2, 1)]


def test_nobody_known_to_lead_changes_nothing() -> None:
    cache = RegionCache(bootstrap())
    for error in (NotLeader(1, 0), StaleCommand(1), ServerIsBusy("so many")):
        cache.on_error(LEFT, 1, error)
    assert known(cache, b"a") == [(1, 1, 1)]
    assert not cache.stale


def test_a_split_is_learnt_from_the_store_that_refuses_its_old_epoch() -> None:
    cache = RegionCache(bootstrap())
    parts = (region(9, b"", b"f", 2), region(1, b"f", b"m", 2))
    cache.on_error(LEFT, 3, EpochNotMatch(parts))
    # Both are led by whoever led the whole, which is who answered.
    assert known(cache, b"a", b"f", b"z") == [(9, 2, 3), (1, 2, 3), (2, 1, 2)]


def test_a_merge_is_learnt_likewise() -> None:
    cache = RegionCache(bootstrap())
    cache.on_error(LEFT, 2, EpochNotMatch((region(2, b"", b"", 3),)))
    assert known(cache, b"a", b"z") == [(2, 3, 2), (2, 3, 2)]


def test_a_change_of_replicas_is_learnt_likewise() -> None:
    cache = RegionCache(bootstrap())
    cache.on_error(LEFT, 1, EpochNotMatch((region(1, b"", b"m", 1, conf_ver=2),)))
    assert cache.locate(b"a").region.epoch.conf_ver == 2


def test_old_news_is_not_believed() -> None:
    cache = RegionCache(bootstrap())
    cache.learn(route(region(2, b"", b"", 3), 2))
    assert not cache.learn(route(LEFT, 1))
    cache.on_error(LEFT, 1, NotLeader(1, 3))
    cache.on_error(LEFT, 1, EpochNotMatch((LEFT,)))
    assert known(cache, b"a") == [(2, 3, 2)]


def test_who_leads_is_kept_when_the_same_region_is_heard_of_again() -> None:
    cache = RegionCache(bootstrap())
    cache.on_error(LEFT, 2, EpochNotMatch((LEFT,)))
    assert known(cache, b"a") == [(1, 1, 1)]


def test_a_region_is_stale_until_pd_has_answered() -> None:
    for error in (RegionNotFound(1), KeyNotInRegion(b"a", LEFT), EpochNotMatch(())):
        cache = RegionCache(bootstrap())
        cache.on_error(LEFT, 1, error)
        assert list(cache.stale) == [1]
        assert not cache.learn(route(LEFT, 1))  # It says nothing new, but it is confirmed.
        assert not cache.stale


def test_what_a_new_region_covers_is_not_stale_any_more() -> None:
    cache = RegionCache(bootstrap())
    cache.invalidate(LEFT)
    cache.learn(route(region(2, b"", b"", 3), 2))
    assert not cache.stale
