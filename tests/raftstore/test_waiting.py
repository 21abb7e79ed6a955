"""Waiting for another transaction's lock: who is woken when, and what ends a wait otherwise."""

from __future__ import annotations

import pytest

from sim.protocol.percolator import Acquired, KeyIsLocked, WriteConflict
from sim.protocol.region_errors import DiskFull
from sim.server.control import Control
from sim.storage.lock_manager import Deadlock
from sim.storage.request import Kind, KvRequest
from sim.units import NS_PER_MS, NS_PER_S
from tests.scenes import IN_MEMORY, PIPELINED, SYNC, Scene, constant_scenario

LEGACY: dict[str, object] = {"fair_locking": False}
FAIR: dict[str, object] = {"fair_locking": True}
HOLDER, OLDER, YOUNGER = 10 << 18, 20 << 18, 30 << 18
TWO_REGIONS = [b"", b"m"]


def scene(mode: dict[str, object] = IN_MEMORY, tidb: dict[str, object] = LEGACY) -> Scene:
    return Scene(constant_scenario(tikv=mode, tidb=tidb), TWO_REGIONS)


def committing_holder(of: Scene, key: bytes, commit_at_ns: int) -> KvRequest:
    """Locks ``key`` at 0, prewrites at 1 ms, and commits; returns the commit."""
    of.lock(key, HOLDER)
    of.prewrite(key, HOLDER, NS_PER_MS)
    return of.send(Kind.COMMIT, key, HOLDER, commit_at_ns, commit_ts=40 << 18)


@pytest.mark.parametrize("mode", [IN_MEMORY, PIPELINED, SYNC])
def test_the_oldest_transaction_is_woken_first_not_the_first_come(
    mode: dict[str, object],
) -> None:
    of = scene(mode)
    commit = committing_holder(of, b"k", 20 * NS_PER_MS)
    younger = of.lock(b"k", YOUNGER, 2 * NS_PER_MS)
    older = of.lock(b"k", OLDER, 8 * NS_PER_MS)
    of.run(100 * NS_PER_MS)
    assert isinstance(older.result, WriteConflict)
    # commands/commit.rs (v6.0), scheduler.rs on_release_locks: before the commit is proposed.
    assert older.replied_ns == commit.executed_ns < commit.proposed_ns
    assert isinstance(younger.result, WriteConflict)
    assert younger.replied_ns == commit.executed_ns + 20 * NS_PER_MS  # wake-up-delay-duration


def test_a_client_that_was_woken_early_waits_at_the_latch_until_the_release_is_applied() -> None:
    of = scene()
    commit = committing_holder(of, b"k", 20 * NS_PER_MS)
    woken = of.lock(b"k", OLDER, 2 * NS_PER_MS)
    again = of.lock(b"k", OLDER, 20 * NS_PER_MS + 500_000, for_update_ts=50 << 18)
    of.run(100 * NS_PER_MS)
    assert woken.done_ns < again.sent_ns
    assert again.arrived_ns < commit.applied_ns == again.latched_ns
    assert isinstance(again.result, Acquired)


def test_a_release_that_fails_has_woken_those_who_are_not_to_be_resumed() -> None:
    # The commit is processed, and refused when it is to be proposed: the key is still locked.
    of = scene()
    commit = committing_holder(of, b"k", 20 * NS_PER_MS)
    legacy = of.lock(b"k", OLDER, 2 * NS_PER_MS)
    refuse_proposals_from(of, 20 * NS_PER_MS)
    of.run(100 * NS_PER_MS)
    assert isinstance(commit.result, DiskFull)
    assert isinstance(legacy.result, WriteConflict)
    assert of.locked_keys() == [b"k"]


def test_a_release_that_fails_puts_fair_waiters_back_and_their_time_runs_on() -> None:
    of = scene(tidb=FAIR)
    commit = committing_holder(of, b"k", 20 * NS_PER_MS)
    fair = of.lock(b"k", OLDER, 2 * NS_PER_MS, allow_lock_with_conflict=True)
    refuse_proposals_from(of, 20 * NS_PER_MS)
    of.run(100 * NS_PER_MS)
    assert isinstance(commit.result, DiskFull)
    assert not fair.replied_ns
    assert of.cluster.stores[1].scheduler.waits.queues.waiters(b"k")
    of.run(2 * NS_PER_S)
    assert isinstance(fair.result, KeyIsLocked)
    assert fair.waited_ns == NS_PER_S


def refuse_proposals_from(of: Scene, at_ns: int) -> None:
    """Lets the store's disk be full, which the raftstore finds out when it proposes."""
    of.env.at(at_ns, lambda _: Control(of.cluster).fill_disk(1), None)


def test_with_fair_locking_the_oldest_is_carried_out_in_place_and_others_wait_on() -> None:
    of = scene(tidb=FAIR)
    commit = committing_holder(of, b"k", 20 * NS_PER_MS)
    younger = of.lock(b"k", YOUNGER, 2 * NS_PER_MS, allow_lock_with_conflict=True)
    older = of.lock(b"k", OLDER, 3 * NS_PER_MS, allow_lock_with_conflict=True)
    of.run(100 * NS_PER_MS)
    assert isinstance(older.result, Acquired)
    assert older.result.locked_with_conflict_ts == 40 << 18
    # on_write_finished: the release is applied, and its latches pass on.
    assert older.waited_ns == commit.applied_ns - older.arrived_ns - 100_000 + 1
    assert older.latched_ns == commit.applied_ns
    assert younger.result is None or isinstance(younger.result, KeyIsLocked)
    assert not younger.replied_ns


def test_a_resumed_request_has_the_latches_before_one_that_queued_for_them() -> None:
    of = scene(tidb=FAIR)
    commit = committing_holder(of, b"k", 20 * NS_PER_MS)
    fair = of.lock(b"k", YOUNGER, 2 * NS_PER_MS, allow_lock_with_conflict=True)
    newcomer = of.lock(b"k", OLDER, 20 * NS_PER_MS + 500_000, for_update_ts=50 << 18)
    of.run(30 * NS_PER_MS)
    assert newcomer.arrived_ns < commit.applied_ns == fair.latched_ns < newcomer.latched_ns
    assert isinstance(fair.result, Acquired)
    assert isinstance(newcomer.result, KeyIsLocked)


def test_a_commit_wakes_one_waiter_for_each_of_its_keys_and_keeps_no_latch() -> None:
    of = scene(tidb=FAIR)
    keys = (b"a", b"b", b"c")
    for key in keys:
        of.lock(key, HOLDER, primary=b"a")
        of.prewrite(key, HOLDER, NS_PER_MS, primary=b"a")
    commit = of.send(Kind.COMMIT, b"a", HOLDER, 20 * NS_PER_MS, commit_ts=40 << 18, keys=keys)
    waiters = [
        of.lock(key, start_ts, 2 * NS_PER_MS, allow_lock_with_conflict=True)
        for key, start_ts in ((b"a", OLDER), (b"c", YOUNGER))
    ]
    of.run(100 * NS_PER_MS)
    assert {request.latched_ns for request in waiters} == {commit.applied_ns}
    assert all(isinstance(request.result, Acquired) for request in waiters)
    scheduler = of.cluster.stores[1].scheduler
    everything = scheduler.latches.slots_of(keys)
    assert scheduler.latches.acquire(0, everything)


def test_a_resumed_request_that_meets_a_lock_again_keeps_its_first_deadline() -> None:
    # The legacy waiter is older and comes back within the delay, so the fair one meets its lock.
    of = scene()
    of.lock(b"k", HOLDER)
    fair = of.lock(b"k", YOUNGER, 2 * NS_PER_MS, allow_lock_with_conflict=True)
    of.lock(b"k", OLDER, 3 * NS_PER_MS)
    of.send(Kind.PESSIMISTIC_ROLLBACK, b"k", HOLDER, 50 * NS_PER_MS)
    of.lock(b"k", OLDER, 60 * NS_PER_MS)
    of.run(2 * NS_PER_S)
    assert isinstance(fair.result, KeyIsLocked)
    assert fair.result.lock.start_ts == OLDER
    assert fair.replied_ns - fair.arrived_ns < NS_PER_S + NS_PER_MS


def test_a_wait_ends_after_wait_for_lock_timeout_with_the_lock_it_met() -> None:
    of = scene()
    of.lock(b"k", HOLDER)
    waiter = of.lock(b"k", OLDER, NS_PER_MS)
    of.run(2 * NS_PER_S)
    assert isinstance(waiter.result, KeyIsLocked)
    assert waiter.result.lock.start_ts == HOLDER
    assert waiter.waited_ns == NS_PER_S
    assert of.cluster.stores[1].scheduler.waits.waiters == {}


def test_a_cycle_ends_with_a_deadlock_for_the_one_who_closes_it() -> None:
    # "b" < "m" < "y": the detector lives with the first region, the second wait is elsewhere.
    of = scene()
    of.lock(b"b", HOLDER)
    of.lock(b"y", OLDER)
    first = of.lock(b"y", HOLDER, NS_PER_MS, primary=b"b")
    second = of.lock(b"b", OLDER, 2 * NS_PER_MS, primary=b"y")
    of.run(20 * NS_PER_MS)
    assert first.result is None or isinstance(first.result, KeyIsLocked)
    assert isinstance(second.result, Deadlock)
    assert [(e.txn, e.wait_for_txn) for e in second.result.wait_chain] == [
        (HOLDER, OLDER), (OLDER, HOLDER),
    ]  # fmt: skip


def test_a_wait_that_is_over_leaves_the_transactions_other_waits_to_the_detector() -> None:
    of = scene()
    of.lock(b"a", HOLDER)
    of.lock(b"y", OLDER)
    of.lock(b"c", YOUNGER)
    of.lock(b"a", OLDER, NS_PER_MS, primary=b"y")
    of.lock(b"c", OLDER, NS_PER_MS, primary=b"y")
    of.send(Kind.PESSIMISTIC_ROLLBACK, b"a", HOLDER, 5 * NS_PER_MS)
    closing = of.lock(b"y", YOUNGER, 15 * NS_PER_MS, primary=b"c")
    of.run(30 * NS_PER_MS)
    assert isinstance(closing.result, Deadlock)


def test_a_first_lock_cannot_close_a_cycle_and_asks_nobody() -> None:
    of = scene()
    of.lock(b"b", HOLDER)
    of.lock(b"b", OLDER, NS_PER_MS)
    of.run(20 * NS_PER_MS)
    assert of.cluster.detector.table.edges(of.env.now_ns) == []
