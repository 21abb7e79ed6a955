"""When a lock request is answered, and when its latches are free again, on each of the paths."""

from __future__ import annotations

import pytest

from sim.protocol.lock_table import LocksStatus
from sim.protocol.mvcc import PESSIMISTIC, PUT
from sim.protocol.percolator import Acquired, Prewritten
from sim.storage.request import Kind, LockPath
from sim.units import NS_PER_MS
from tests.scenes import (
    FSYNC_NS,
    IN_MEMORY,
    ONE_WAY_NS,
    PIPELINED,
    REQUEST_NS,
    SYNC,
    Scene,
    constant_scenario,
)

TXN = 10 << 18
FULL = {"in_memory_peer_size_limit_bytes": 50}


def near(time_ns: int) -> object:
    """Draws of constant CPU costs round down to the nanosecond below."""
    return pytest.approx(time_ns, abs=20)


def test_an_in_memory_lock_is_answered_before_anything_is_proposed() -> None:
    scene = Scene(constant_scenario(tikv=IN_MEMORY))
    lock = scene.lock(b"k", TXN)
    scene.run(NS_PER_MS)
    assert isinstance(lock.result, Acquired)
    assert lock.path is LockPath.IN_MEMORY
    assert lock.done_ns == near(2 * ONE_WAY_NS + REQUEST_NS)
    assert lock.batch is None
    assert scene.counted("proposals", "lock") == 0
    assert scene.cluster.stores[1].raftstore.log.fsyncs == 0


def test_an_in_memory_lock_frees_its_latch_at_once() -> None:
    scene = Scene(constant_scenario(tikv=IN_MEMORY))
    lock = scene.lock(b"k", TXN)
    prewrite = scene.prewrite(b"k", TXN, at_ns=lock.replied_ns + NS_PER_MS // 2)
    scene.run(10 * NS_PER_MS)
    assert isinstance(prewrite.result, Prewritten)
    assert prewrite.latched_ns == prewrite.arrived_ns


def test_a_pipelined_lock_is_answered_when_proposed_but_keeps_its_latch_until_applied() -> None:
    # tikv/tikv issue 8045: the transaction's own prewrite queues behind its lock.
    scene = Scene(constant_scenario(tikv=PIPELINED))
    lock = scene.lock(b"k", TXN)
    prewrite = scene.prewrite(b"k", TXN, at_ns=NS_PER_MS // 2)
    scene.run(10 * NS_PER_MS)
    assert lock.path is LockPath.PIPELINED
    assert lock.replied_ns == lock.proposed_ns == near(ONE_WAY_NS + REQUEST_NS + 10_000)
    assert lock.applied_ns > lock.proposed_ns + FSYNC_NS
    assert prewrite.arrived_ns < prewrite.latched_ns == lock.applied_ns


def test_since_v6_5_the_scheduler_pool_answers_a_pipelined_lock() -> None:
    # tikv/tikv#13854: its threads hear of the proposal, as of all that becomes of a command.
    finish = {"tikv_finish_ns": 30_000}
    old, new = (
        Scene(constant_scenario(tikv=PIPELINED | {"behaviour": release}, cpu=finish))
        for release in ("v6.4", "v6.5")
    )
    early, lock = old.lock(b"k", TXN), new.lock(b"k", TXN)
    old.run(10 * NS_PER_MS)
    new.run(10 * NS_PER_MS)
    assert early.replied_ns == early.proposed_ns == lock.proposed_ns
    assert lock.replied_ns == near(lock.proposed_ns + 30_000)
    assert lock.replied_ns < lock.applied_ns


def test_a_lock_that_fails_once_it_is_proposed_is_answered_first() -> None:
    pipelined = PIPELINED | {"behaviour": "v8.5", "store_io_pool_size": 0}
    scene = Scene(constant_scenario(tikv=pipelined, cpu={"tikv_finish_ns": NS_PER_MS}))
    scene.cluster.failpoints.fail_writes(1, store=0, region=0, proposed=True)
    lock = scene.lock(b"k", TXN)
    scene.run(10 * NS_PER_MS)
    assert isinstance(lock.result, Acquired)
    assert lock.applied_ns == 0
    assert scene.replies == [lock]


def test_a_sync_lock_is_answered_when_applied() -> None:
    scene = Scene(constant_scenario(tikv=SYNC))
    lock = scene.lock(b"k", TXN)
    scene.run(10 * NS_PER_MS)
    assert lock.path is LockPath.SYNC
    assert lock.replied_ns == lock.applied_ns
    # A follower gets the entry, syncs it and answers; 10 us for each of three messages.
    committed_ns = ONE_WAY_NS + REQUEST_NS + 2 * ONE_WAY_NS + FSYNC_NS + 30_000
    assert lock.committed_ns == near(committed_ns)
    assert lock.applied_ns == near(committed_ns + 20_000)


def test_a_lock_has_to_fit_into_the_table_or_falls_back_to_sync() -> None:
    scene = Scene(constant_scenario(tikv=IN_MEMORY | FULL))
    lock = scene.lock(b"k", TXN)
    scene.run(10 * NS_PER_MS)
    assert (lock.path, lock.fallback) == (LockPath.FALLBACK, "full")
    assert lock.replied_ns == lock.applied_ns > 0
    assert scene.counted("proposals", "lock") == 1


def test_the_fallback_is_pipelined_where_the_scenario_says_so() -> None:
    scene = Scene(constant_scenario(tikv=IN_MEMORY | FULL | {"in_memory_fallback": "pipelined"}))
    lock = scene.lock(b"k", TXN)
    scene.run(10 * NS_PER_MS)
    assert (lock.path, lock.fallback) == (LockPath.FALLBACK, "full")
    assert lock.replied_ns == lock.proposed_ns < lock.applied_ns


def test_a_table_that_may_not_be_written_is_passed_by() -> None:
    scene = Scene(constant_scenario(tikv=IN_MEMORY))
    scene.leader(b"k").locks.status = LocksStatus.TRANSFERRING_LEADER
    lock = scene.lock(b"k", TXN)
    scene.run(10 * NS_PER_MS)
    assert lock.fallback == "status"
    assert scene.leader(b"k").state.mvcc.locks[b"k"].kind == PESSIMISTIC


def test_one_instance_limit_is_shared_by_the_regions_of_a_store() -> None:
    limit = {"in_memory_instance_size_limit_bytes": 100}
    scene = Scene(constant_scenario(tikv=IN_MEMORY | limit), [b"", b"b", b"c", b"d"])
    locks = [scene.lock(key, TXN) for key in (b"a", b"d1", b"b1")]
    scene.run(10 * NS_PER_MS)
    # Regions 1 and 4 are led by store 1, region 2 by store 2.
    assert [lock.fallback for lock in locks] == [None, "full", None]


def test_a_memory_lock_is_removed_in_two_steps() -> None:
    scene = Scene(constant_scenario(tikv=IN_MEMORY))
    scene.lock(b"k", TXN)
    prewrite = scene.prewrite(b"k", TXN, at_ns=NS_PER_MS)
    leader = scene.leader(b"k")
    table, records = leader.locks, leader.state.mvcc

    def look() -> tuple[bool, bool, bool]:
        return table.get(b"k") is not None, table.is_deleted(b"k"), b"k" in records.locks

    before = scene.at(NS_PER_MS, look)
    proposed = scene.at(NS_PER_MS + 2 * REQUEST_NS + 5_000, look)
    scene.run(2 * NS_PER_MS)
    assert prewrite.executed_ns > prewrite.applied_ns == 0
    waiting = look()
    scene.run(10 * NS_PER_MS)
    assert before == [(True, False, False)]
    assert proposed == [(True, True, False)]
    assert waiting == (True, True, False)
    assert look() == (False, False, True)
    assert records.locks[b"k"].kind == PUT
    assert table.memory_size == table.instance.used_bytes == 0


def test_a_memory_lock_that_is_rolled_back_costs_a_replicated_delete() -> None:
    scene = Scene(constant_scenario(tikv=IN_MEMORY))
    scene.lock(b"k", TXN)
    rollback = scene.send(Kind.PESSIMISTIC_ROLLBACK, b"k", TXN, NS_PER_MS)
    scene.run(10 * NS_PER_MS)
    assert rollback.replied_ns == rollback.applied_ns > 0
    assert scene.counted("proposals", "rollback") == 1
    assert scene.leader(b"k").locks.map == {}


@pytest.mark.parametrize("mode", [IN_MEMORY, PIPELINED, SYNC])
def test_a_lock_that_is_held_already_is_granted_without_a_proposal(mode: dict[str, object]) -> None:
    scene = Scene(constant_scenario(tikv=mode))
    scene.lock(b"k", TXN)
    again = scene.lock(b"k", TXN, at_ns=5 * NS_PER_MS)
    scene.run(10 * NS_PER_MS)
    assert isinstance(again.result, Acquired)
    assert again.batch is None
