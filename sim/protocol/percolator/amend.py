"""What prewrite asks of a key whose pessimistic lock is missing, not its own, or never needed.

Source: tikv/tikv src/storage/txn/actions/prewrite.rs (check_lock, amend_pessimistic_lock,
check_for_newer_version), src/storage/txn/actions/common.rs (check_committed_record_on_err).
"""

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

Txn = tuple[bytes, int, int, int, bool, bool]
"""primary, start_ts, for_update_ts, ttl_ms, pessimistic, is_retry."""


def check_locked(
    key: bytes,
    held: Lock,
    txn: Txn,
    check: bool,  # noqa: FBT001 - Mutation.pessimistic_check
) -> MvccError | None:
    """Judges a lock that is another transaction's, or not pessimistic; None: own, prewritten."""
    _, start_ts, _, _, pessimistic, _ = txn
    if held.start_ts != start_ts:
        if check and pessimistic:
            return PessimisticLockNotFound(key, LockNotFoundReason.LOCK_TS_MISMATCH)
        return KeyIsLocked(key, held, resolve_now=pessimistic)
    if held.kind == PESSIMISTIC and not pessimistic:
        return LockTypeNotMatch(key, start_ts, pessimistic=True)
    return None


def check_unlocked(
    mvcc: Mvcc,
    key: bytes,
    op: int,
    txn: Txn,
    check: bool,  # noqa: FBT001 - Mutation.pessimistic_check
) -> MvccError | None:
    """Judges a key without lock: amends a lost one, or checks versions as an optimistic prewrite.

    An unlocked key of a pessimistic transaction (an index entry) needs no check in its first
    prewrite: the row's lock covers it.
    """
    newest = mvcc.writes.get(key)
    _, start_ts, _, _, pessimistic, is_retry = txn
    if newest is None:
        return None
    if pessimistic and check:
        if newest.commit_ts >= start_ts:
            return PessimisticLockNotFound(key, LockNotFoundReason.LOCK_MISSING_AMEND_FAIL)
        return None
    if pessimistic and not is_retry:
        return None
    refusal = _newer_version(key, newest, txn)
    if refusal is None and op == INSERT:
        version = newest_data(newest)
        if version is not None and version.kind == PUT:
            return AlreadyExist(key, version.start_ts)
    return refusal


def _newer_version(key: bytes, newest: Write, txn: Txn) -> MvccError | None:
    _, start_ts, for_update_ts, _, pessimistic, _ = txn
    if newest.commit_ts == start_ts and is_rollback(newest):
        return _conflict(key, start_ts, newest, ConflictReason.SELF_ROLLED_BACK)
    if pessimistic and newest.commit_ts > for_update_ts:
        return PessimisticLockNotFound(key, LockNotFoundReason.NON_LOCK_KEY_CONFLICT)
    if not pessimistic and newest.commit_ts > start_ts:
        return _conflict(key, start_ts, newest, ConflictReason.OPTIMISTIC)
    return None


def committed_before(mvcc: Mvcc, refusal: MvccError, start_ts: int) -> int:
    """Returns the commit_ts if the refused transaction is committed already (a resend), or 0."""
    if not isinstance(refusal, KeyIsLocked | WriteConflict | PessimisticLockNotFound):
        return 0
    record = mvcc.find_by_start_ts(refusal.key, start_ts)
    return 0 if record is None or record.kind == ROLLBACK else record.commit_ts


def _conflict(key: bytes, start_ts: int, newest: Write, reason: ConflictReason) -> WriteConflict:
    return WriteConflict(key, start_ts, newest.start_ts, newest.commit_ts, reason)
