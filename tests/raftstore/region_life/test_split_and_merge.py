"""Splitting and merging regions: ranges, epochs, records and locks."""

from sim.protocol.lock_table import LocksStatus
from sim.protocol.region_errors import EpochNotMatch, ProposalInMergingMode
from sim.units import NS_PER_MS, NS_PER_S
from tests.raftstore.region_life.stage import Stage


def routes(stage: Stage) -> list[str]:
    return [str(route.region) for route in stage.cluster.pd.routes.routes]


def test_a_split_moves_each_lock_to_the_table_of_its_region() -> None:
    stage = Stage()
    stage.lock(b"a", 100)
    stage.lock(b"m", 101)
    stage.order(5, lambda: stage.control.split_region(1, b"c"))
    stage.run()
    assert routes(stage) == ["region 2 [-inf, c) v2", "region 1 [c, +inf) v2"]
    assert (stage.memory(2, 1), stage.memory(1, 1)) == ([b"a"], [b"m"])
    assert (stage.lead(2), stage.lead(1)) == (1, 1)
    assert stage.diary.dropped == []


def test_a_split_cuts_the_records_of_every_replica() -> None:
    stage = Stage()
    stage.prewrite(b"a", 100)
    stage.prewrite(b"m", 101)
    stage.order(5, lambda: stage.control.split_region(1, b"c"))
    stage.run()
    for store in (1, 2, 3):
        assert (stage.lock_cf(2, store), stage.lock_cf(1, store)) == ([b"a"], [b"m"])


def test_who_still_believes_in_the_old_region_is_told_the_new_ones() -> None:
    stage = Stage()
    stage.order(5, lambda: stage.control.split_region(1, b"c"))
    old = stage.request(kind=stage.lock(b"q", 90).kind, key=b"a", start_ts=100)
    stage.env.at(50 * NS_PER_MS, stage.node.send, old)
    stage.run()
    assert isinstance(old.result, EpochNotMatch)
    assert list(map(str, old.result.regions)) == ["region 2 [-inf, c) v2", "region 1 [c, +inf) v2"]


def test_a_write_that_meets_a_split_under_way_fails_with_it() -> None:
    stage = Stage()
    stage.order(5, lambda: stage.control.split_region(1, b"c"))
    met = stage.prewrite(b"a", 100, at_ns=5 * NS_PER_MS)
    stage.run()
    assert isinstance(met.result, EpochNotMatch)
    assert "propose.conflict" in stage.diary.marks
    assert stage.lock_cf(2, 1) == []


def merged(stage: Stage, at_ms: float = 20) -> Stage:
    stage.order(at_ms, lambda: stage.control.merge_region(1, 2))
    return stage


def two_regions_on_one_store(**settings: object) -> Stage:
    stage = Stage((b"", b"m"), **settings)  # type: ignore[arg-type]
    stage.order(0, lambda: stage.control.transfer_leader(2, 1))
    return stage


def test_a_merge_takes_the_sources_locks_into_the_targets_lock_cf() -> None:
    stage = merged(two_regions_on_one_store(), 300)
    stage.lock(b"a", 100, at_ns=200 * NS_PER_MS)
    stage.lock(b"q", 101, at_ns=200 * NS_PER_MS, store=1)
    stage.run(4 * NS_PER_S)
    assert routes(stage) == ["region 2 [-inf, +inf) v3"]
    assert (stage.lock_cf(2, 1), stage.memory(2, 1)) == ([b"a"], [b"q"])
    assert [stage.lock_cf(2, store) for store in (2, 3)] == [[b"a"]] * 2
    assert stage.diary.proposed == [("merge", [b"a"])]


def test_behind_the_fence_nothing_else_is_proposed() -> None:
    stage = merged(two_regions_on_one_store(), 300)
    stage.lock(b"a", 100, at_ns=200 * NS_PER_MS)
    stage.prewrite(b"b", 101, at_ns=299_750_000)  # In the log, not applied, when the merge comes.
    late = stage.prewrite(b"c", 102, at_ns=300 * NS_PER_MS)
    stage.run(4 * NS_PER_S)
    assert isinstance(late.result, ProposalInMergingMode | EpochNotMatch)
    assert "merge.fenced" in stage.diary.marks
    assert stage.lock_cf(2, 1) == [b"a", b"b"]


def test_regions_on_different_stores_do_not_merge() -> None:
    stage = Stage((b"", b"m"), cluster={"stores": 4, "store_versions": ("6.0.0",) * 4})
    merged(stage).run(4 * NS_PER_S)
    assert len(routes(stage)) == 2


def test_a_merge_whose_target_changes_first_is_taken_back_and_the_table_opens() -> None:
    stage = two_regions_on_one_store()
    stage.lock(b"a", 100, at_ns=200 * NS_PER_MS)
    # The target is split while the source prepares, so it is not what the merge was meant for.
    stage.order(299.9, lambda: stage.control.split_region(2, b"t"))
    merged(stage, 300).run(8 * NS_PER_S)
    assert "merge.rolled_back" in stage.diary.marks
    assert stage.leader(b"a").locks.status is LocksStatus.NORMAL
    assert stage.lock_cf(1, 1) == stage.memory(1, 1) == [b"a"]
