"""What a session makes of waiting for another transaction's lock: it tries again, or gives up."""

from __future__ import annotations

import pytest

from sim.units import NS_PER_MS, NS_PER_S
from sim.workload.statement import Statement
from tests.raftstore.test_waiting import FAIR, LEGACY, scene
from tests.scenes import script, update


@pytest.mark.parametrize("tidb", [LEGACY, FAIR])
def test_a_session_that_waited_tries_its_statement_again_and_commits(
    tidb: dict[str, object],
) -> None:
    of = scene(tidb=tidb)
    for _ in range(3):
        of.begin(script(update(b"k")))
    of.run(NS_PER_S)
    assert of.counted("txns", "t") == 3
    # A woken waiter without fair locking gets a WriteConflict, and its client tries again.
    assert (of.counted("statement_retries") > 0) is (tidb is LEGACY)
    assert of.stats.lock_wait.count > 0
    assert of.locked_keys() == []


def test_a_newer_version_sends_the_statement_back_for_a_newer_timestamp() -> None:
    of = scene()
    stale = Statement("update", (), (b"k",), update(b"k").writes)
    slow = Statement("something else first")
    of.begin(script(slow, slow, slow, slow, stale, name="stale"))
    of.begin(script(update(b"k"), name="quick"))
    of.run(NS_PER_S)
    assert of.counted("txns", "stale") == of.counted("txns", "quick") == 1
    assert of.counted("statement_retries") == 1


def test_the_lock_of_a_vanished_client_is_resolved_when_its_time_to_live_is_over() -> None:
    of = scene()
    of.lock(b"k", 1, lock_ttl_ms=1_500)
    of.begin(script(update(b"k")), 10 * NS_PER_MS)
    of.run(5 * NS_PER_S)
    # Two waits of a second; after the second one the lock has expired.
    assert of.counted("txns", "t") == 1
    assert of.counted("proposals", "rollback") > 0
    latency = of.recorder.series("txn_latency", "t")
    assert 2 * NS_PER_S < latency.max < 2.1 * NS_PER_S


def test_an_expired_secondary_whose_primary_is_gone_is_resolved_too() -> None:
    of = scene()
    of.lock(b"k", 1, lock_ttl_ms=500, primary=b"never locked")
    of.begin(script(update(b"k")), 10 * NS_PER_MS)
    of.run(5 * NS_PER_S)
    assert of.counted("txns", "t") == 1


def test_a_living_holder_makes_the_statement_time_out() -> None:
    of = scene(tidb=LEGACY | {"innodb_lock_wait_timeout_ns": 3 * NS_PER_S})
    of.lock(b"k", 1)
    of.begin(script(update(b"k")), 10 * NS_PER_MS)
    of.run(10 * NS_PER_S)
    assert of.counted("txn_aborts", "lock_wait_timeout") == 1
    # Lock requests push nobody's min_commit_ts: the holder's lock stays in memory.
    assert of.counted("proposals", "heartbeat") == 0


@pytest.mark.parametrize("tidb", [LEGACY, FAIR])
def test_conflicts_send_a_statement_back_and_its_wait_goes_on(tidb: dict[str, object]) -> None:
    """TiDB, GetLockWaitStartTime: the limit counts from the statement's first lock request."""
    of = scene(tidb=tidb | {"innodb_lock_wait_timeout_ns": NS_PER_S})
    think = Statement("think", pause_ns=150 * NS_PER_MS)
    for number in range(20):  # a row that each holds for 150 ms, so that each waits for all before
        of.begin(script(update(b"k"), think), number * NS_PER_MS)
    of.run(5 * NS_PER_S)
    assert of.counted("txns", "t") == 7
    assert of.counted("txn_aborts", "lock_wait_timeout") == 13
    assert of.locked_keys() == []


def test_an_aborted_statement_frees_what_it_has_locked_in_other_regions() -> None:
    of = scene(tidb=LEGACY | {"innodb_lock_wait_timeout_ns": NS_PER_S})
    of.lock(b"y", 1)
    of.begin(script(update(b"a"), update(b"c", b"y")), 10 * NS_PER_MS)
    of.run(5 * NS_PER_S)
    assert of.counted("txn_aborts", "lock_wait_timeout") == 1
    assert of.locked_keys() == [b"y"]
    assert list(of.cluster.tso.running) == []


def test_a_statement_whose_own_locks_close_a_circle_gives_them_back_and_tries_again() -> None:
    """client-go txn.go, LockKeys: such a deadlock is retryable, and no error for the client.

    "c" is locked before "y", of another region. Where the other session asks for "c" in between,
    the statement closes the circle; where it asks later, that session does, with "y" of before.
    """
    ends = set()
    for step in range(12, 28, 4):
        of = scene()
        of.begin(script(update(b"y"), update(b"c"), name="one by one"))
        of.begin(script(update(b"c", b"y"), name="both"), step * NS_PER_MS // 20)
        of.run(2 * NS_PER_S)
        assert of.counted("txns", "both") == 1
        assert of.locked_keys() == []
        ends.add((of.counted("txn_aborts", "deadlock"), of.counted("statement_retries")))
    # The other's deadlock; its own, and then the newer version; the newer version alone.
    assert ends == {(1, 1), (0, 2), (0, 1)}


def test_a_deadlock_rolls_one_session_back_and_lets_the_other_commit() -> None:
    of = scene()
    of.begin(script(update(b"a"), update(b"y"), name="up"))
    of.begin(script(update(b"y"), update(b"a"), name="down"))
    of.run(5 * NS_PER_S)
    assert of.counted("txn_aborts", "deadlock") == 1
    assert of.counted("txns", "up") + of.counted("txns", "down") == 1
    assert of.locked_keys() == []
