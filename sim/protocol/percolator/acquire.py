"""AcquirePessimisticLock: locks the keys of one statement in one region, all or none.

What is returned is still to be written: into the table in memory, or as a proposal made by
``lock_batch``. Locks of one command share one ``Lock`` object per key length.

Source: tikv/tikv src/storage/txn/actions/acquire_pessimistic_lock.rs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.mvcc import DELETE, PESSIMISTIC, PUT, ROLLBACK, Lock, Mvcc, Write
from sim.protocol.percolator.errors import (
    AlreadyExist,
    ConflictReason,
    KeyIsLocked,
    LockTypeNotMatch,
    MvccError,
    PessimisticLockRolledBack,
    WriteConflict,
)
from sim.protocol.write_batch import LOCK, WriteBatch

NO_LOCKS: dict[bytes, Lock] = {}
"""Stands for the table of a peer that has none; never written."""


class Acquired(NamedTuple):
    """A granted lock request.

    Attributes:
        locks: what must be written; keys that are held already are left out.
        values: payload of each key's newest version, or None.
        locked_with_conflict_ts: commit_ts the lock was taken over, 0 when there was no conflict.
    """

    locks: list[tuple[bytes, Lock]]
    values: list[object]
    locked_with_conflict_ts: int


def acquire_pessimistic_lock(  # noqa: PLR0913 - the request's fields
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    keys: Sequence[bytes],
    *,
    primary: bytes,
    start_ts: int,
    for_update_ts: int,
    ttl_ms: int,
    min_commit_ts: int,
    should_not_exist: bool = False,
    allow_lock_with_conflict: bool = False,
) -> Acquired | MvccError:
    """Returns the locks of ``keys`` to write, or why one of them cannot be had.

    A lock held already is granted again; it is rewritten only for a larger ``for_update_ts``.
    ``allow_lock_with_conflict`` (fair locking) takes effect for a single key.
    """
    table_get = (NO_LOCKS if memory is None else memory.map).get
    locks_get = mvcc.locks.get
    writes_get = mvcc.writes.get
    pessimistic_sizes = mvcc.lock_format.pessimistic
    primary_len = len(primary)
    locks: list[tuple[bytes, Lock]] = []
    values: list[object] = []
    conflict_ts = 0
    lock_len = -1
    for key in keys:
        held = table_get(key)
        if held is None:
            held = locks_get(key)
        if held is not None:
            refusal = _held_refusal(key, held, start_ts)
            if refusal is not None:
                return refusal
        newest = writes_get(key)
        if newest is None:
            values.append(None)
        elif held is None:
            refusal = _version_refusal(key, newest, start_ts, for_update_ts, should_not_exist)
            if refusal is not None:
                if not (allow_lock_with_conflict and isinstance(refusal, WriteConflict)):
                    return refusal
                conflict_ts = for_update_ts = newest.commit_ts
            values.append(newest.value if newest.kind == PUT else _payload(mvcc, key))
        else:
            values.append(_payload(mvcc, key))
        if held is not None and held.for_update_ts >= for_update_ts:
            if allow_lock_with_conflict and held.for_update_ts > for_update_ts:
                conflict_ts = held.for_update_ts
            continue
        if len(key) != lock_len:
            lock_len = len(key)
            lock = Lock(
                PESSIMISTIC,
                primary,
                start_ts,
                ttl_ms,
                for_update_ts,
                min_commit_ts,
                pessimistic_sizes(lock_len, primary_len),
            )
        locks.append((key, lock))
    return Acquired(locks, values, conflict_ts)


def lock_batch(locks: list[tuple[bytes, Lock]], cause: int = LOCK) -> WriteBatch:
    """Returns the proposal that makes locks persistent."""
    batch = WriteBatch(cause)
    batch.lock_puts = locks
    batch.keys = len(locks)
    for _, lock in locks:
        sizes = lock.sizes
        batch.raft_bytes += sizes.put_raft_bytes
        batch.wal_bytes += sizes.put_wal_bytes
        batch.lock_mem_bytes += sizes.lock_mem_bytes
    return batch


def _held_refusal(key: bytes, held: Lock, start_ts: int) -> MvccError | None:
    if held.start_ts != start_ts:
        return KeyIsLocked(key, held)
    if held.kind != PESSIMISTIC:
        return LockTypeNotMatch(key, start_ts, pessimistic=False)
    return None


def _version_refusal(
    key: bytes,
    newest: Write,
    start_ts: int,
    for_update_ts: int,
    should_not_exist: bool,  # noqa: FBT001 - private, hot
) -> MvccError | None:
    """Returns why the versions of ``key`` forbid the lock: rolled back, conflict, existing row."""
    version: Write | None = newest
    while version is not None and version.commit_ts > start_ts:
        version = version.prev
    if version is not None and version.commit_ts == start_ts and is_rollback(version):
        return PessimisticLockRolledBack(key, start_ts)
    if newest.commit_ts > for_update_ts:
        return WriteConflict(
            key, start_ts, newest.start_ts, newest.commit_ts, ConflictReason.PESSIMISTIC_RETRY
        )
    if should_not_exist:
        version = newest
        while version is not None and version.kind > DELETE:
            version = version.prev
        if version is not None and version.kind == PUT:
            return AlreadyExist(key, version.start_ts)
    return None


def is_rollback(write: Write) -> bool:
    """Returns whether the record at ``commit_ts == start_ts`` says "rolled back"."""
    return write.kind == ROLLBACK or write.has_overlapped_rollback


def _payload(mvcc: Mvcc, key: bytes) -> object:
    version = mvcc.newest_value(key)
    return None if version is None else version.value
