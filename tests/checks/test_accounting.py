"""What the accounting must not mistake for a loss."""

import pytest

from sim.checks import accounting
from sim.record.facts import MemorySink
from sim.server.control import Control
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS, NS_PER_S
from tests.scenes import PIPELINED, SYNC, Scene, constant_scenario, scenario


def test_a_lock_that_only_followers_have_applied_is_there() -> None:
    scene = Scene(constant_scenario(tikv=PIPELINED))
    scene.cluster.failpoints.hold("before_apply", store=1)
    scene.lock(b"k", 100)
    scene.lock(b"q", 101, at_ns=10 * NS_PER_MS)  # Tells the followers that the first is committed.
    scene.run(50 * NS_PER_MS)
    leader, follower = (scene.cluster.peers_of(1)[store] for store in (1, 2))
    assert b"k" not in leader.state.mvcc.locks
    assert b"k" in follower.state.mvcc.locks
    assert scene.violations() == []


def scene_whose_leader_died(crashed: tuple[int, ...] = (1,)) -> Scene:
    """Returns a cluster whose leader has applied and answered a lock that no follower applied."""
    scene = Scene(constant_scenario(tikv=SYNC))
    scene.lock(b"k", 100)
    scene.run(5 * NS_PER_MS)
    assert [peer.state.mvcc.locks.keys() == {b"k"} for peer in scene.cluster.peers()] == [
        True, False, False,
    ]  # fmt: skip
    control = Control(scene.cluster)
    for store in crashed:
        control.crash_store(store)
    return scene.run(50 * NS_PER_MS)


@pytest.mark.parametrize("crashed", [(1,), (1, 2), (1, 2, 3), (2, 3)])
def test_a_lock_whose_leader_died_waits_in_the_logs_for_the_next_one(
    crashed: tuple[int, ...],
) -> None:
    scene = scene_whose_leader_died(crashed)
    assert list(scene.fates.held) == [b"k"]
    assert scene.violations() == []


def test_a_lock_that_the_survivors_do_not_have_in_their_logs_has_vanished() -> None:
    scene = scene_whose_leader_died()
    for peer in scene.cluster.peers():
        peer.raft.log.entries.pop()
    (line,) = scene.violations()
    assert line.startswith(accounting.LAW)
    assert "vanished" in line


def test_a_crash_shortly_before_the_end_loses_no_replicated_lock() -> None:
    # Of 60 transactions a second, some have locks that only the dead leader had applied.
    run = {"warmup_ns": 0, "measure_ns": 10 * NS_PER_S, "checks": True}
    of = scenario("crash", run=run, workload={"rate_per_s": 60.0})
    unit = SimulatedUnit(of, 3, MemorySink())
    unit.run()
    assert unit.result().violations == ()
    leaderless = [
        region_id
        for region_id in unit.cluster.peers_by_region()
        if unit.cluster.leader_of(region_id) is None
    ]
    assert leaderless
