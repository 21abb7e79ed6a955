"""Replicas that come late: who must make room for them, and when."""

from sim.raftstore.msg import AskMerge
from sim.units import NS_PER_MS, NS_PER_S
from tests.raftstore.region_life.stage import Stage


def order_merge(stage: Stage, source: int, target: int) -> None:
    """Lets a region's leader merge it, whatever PD would say of the target's replicas."""
    leader, into = stage.cluster.leader_of(source), stage.cluster.leader_of(target)
    assert leader is not None
    assert into is not None
    stage.cluster.stores[leader.store].ctx.router.deliver(leader, AskMerge(into.region))


def test_a_source_stays_until_its_targets_replica_has_room() -> None:
    """Store 3 hears of the target, which a split has made, before it hears of that split."""
    stage = Stage((b"", b"k"))
    stage.order(0, lambda: stage.control.transfer_leader(2, 1))
    stage.order(300, lambda: stage.cluster.filters.drop(region=1, dst=3))
    stage.order(300, lambda: stage.cluster.filters.drop(region=2, dst=3))
    stage.order(310, lambda: stage.control.split_region(2, b"t", new_region_id=3))
    stage.prewrite(b"a", 100, at_ns=300 * NS_PER_MS)
    stage.order(400, lambda: order_merge(stage, 1, 3))
    seen: list[list[int]] = []
    stage.order(2_000, lambda: seen.append(sorted(stage.cluster.stores[1].peers)))
    stage.order(2_000, lambda: seen.append(sorted(stage.cluster.stores[3].peers)))
    stage.order(2_000, stage.cluster.filters.clear)
    stage.run(5 * NS_PER_S)
    assert seen == [[2, 3], [1, 2]]
    assert sorted(stage.cluster.stores[3].peers) == [2, 3]
    assert [stage.lock_cf(3, store) for store in (1, 2, 3)] == [[b"a"]] * 3
    assert "merge.catch_up" in stage.diary.marks
