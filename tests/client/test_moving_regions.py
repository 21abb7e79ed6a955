"""Transactions on regions that really move: led by others, split, merged, crashed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sim.server.control import Control
from sim.units import NS_PER_MS, NS_PER_S
from tests.scenes import IN_MEMORY, PIPELINED, SYNC, Scene, constant_scenario, script, update

TWO_PHASES: dict[str, object] = {"one_pc": False, "async_commit": False}
ERRORS = ("EpochNotMatch", "NotLeader", "RegionNotFound")
ASYNC: dict[str, object] = {"one_pc": False}


def transfer(control: Control) -> None:
    control.transfer_leader(1, 2)


def split(control: Control) -> None:
    control.split_region(1, b"c")


def merge(control: Control) -> None:
    control.merge_region(1, 2)


def crash(control: Control) -> None:
    control.crash_store(1)


def isolate(control: Control) -> None:
    control.isolate(["store-1"])


def scene_with(
    change: Callable[[Control], None], tikv: dict[str, object], tidb: dict[str, object]
) -> Scene:
    """Returns a scene with a transaction every 7 ms, in the midst of which a region changes."""
    stores = {"stores": 3}
    of = Scene(constant_scenario(tikv=tikv, tidb=tidb, cluster=stores), [b"", b"m"])
    if change is merge:
        control = Control(of.cluster)
        of.env.at(NS_PER_MS, lambda _: control.transfer_leader(2, 1), None)
    for number in range(60):
        keys = [b"%c%d" % (b"abcdz"[number % 5], number % 3), b"d%d" % number]
        of.begin(script(update(keys[0]), update(keys[1])), (20 + 7 * number) * NS_PER_MS)
    of.env.at(200 * NS_PER_MS, lambda _: change(Control(of.cluster)), None)
    return of


@pytest.mark.parametrize("tikv", [IN_MEMORY, PIPELINED, SYNC])
@pytest.mark.parametrize("tidb", [{}, ASYNC, TWO_PHASES])
@pytest.mark.parametrize("change", [transfer, split, merge])
def test_orderly_changes_fail_no_transaction(
    change: Callable[[Control], None], tikv: dict[str, object], tidb: dict[str, object]
) -> None:
    of = scene_with(change, tikv, tidb).run(20 * NS_PER_S)
    assert of.counted("txns", "t") == 60
    assert sum(of.counted("region_errors", name) for name in ERRORS) > 0
    assert of.node.regions.changes > 0
    assert of.locked_keys() == []
    assert list(of.cluster.tso.running) == []
    assert of.violations() == []


@pytest.mark.parametrize("tikv", [IN_MEMORY, SYNC])
@pytest.mark.parametrize("change", [crash, isolate])
def test_a_lost_leader_is_found_again(
    change: Callable[[Control], None], tikv: dict[str, object]
) -> None:
    of = scene_with(change, tikv, {}).run(120 * NS_PER_S)
    assert of.counted("txns", "t") + of.stats.total_aborted() == 60
    assert of.counted("txns", "t") >= 55
    assert of.node.regions.locate(b"a").leader_store != 1
    assert of.violations() == []


def test_a_store_that_comes_back_is_reached_again() -> None:
    of = scene_with(crash, IN_MEMORY, {})
    control = Control(of.cluster)
    of.env.at(NS_PER_S, lambda _: control.restart_store(1), None)
    of.run(90 * NS_PER_S)
    assert not of.node.connections.broken
    assert of.counted("txns", "t") + of.stats.total_aborted() == 60
    assert of.locked_keys() == []
