"""Handing leadership over, with the locks in memory."""

import pytest

from sim.protocol.lock_table import LocksStatus
from sim.protocol.percolator import Acquired
from sim.protocol.region_errors import NotLeader
from sim.units import NS_PER_MS, NS_PER_S
from tests.raftstore.region_life.stage import Stage


@pytest.mark.parametrize("behaviour", ["rfc77", "v6.0", "v8.5"])
def test_locks_arrive_on_the_new_leader_in_the_lock_cf(behaviour: str) -> None:
    stage = Stage(tikv={"behaviour": behaviour})
    stage.lock(b"k", 100)
    stage.order(5, lambda: stage.control.transfer_leader(1, 2))
    stage.run()
    assert stage.lead(1) == 2
    assert [stage.lock_cf(1, store) for store in (1, 2, 3)] == [[b"k"]] * 3
    assert [stage.memory(1, store) for store in (1, 2, 3)] == [[]] * 3
    assert stage.diary.proposed == [("transfer", [b"k"])]


def test_an_empty_table_costs_no_entries() -> None:
    stage = Stage()
    stage.order(5, lambda: stage.control.transfer_leader(1, 2))
    stage.run(50 * NS_PER_MS)
    assert stage.lead(1) == 2
    log = stage.cluster.peers_of(1)[2].raft.log
    assert log.last_index == 6  # The new leader's own empty entry.
    assert stage.diary.marks[:1] == ["transfer.empty_table"]


def test_a_lock_that_comes_while_the_table_is_closed_is_proposed_and_answered_after_apply() -> None:
    stage = Stage()
    stage.lock(b"a", 100)
    stage.order(1, lambda: stage.cluster.filters.drop("TimeoutNow"))
    stage.order(5, lambda: stage.control.transfer_leader(1, 2))
    late = stage.lock(b"b", 101, at_ns=6 * NS_PER_MS)
    stage.run(50 * NS_PER_MS)
    assert isinstance(late.result, Acquired)
    assert late.fallback == "status"
    assert late.done_ns - late.sent_ns > NS_PER_MS  # An fsync and a round trip more.
    assert (stage.memory(1, 1), stage.lock_cf(1, 1)) == ([b"a"], [b"a", b"b"])


def test_after_a_transfer_that_fails_the_table_opens_again_by_the_ticks() -> None:
    stage = Stage(
        tikv={"reactive_memory_lock_tick_interval_ns": 200 * NS_PER_MS,
              "reactive_memory_lock_timeout_tick": 3}
    )  # fmt: skip
    stage.lock(b"a", 100)
    stage.cluster.filters.drop("TimeoutNow")
    stage.order(5, lambda: stage.control.transfer_leader(1, 2))
    leader = stage.leader(b"a")
    seen = [stage.at(ms * NS_PER_MS, lambda: leader.locks.status) for ms in (300, 600, 1300)]
    stage.run(2 * NS_PER_S)
    closed, opened = LocksStatus.TRANSFERRING_LEADER, LocksStatus.NORMAL
    assert seen == [[closed], [closed], [opened]]
    assert stage.lead(1) == 1
    assert "transfer.reactivated" in stage.diary.marks


def test_while_raft_hands_over_writes_are_refused() -> None:
    stage = Stage()
    stage.cluster.filters.drop("TimeoutNow")
    stage.order(5, lambda: stage.control.transfer_leader(1, 2))
    refused = stage.prewrite(b"k", 100, at_ns=20 * NS_PER_MS)
    stage.run(100 * NS_PER_MS)
    assert refused.result == NotLeader(1, 0)


def test_a_target_that_lags_too_far_is_no_target() -> None:
    stage = Stage(tikv={"leader_transfer_max_log_lag": 0})
    stage.prewrite(b"k", 100)
    stage.order(20, lambda: stage.control.transfer_leader(1, 2))
    stage.run(100 * NS_PER_MS)
    assert stage.lead(1) == 1
    assert "transfer.rejected_lag" in stage.diary.marks


def test_locks_that_fit_into_no_entry_are_lost_without_a_word() -> None:
    stage = Stage(tikv={"raft_entry_max_size_bytes": 50})
    stage.lock(b"k", 100)
    stage.order(5, lambda: stage.control.transfer_leader(1, 2))
    stage.run()
    assert stage.lead(1) == 2
    assert stage.lock_cf(1, 2) == []
    assert ("step_down", [b"k"]) in stage.diary.dropped


def test_a_store_older_than_the_feature_does_not_answer_the_leaders_command() -> None:
    stage = Stage(
        cluster={"store_versions": ("6.0.0", "5.4.0", "6.0.0")}, tikv={"force_in_memory": True}
    )
    stage.lock(b"k", 100)
    stage.order(5, lambda: stage.control.transfer_leader(1, 2))
    stage.run()
    assert stage.lead(1) == 1
    assert stage.memory(1, 1) == stage.lock_cf(1, 2) == [b"k"]
