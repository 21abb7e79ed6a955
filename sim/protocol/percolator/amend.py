"""Prewrite's checks of a key whose pessimistic lock is missing, another's, or was never needed.

A pessimistic lock that was lost is *amended*: prewrite goes on without it as long as nobody has
committed on the key since ``start_ts``.

Source: tikv/tikv src/storage/txn/actions/prewrite.rs (check_lock, amend_pessimistic_lock,
check_for_newer_version), src/storage/txn/actions/common.rs (check_committed_record_on_err).
"""

from typing import NamedTuple

from sim.protocol.mvcc import INSERT, PESSIMISTIC, PUT, ROLLBACK, Lock, Mvcc, Write
from sim.protocol.percolator.errors import (
    AlreadyExist,
    ConflictReason,
    KeyIsLocked,
    LockNotFoundReason,
    LockTypeNotMatch,
    MvccError,
    PessimisticLockNotFound,
    WriteConflict,
)
from sim.protocol.percolator.read import is_rollback, newest_data


class TransactionProperties(NamedTuple):
    """What is the same for all keys of one prewrite request."""

    primary: bytes
    start_ts: int
    for_update_ts: int
    ttl_ms: int
    pessimistic: bool
    is_retry: bool


def check_locked(
    key: bytes,
    held: Lock,
    txn: TransactionProperties,
    check: bool,  # noqa: FBT001 - Mutation.pessimistic_check
) -> MvccError | None:
    """Returns why prewrite cannot go on with a lock there; None if it is its own.

    Called for a lock that is another transaction's or already prewritten, and for every lock met
    by an optimistic transaction or a retry.
    """
    if held.start_ts != txn.start_ts:
        if check and txn.pessimistic:
            return PessimisticLockNotFound(key, LockNotFoundReason.LOCK_TS_MISMATCH)
        return KeyIsLocked(key, held, resolve_now=txn.pessimistic)
    if held.kind == PESSIMISTIC and not txn.pessimistic:
        return LockTypeNotMatch(key, txn.start_ts, pessimistic=True)
    return None


def check_for_update_ts(key: bytes, held: Lock, expected: int | None) -> MvccError | None:
    """Refuses a pessimistic lock that was not taken at the timestamp its client expects, if any.

    It was taken by a resend of an older request after the right lock had been lost.
    """
    if held.kind != PESSIMISTIC or expected in {None, held.for_update_ts}:
        return None
    return PessimisticLockNotFound(key, LockNotFoundReason.LOCK_FOR_UPDATE_TS_MISMATCH)


def check_unlocked(
    mvcc: Mvcc,
    key: bytes,
    op: int,
    txn: TransactionProperties,
    check: bool,  # noqa: FBT001 - Mutation.pessimistic_check
) -> MvccError | None:
    """Amends a lost lock, or checks versions as an optimistic prewrite does.

    An unlocked key of a pessimistic transaction (an index entry) needs no check in its first
    prewrite: the row's lock covers it.
    """
    newest = mvcc.writes.get(key)
    if newest is None:
        return None
    if txn.pessimistic and check:
        return amend_pessimistic_lock(key, newest, txn.start_ts)
    if txn.pessimistic and not txn.is_retry:
        return None
    refusal = check_for_newer_version(key, newest, txn)
    if refusal is None and op == INSERT:
        version = newest_data(newest)
        if version is not None and version.kind == PUT:
            return AlreadyExist(key, version.start_ts)
    return refusal


def amend_pessimistic_lock(key: bytes, newest: Write, start_ts: int) -> MvccError | None:
    """Lets a prewrite without its pessimistic lock go on, unless there is a newer record."""
    if newest.commit_ts >= start_ts:
        return PessimisticLockNotFound(key, LockNotFoundReason.LOCK_MISSING_AMEND_FAIL)
    return None


def check_for_newer_version(
    key: bytes, newest: Write, txn: TransactionProperties
) -> MvccError | None:
    """Returns the conflict with the records of a key that was never locked, or None.

    Newer rollbacks of others say nothing to a pessimistic transaction, whose row is locked.
    """
    start_ts = txn.start_ts
    version: Write | None = newest
    while version is not None:
        if version.commit_ts == start_ts and is_rollback(version):
            return _conflict(key, start_ts, version, ConflictReason.SELF_ROLLED_BACK)
        if not txn.pessimistic:
            is_newer = version.commit_ts > start_ts
            return (
                _conflict(key, start_ts, version, ConflictReason.OPTIMISTIC) if is_newer else None
            )
        if version.commit_ts <= txn.for_update_ts:
            return None
        if version.kind != ROLLBACK:
            return PessimisticLockNotFound(key, LockNotFoundReason.NON_LOCK_KEY_CONFLICT)
        version = version.prev
    return None


def committed_before(mvcc: Mvcc, refusal: MvccError, start_ts: int) -> int:
    """Returns the commit_ts if the refused transaction is committed already (a resend), or 0."""
    if not isinstance(refusal, KeyIsLocked | WriteConflict | PessimisticLockNotFound):
        return 0
    return mvcc.commit_ts_of(refusal.key, start_ts)


def _conflict(key: bytes, start_ts: int, newest: Write, reason: ConflictReason) -> WriteConflict:
    return WriteConflict(key, start_ts, newest.start_ts, newest.commit_ts, reason)
