"""Sizes of records, against figures derived by hand from TiKV's encoders, and of TiDB's keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.protocol.encoding import (
    NO_VALUE,
    lock_format,
    prewrite_base_bytes,
    put_request_bytes,
    secondaries_bytes,
    varint_len,
    wal_put_bytes,
)
from sim.protocol.keys import encoded_len, index_key, row_key
from sim.protocol.mvcc import DELETE, PUT, Mvcc
from sim.protocol.percolator import (
    Acquired,
    Committed,
    Mutation,
    Prewritten,
    RolledBack,
    acquire_pessimistic_lock,
    commit,
    lock_batch,
    pessimistic_rollback,
    prewrite,
    rollback,
)
from sim.protocol.write_batch import WriteBatch
from tests.record_keys import record_key

V6, V8 = lock_format((6, 0, 0)), lock_format((8, 5, 0))
PRIMARY = record_key(5, 1, 1)

# go-tpc's rows: (key, value bytes, and bytes in a raft entry of lock put, prewrite, commit), as a
# secondary of an async-commit transaction whose primary is a district row; index entries are not
# locked, so their first figure is what a lock would take.
TPCC = {
    "warehouse": (row_key(1, 1), 106, 114, 226, 213),
    "district": (record_key(2, 1, 1), 111, 123, 240, 236),
    "customer": (record_key(3, 1, 1, 1), 597, 133, 797, 139),
    "orders": (record_key(4, 1, 1, 1), 31, 133, 168, 172),
    "new_order": (record_key(5, 1, 1, 1), 6, 133, 143, 147),
    "order_line": (record_key(6, 1, 1, 1, 1), 57, 143, 204, 218),
    "stock": (record_key(7, 1, 1), 334, 123, 515, 121),
    "history": (row_key(8, 1), 75, 114, 195, 182),
    "idx_order": (index_key(4, 1, 1, 1, 1, 1, 1, 1, 1), 3, 188, 194, 254),
    "idx_history": (index_key(8, 1, 1, 1), 1, 133, 138, 142),
}


def written(
    key: bytes, value_bytes: int, *, primary: bytes = PRIMARY, is_async: bool = True
) -> list[WriteBatch]:
    """Returns the batches of a key's life: lock put, prewrite, commit."""
    mvcc = Mvcc(V8)
    locked = acquire_pessimistic_lock(
        mvcc,
        None,
        [key],
        primary=primary,
        start_ts=10,
        for_update_ts=10,
        ttl_ms=20_000,
        min_commit_ts=11,
    )
    assert isinstance(locked, Acquired)
    prewritten = prewrite(
        mvcc,
        None,
        [Mutation(key, PUT, value_bytes)],
        primary=primary,
        start_ts=10,
        for_update_ts=10,
        ttl_ms=20_000,
        use_async_commit=is_async,
    )
    assert isinstance(prewritten, Prewritten)
    mvcc.apply(prewritten.batch)
    committed = commit(mvcc, None, [key], start_ts=10, commit_ts=11)
    assert isinstance(committed, Committed)
    return [lock_batch(locked.locks), prewritten.batch, committed.batch]


@pytest.mark.parametrize("table", list(TPCC))
def test_raft_bytes_of_tpcc_rows(table: str) -> None:
    key, value_bytes, *expected = TPCC[table]
    assert [batch.raft_bytes for batch in written(key, value_bytes)] == expected


def test_a_short_row_by_place() -> None:
    """An order line: 57 B, inside the lock and the write record."""
    lock_put, prewritten, committed = written(*TPCC["order_line"][:2], is_async=False)
    assert [b.wal_bytes for b in (lock_put, prewritten, committed)] == [130, 189, 194]
    assert prewritten.default_cf_bytes == 0
    assert committed.write_cf_bytes == 54 + 1 + 8 + 8 + 69
    assert committed.lock_tombstone_bytes == 54 + 1 + 8


def test_a_long_row_has_a_record_of_its_own() -> None:
    """A stock row: 334 B go to the default CF at prewrite, and not again at commit."""
    _, prewritten, committed = written(*TPCC["stock"][:2], is_async=False)
    assert prewritten.default_cf_bytes == 36 + 1 + 8 + 8 + 334
    assert prewritten.wal_bytes == 495
    assert committed.write_cf_bytes == 36 + 1 + 8 + 8 + 10


def test_one_row_of_120_bytes() -> None:
    """Lock values of an int-handle row: 51 B before last_change, 61 B since, 182 B prewritten."""
    key = row_key(5, 1)
    lock_put, prewritten, committed = written(key, 120, primary=key, is_async=False)
    assert V6.pessimistic(19, 19).lock_value_bytes == 51
    assert lock_put.lock_puts[0][1].sizes.lock_value_bytes == 61
    assert prewritten.lock_puts[0][1].sizes.lock_value_bytes == 182
    batches = (lock_put, prewritten, committed)
    assert sum(b.raft_bytes + 40 for b in batches) == pytest.approx(132 + 257 + 257, rel=0.12)


def test_the_primary_lists_its_secondaries() -> None:
    """NewOrder's 24 keys make the primary's lock about 0.94 KB longer."""
    lines = [record_key(6, 1, 1, 1, number) for number in range(10)]
    stock = [record_key(7, 1, item) for item in range(10)]
    others = (record_key(4, 1, 1, 1), record_key(5, 1, 1, 1), TPCC["idx_order"][0])
    secondaries = (*lines, *stock, *others)
    assert secondaries_bytes(secondaries) == sum(len(key) + 1 for key in secondaries) + 1
    assert 0.92e3 < secondaries_bytes(secondaries) < 0.96e3


@pytest.mark.parametrize("value_bytes", [NO_VALUE, 0, 1, 254, 255, 256, 70_000])
def test_a_batch_counts_the_same_record_by_record(value_bytes: int) -> None:
    """The sums that commands make from shapes equal what the batch's own methods count."""
    key = record_key(6, 1, 2, 3)
    for batch, was_locked in zip(written(key, value_bytes), (True, False, False), strict=True):
        again = WriteBatch(batch.cause)
        for put_key, lock in batch.lock_puts:
            again.put_lock(put_key, lock)
            if not was_locked:
                again.put_value(put_key, lock.value_bytes)
        for put_key, write in batch.write_puts:
            again.put_write(put_key, write)
        for deleted in batch.lock_deletes:
            again.delete_lock(deleted)
        again.keys = batch.keys
        for name in WriteBatch.__slots__:
            assert getattr(again, name) == getattr(batch, name), name


def test_rollbacks() -> None:
    """A pessimistic rollback is one delete; a rollback of a long value deletes that too."""
    key = row_key(5, 1)
    mvcc = Mvcc(V8)
    locked = acquire_pessimistic_lock(
        mvcc, None, [key], primary=key, start_ts=10, for_update_ts=10, ttl_ms=1, min_commit_ts=11
    )
    assert isinstance(locked, Acquired)
    mvcc.apply(lock_batch(locked.locks))
    released = pessimistic_rollback(mvcc, None, [key], 10, 10).batch
    assert (released.raft_bytes, released.lock_tombstone_bytes) == (41, 36)
    assert released.write_cf_bytes == 0
    mutation = Mutation(key, PUT, 300)
    prewritten = prewrite(
        mvcc, None, [mutation], primary=key, start_ts=10, for_update_ts=10, ttl_ms=1
    )
    assert isinstance(prewritten, Prewritten)
    mvcc.apply(prewritten.batch)
    undone = rollback(mvcc, None, [key], 10)
    assert isinstance(undone, RolledBack)
    assert undone.batch.default_cf_bytes == 27 + 8 + 1 + 8


def test_deletes_and_index_locks_carry_no_value() -> None:
    mvcc = Mvcc(V8)
    key = row_key(5, 1)
    deleted = prewrite(
        mvcc,
        None,
        [Mutation(key, DELETE)],
        primary=key,
        start_ts=10,
        for_update_ts=10,
        ttl_ms=1,
    )
    assert isinstance(deleted, Prewritten)
    lock = deleted.batch.lock_puts[0][1]
    assert lock.sizes.lock_value_bytes == prewrite_base_bytes(len(key), False, True) == 60
    assert lock.sizes.write_cf_bytes == 27 + 8 + 1 + 8 + 10


def test_an_optimistic_lock_has_no_for_update_ts_and_a_shorter_ttl() -> None:
    key = row_key(5, 1)
    written = prewrite(
        Mvcc(V8),
        None,
        [Mutation(key, PUT, 20)],
        primary=key,
        start_ts=10,
        for_update_ts=0,
        ttl_ms=3_000,
        pessimistic=False,
    )
    assert isinstance(written, Prewritten)
    lock = written.batch.lock_puts[0][1]
    fields = {"type": 1, "primary": 1 + 19, "start_ts": 9, "ttl": 2, "value": 2 + 20,
              "txn_size": 9, "min_commit_ts": 9}  # fmt: skip
    assert lock.sizes.lock_value_bytes == sum(fields.values())


@pytest.mark.parametrize(
    ("value", "length"), [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3)]
)
def test_varint(value: int, length: int) -> None:
    assert varint_len(value) == length


def test_requests_grow_with_their_lengths() -> None:
    assert put_request_bytes("default", 35, 300) + len("write") + 2 == put_request_bytes(
        "write", 35, 300
    )
    assert wal_put_bytes(27, 61) == 2 + 1 + 28 + 1 + 61


@pytest.mark.parametrize(
    ("version", "accounted", "record"),
    [((6, 0, 0), 94, 51), ((6, 4, 0), 94, 51), ((6, 5, 0), 110, 61), ((7, 2, 0), 126, 61)],
)
def test_locks_grew_with_versions(
    version: tuple[int, int, int], accounted: int, record: int
) -> None:
    sizes = lock_format(version).pessimistic(19, 19)
    assert sizes.memory_bytes == accounted  # 27 B of key, 19 of primary, the struct.
    assert sizes.lock_value_bytes == record


@pytest.mark.parametrize(
    ("key", "raw", "padded"),
    [
        (row_key(1, 7), 19, 27),
        (record_key(1, 7, 8), 29, 36),
        (record_key(1, 7, 8, 9), 38, 45),
        (record_key(1, 7, 8, 9, 10), 47, 54),
        (index_key(1, 2, 7, 8), 37, 45),
        (index_key(1, 2, *range(7)), 82, 99),
    ],
)
def test_key_lengths(key: bytes, raw: int, padded: int) -> None:
    assert (len(key), encoded_len(len(key))) == (raw, padded)


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8),
)
def test_order_of_keys_is_order_of_rows(left: list[int], right: list[int]) -> None:
    assert (left < right) == (record_key(5, *left) < record_key(5, *right))
    assert (left < right) == (index_key(5, 1, *left) < index_key(5, 1, *right))
    assert (left[0] < right[0]) == (row_key(5, left[0]) < row_key(5, right[0]))


def test_keys_as_tidb_writes_them() -> None:
    table = b"t\x80" + bytes(6) + b"\x05"
    assert row_key(5, 1) == table + b"_r\x80" + bytes(6) + b"\x01"
    assert record_key(5, -1) == table + b"_r\x03\x7f" + b"\xff" * 7
    assert index_key(5, 2) == table + b"_i\x80" + bytes(6) + b"\x02"
    assert record_key(5, 1) < index_key(6, 1, 0)
    assert index_key(5, 9, 2**62) < record_key(5, -(2**63)), "a table's indexes lie before its rows"
