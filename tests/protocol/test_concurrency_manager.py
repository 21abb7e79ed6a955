"""The latest read of a store, and the prewrites under way that later readers must find."""

from hypothesis import given
from hypothesis import strategies as st

from sim.protocol.concurrency_manager import ConcurrencyManager
from sim.protocol.mvcc import PUT, Mvcc
from sim.protocol.percolator import KeyIsLocked, Mutation, Prewritten, lock_blocking_keys, prewrite
from sim.protocol.timestamp import MAX_TS


@given(st.lists(st.integers(0, 100) | st.just(MAX_TS)))
def test_max_ts_is_the_latest_time_and_never_falls(reads: list[int]) -> None:
    manager = ConcurrencyManager()
    for count, ts in enumerate(reads, start=1):
        manager.update_max_ts(ts)
        assert manager.max_ts == max([0, *(ts for ts in reads[:count] if ts != MAX_TS)])


def async_prewrite(mvcc: Mvcc, manager: ConcurrencyManager, start_ts: int) -> Prewritten:
    prewritten = prewrite(
        mvcc,
        None,
        [Mutation(b"k", PUT, 1, pessimistic_check=False)],
        primary=b"k",
        start_ts=start_ts,
        for_update_ts=start_ts,
        ttl_ms=3000,
        use_async_commit=True,
        async_commit_secondaries=(),
        max_ts=manager.max_ts,
    )
    assert isinstance(prewritten, Prewritten)
    return prewritten


def test_an_async_commit_lies_above_every_earlier_read() -> None:
    mvcc, manager = Mvcc(), ConcurrencyManager()
    manager.update_max_ts(50)
    assert async_prewrite(mvcc, manager, 10).min_commit_ts == 51


def test_later_readers_meet_the_lock_from_the_prewrite_on() -> None:
    """Before it is applied the lock is in memory; then it is in the lock CF."""
    mvcc, manager = Mvcc(), ConcurrencyManager()
    batch = async_prewrite(mvcc, manager, 10).batch
    manager.lock_keys(batch.lock_puts)
    assert isinstance(lock_blocking_keys(mvcc, manager.locks, [b"k"], 20), KeyIsLocked)
    mvcc.apply(batch)
    manager.unlock_keys(batch.lock_puts)
    assert manager.locks == {}
    assert isinstance(lock_blocking_keys(mvcc, manager.locks, [b"k"], 20), KeyIsLocked)


def test_a_prewrite_that_fails_leaves_no_lock_behind() -> None:
    mvcc, manager = Mvcc(), ConcurrencyManager()
    batch = async_prewrite(mvcc, manager, 10).batch
    manager.lock_keys(batch.lock_puts)
    manager.unlock_keys(batch.lock_puts)
    assert lock_blocking_keys(mvcc, manager.locks, [b"k"], 20) is None
