"""Commit: turns a transaction's 2PC locks into versions.

Source: tikv/tikv src/storage/txn/actions/commit.rs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.mvcc import PESSIMISTIC, ROLLBACK, Mvcc, Write
from sim.protocol.percolator.errors import (
    CommitTsExpired,
    InvalidTxnTso,
    MvccError,
    TxnLockNotFound,
)
from sim.protocol.percolator.read import NO_LOCKS
from sim.protocol.write_batch import COMMIT, WriteBatch


class Committed(NamedTuple):
    """A commit that succeeded; the batch is empty if it had happened before."""

    batch: WriteBatch


def commit(
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    keys: Sequence[bytes],
    *,
    start_ts: int,
    commit_ts: int,
) -> Committed | MvccError:
    """Commits ``keys``, all or none; a key committed before counts as done."""
    if commit_ts <= start_ts:
        return InvalidTxnTso(start_ts, commit_ts)
    return commit_locks(mvcc, memory, keys, start_ts=start_ts, commit_ts=commit_ts)


def commit_locks(
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    keys: Sequence[bytes],
    *,
    start_ts: int,
    commit_ts: int,
) -> Committed | MvccError:
    """Commits ``keys`` at a timestamp that somebody has checked.

    A pessimistic lock is removed, not committed: the transaction did not write the key.
    """
    table_get = (NO_LOCKS if memory is None else memory.map).get
    locks_get = mvcc.locks.get
    batch = WriteBatch(COMMIT)
    puts = batch.write_puts
    deletes = batch.lock_deletes
    raft = wal = tombstones = write_cf = 0
    for key in keys:
        lock = table_get(key)
        if lock is None:
            lock = locks_get(key)
        if lock is None or lock.start_ts != start_ts:
            record = mvcc.find_by_start_ts(key, start_ts)
            if record is None or record.kind == ROLLBACK:
                return TxnLockNotFound(key, start_ts, commit_ts)
            continue
        if commit_ts < lock.min_commit_ts:
            return CommitTsExpired(key, start_ts, commit_ts, lock.min_commit_ts)
        sizes = lock.sizes
        deletes.append(key)
        tombstones += sizes.tombstone_bytes
        kind = lock.kind
        if kind == PESSIMISTIC:
            raft += sizes.delete_raft_bytes
            wal += sizes.delete_wal_bytes
            continue
        puts.append((key, Write(kind, start_ts, commit_ts, lock.value_bytes, lock.value)))
        raft += sizes.commit_raft_bytes
        wal += sizes.commit_wal_bytes
        write_cf += sizes.write_cf_bytes
    batch.keys = len(deletes) + len(puts)
    batch.raft_bytes = raft
    batch.wal_bytes = wal
    batch.lock_tombstone_bytes = tombstones
    batch.write_cf_bytes = write_cf
    return Committed(batch)
