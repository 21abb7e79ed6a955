"""AcquirePessimisticLock: locks the keys of one statement in one region, all or none.

What is returned is still to be written: into the table in memory, or as a proposal made by
``lock_batch``. Locks of one command share one ``Lock`` object per key length.

Source: tikv/tikv src/storage/txn/actions/acquire_pessimistic_lock.rs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.mvcc import PESSIMISTIC, PUT, Lock, Mvcc, Write
from sim.protocol.percolator.errors import (
    AlreadyExist,
    ConflictReason,
    KeyIsLocked,
    LockTypeNotMatch,
    MvccError,
    PessimisticLockRolledBack,
    WriteConflict,
)
from sim.protocol.percolator.read import NO_LOCKS, is_rollback, load_lock, newest_data
from sim.protocol.write_batch import LOCK, WriteBatch


@dataclass(slots=True, eq=False)
class Acquired:
    """A granted lock request.

    Attributes:
        locks: what must be written; keys that are held already are left out.
        values: payload of each key's newest version, or None.
        locked_with_conflict_ts: commit_ts the lock was taken over, 0 when there was no conflict.
    """

    locks: list[tuple[bytes, Lock]]
    values: list[object]
    locked_with_conflict_ts: int


def acquire_pessimistic_lock(  # noqa: C901, PLR0913 - one pass, no calls on the usual path
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

    A lock held already is granted again, rewritten only for a larger ``for_update_ts``; in fair
    locking (``allow_lock_with_conflict``, one key) a newer version raises ``for_update_ts``.
    """
    conflict_ts = 0
    at_ts = for_update_ts if should_not_exist else None
    if allow_lock_with_conflict:
        conflict_ts = _conflict_ts(mvcc, memory, keys, start_ts, for_update_ts)
        for_update_ts = conflict_ts or for_update_ts
    table_get = (NO_LOCKS if memory is None else memory.map).get
    locks_get = mvcc.locks.get
    locks: list[tuple[bytes, Lock]] = []
    values: list[object] = []
    lock, lock_len = None, 0
    for key in keys:
        held = table_get(key)
        if held is None:
            held = locks_get(key)
        newest = mvcc.writes.get(key)
        if held is not None and (held.start_ts != start_ts or held.kind != PESSIMISTIC):
            return _held_refusal(key, held, start_ts)
        if newest is not None:
            seen = _version_seen(key, held, newest, start_ts, for_update_ts, at_ts)
            if isinstance(seen, MvccError):
                return seen
            newest = seen
        values.append(None if newest is None else _payload(newest))
        if held is not None and held.for_update_ts >= for_update_ts:
            continue
        if lock is None or len(key) != lock_len:
            lock_len = len(key)
            sizes = mvcc.lock_format.pessimistic(lock_len, len(primary))
            lock = Lock(PESSIMISTIC, primary, start_ts, ttl_ms, for_update_ts, min_commit_ts, sizes)
        fair = conflict_ts or (held is not None and held.is_locked_with_conflict)
        locks.append((key, lock.with_conflict() if fair else lock))
    return Acquired(locks, values, conflict_ts)


def _version_seen(
    key: bytes,
    held: Lock | None,
    newest: Write,
    start_ts: int,
    for_update_ts: int,
    at_ts: int | None,
) -> Write | MvccError | None:
    """Returns the newest record that the lock request sees of a key, or what forbids the lock.

    Args:
        key: to be locked.
        held: the transaction's lock on it, if it has one.
        newest: the newest record of the key.
        start_ts: the transaction.
        for_update_ts: of the lock, raised if it is taken with conflict.
        at_ts: the requested for_update_ts if the row must not exist, or None.
    """
    seen: Write | None = newest
    if held is None:
        refusal = _version_refusal(key, newest, start_ts, for_update_ts)
        if refusal is not None:
            return refusal
    else:
        seen = _newest_data_at(newest, for_update_ts)
    if at_ts is not None:
        refusal = _row_refusal(key, seen, start_ts, at_ts)
        if refusal is not None:
            return refusal
    return seen


def lock_batch(locks: list[tuple[bytes, Lock]], cause: int = LOCK) -> WriteBatch:
    """Returns the proposal that makes locks persistent."""
    batch = WriteBatch(cause)
    batch.lock_puts = locks
    raft = wal = 0
    for _, lock in locks:
        sizes = lock.sizes
        raft += sizes.put_raft_bytes
        wal += sizes.put_wal_bytes
    batch.charge_puts(raft, wal, 0, 0)
    return batch


def _conflict_ts(
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    keys: Sequence[bytes],
    start_ts: int,
    for_update_ts: int,
) -> int:
    """Returns the newer timestamp a lock is, or must be, taken over; 0 if there is none."""
    assert len(keys) == 1, "fair locking is for single keys"
    key = keys[0]
    held = load_lock(mvcc, memory, key)
    if held is not None:
        newer_ts = held.for_update_ts if held.start_ts == start_ts else 0
    else:
        newest = mvcc.writes.get(key)
        newer_ts = 0 if newest is None else newest.commit_ts
    return newer_ts if newer_ts > for_update_ts else 0


def _held_refusal(key: bytes, held: Lock, start_ts: int) -> MvccError:
    if held.start_ts != start_ts:
        return KeyIsLocked(key, held)
    return LockTypeNotMatch(key, start_ts, pessimistic=False)


def _version_refusal(
    key: bytes, newest: Write, start_ts: int, for_update_ts: int
) -> MvccError | None:
    """Returns why the versions of ``key`` forbid the lock: a newer one, or a rollback."""
    if newest.commit_ts > for_update_ts:
        return WriteConflict(
            key, start_ts, newest.start_ts, newest.commit_ts, ConflictReason.PESSIMISTIC_RETRY
        )
    version: Write | None = newest
    while version is not None and version.commit_ts > start_ts:
        version = version.prev
    if version is not None and version.commit_ts == start_ts and is_rollback(version):
        return PessimisticLockRolledBack(key, start_ts)
    return None


def _row_refusal(
    key: bytes, newest: Write | None, start_ts: int, requested_ts: int
) -> MvccError | None:
    """Returns why ``key`` may not be inserted: there is a row, perhaps newer than was asked for."""
    row = newest_data(newest)
    if newest is None or row is None or row.kind != PUT:
        return None
    if newest.commit_ts > requested_ts:
        return WriteConflict(
            key, start_ts, newest.start_ts, newest.commit_ts, ConflictReason.PESSIMISTIC_RETRY
        )
    return AlreadyExist(key, row.start_ts)


def _newest_data_at(newest: Write, ts: int) -> Write | None:
    """Returns the newest PUT or DELETE at or before ``ts``: what a lock that is held reads."""
    version: Write | None = newest
    while version is not None and version.commit_ts > ts:
        version = version.prev
    return newest_data(version)


def _payload(newest: Write) -> object:
    data = newest_data(newest)
    return None if data is None else data.value
