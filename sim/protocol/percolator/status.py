"""TxnHeartBeat, CheckTxnStatus, ResolveLock, CheckSecondaryLocks: finding out how a txn stands.

Source: tikv/tikv src/storage/txn/actions/check_txn_status.rs, src/storage/txn/commands/
{txn_heart_beat,check_txn_status,resolve_lock,check_secondary_locks}.rs.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.mvcc import PESSIMISTIC, ROLLBACK, Lock, Mvcc
from sim.protocol.percolator.commit import Committed, commit_locks
from sim.protocol.percolator.errors import InvalidTxnTso, MvccError, PrimaryMismatch, TxnNotFound
from sim.protocol.percolator.read import NO_LOCKS, load_lock
from sim.protocol.percolator.rollback import (
    RolledBack,
    has_expired,
    put_rollback,
    rollback,
    rollback_lock,
)
from sim.protocol.timestamp import MAX_TS
from sim.protocol.write_batch import HEARTBEAT, WriteBatch
from sim.protocol.write_batch import ROLLBACK as ROLLBACK_CAUSE


class Beat(NamedTuple):
    """A heartbeat that succeeded: what to write, and the lock's time to live from now on."""

    batch: WriteBatch
    ttl_ms: int


class TxnAction(Enum):
    """What CheckTxnStatus found or did."""

    UNCOMMITTED = "Uncommitted"
    MIN_COMMIT_TS_PUSHED = "MinCommitTsPushed"
    COMMITTED = "Committed"
    ROLLED_BACK = "RolledBack"
    TTL_EXPIRE_ROLLBACK = "TtlExpire"
    TTL_EXPIRE_PESSIMISTIC_ROLLBACK = "PessimisticRollBack"
    LOCK_NOT_EXIST_ROLLBACK = "LockNotExist"
    LOCK_NOT_EXIST_DO_NOTHING = "LockNotExistDoNothing"


class TxnStatus(NamedTuple):
    """State of a transaction as its primary says; ``batch`` is what the command has to write."""

    action: TxnAction
    batch: WriteBatch
    lock: Lock | None = None
    commit_ts: int = 0


class SecondaryLocks(NamedTuple):
    """State of an async-commit transaction's secondaries.

    Attributes:
        locks: the prewritten locks, when all are there.
        commit_ts: of a transaction found committed; 0 otherwise.
        rolled_back: one of them is missing: the transaction cannot commit any more.
    """

    batch: WriteBatch
    locks: list[Lock]
    commit_ts: int
    rolled_back: bool


def txn_heart_beat(
    mvcc: Mvcc, memory: PeerPessimisticLocks | None, primary: bytes, start_ts: int, ttl_ms: int
) -> Beat | MvccError:
    """Extends the life of a transaction's primary lock; a lock in memory moves to the lock CF."""
    held = load_lock(mvcc, memory, primary)
    if held is None or held.start_ts != start_ts:
        return TxnNotFound(primary, start_ts)
    batch = WriteBatch(HEARTBEAT)
    if held.ttl_ms < ttl_ms:
        batch.put_lock(primary, held.with_ttl(ttl_ms))
    return Beat(batch, max(held.ttl_ms, ttl_ms))


def check_txn_status(  # noqa: PLR0913 - the request's fields
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    primary: bytes,
    *,
    start_ts: int,
    caller_start_ts: int,
    current_ts: int,
    rollback_if_not_exist: bool = False,
    force_sync_commit: bool = False,
    resolving_pessimistic_lock: bool = False,
) -> TxnStatus | MvccError:
    """Returns the state of the transaction ``start_ts``; rolls it back if its lock has expired.

    Args:
        mvcc: the region's records.
        memory: the leader's table of pessimistic locks, if it has one.
        primary: primary key of the transaction.
        start_ts: the transaction.
        caller_start_ts: the blocked reader; a live lock's min_commit_ts is pushed past it.
        current_ts: timestamp of now.
        rollback_if_not_exist: write a protected rollback when nothing is found.
        force_sync_commit: treat an async-commit lock as an ordinary one.
        resolving_pessimistic_lock: the caller met a pessimistic lock; leave no record.
    """
    held = load_lock(mvcc, memory, primary)
    batch = WriteBatch(ROLLBACK_CAUSE)
    if held is None or held.start_ts != start_ts:
        return _missing_lock(
            batch, mvcc, primary, start_ts, rollback_if_not_exist, resolving_pessimistic_lock
        )
    if held.primary != primary:
        return _other_primary(
            batch, mvcc, primary, held, rollback_if_not_exist, resolving_pessimistic_lock
        )
    if held.use_async_commit and not force_sync_commit:
        return TxnStatus(TxnAction.UNCOMMITTED, batch, held)
    if held.is_locked_with_conflict:
        ended = _ended(batch, mvcc, primary, start_ts)
        if ended is not None:
            batch.delete_lock(primary)
            return ended
    if has_expired(held, current_ts):
        if resolving_pessimistic_lock and held.kind == PESSIMISTIC:
            batch.delete_lock(primary)
            return TxnStatus(TxnAction.TTL_EXPIRE_PESSIMISTIC_ROLLBACK, batch, held)
        rollback_lock(batch, mvcc, primary, held)
        return TxnStatus(TxnAction.TTL_EXPIRE_ROLLBACK, batch, held)
    return _push_min_commit_ts(primary, held, caller_start_ts, current_ts)


def resolve_lock(
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    keys: Sequence[bytes],
    *,
    start_ts: int,
    commit_ts: int,
) -> Committed | RolledBack | MvccError:
    """Finishes a transaction on ``keys`` as its primary says: commit_ts, or 0 for rolled back."""
    own = [key for key in keys if _is_own(load_lock(mvcc, memory, key), start_ts)]
    if commit_ts:
        return commit_locks(mvcc, memory, own, start_ts=start_ts, commit_ts=commit_ts)
    return rollback(mvcc, memory, own, start_ts)


def check_secondary_locks(
    mvcc: Mvcc, memory: PeerPessimisticLocks | None, keys: Sequence[bytes], start_ts: int
) -> SecondaryLocks:
    """Asks whether all secondaries are prewritten; one that is not is rolled back, protected."""
    batch = WriteBatch(ROLLBACK_CAUSE)
    locks: list[Lock] = []
    for key in keys:
        held = load_lock(mvcc, memory, key)
        own = held is not None and held.start_ts == start_ts
        if own and held is not None and held.kind != PESSIMISTIC:
            locks.append(held)
            continue
        record = mvcc.find_by_start_ts(key, start_ts)
        if own:
            batch.delete_lock(key)
        if record is not None and record.kind != ROLLBACK:
            return SecondaryLocks(batch, [], record.commit_ts, rolled_back=False)
        if record is None:
            put_rollback(batch, mvcc, key, start_ts, protect=True)
        return SecondaryLocks(batch, [], 0, rolled_back=True)
    return SecondaryLocks(batch, locks, 0, rolled_back=False)


def locks_of(mvcc: Mvcc, memory: PeerPessimisticLocks | None, start_ts: int) -> list[bytes]:
    """Returns the keys a transaction has locked here, ascending (PessimisticRollback's scan)."""
    table = NO_LOCKS if memory is None else memory.map
    in_memory = [key for key, lock in table.items() if lock.start_ts == start_ts]
    return sorted({*_stored_locks_of(mvcc, start_ts), *in_memory})


def locks_to_resolve(mvcc: Mvcc, start_ts: int, commit_ts: int) -> list[bytes] | MvccError:
    """Returns which locks of a transaction a ResolveLock without keys finds, ascending.

    It looks for them in the lock CF; it does not see those in memory.

    Source: tikv/tikv src/storage/txn/commands/{resolve_lock_readphase.rs
    (scan_locks_from_storage), resolve_lock.rs}.
    """
    keys = _stored_locks_of(mvcc, start_ts)
    if keys and 0 < commit_ts <= start_ts:
        return InvalidTxnTso(start_ts, commit_ts)
    return keys


def _stored_locks_of(mvcc: Mvcc, start_ts: int) -> list[bytes]:
    return sorted(key for key, lock in mvcc.locks.items() if lock.start_ts == start_ts)


def _is_own(held: Lock | None, start_ts: int) -> bool:
    return held is not None and held.start_ts == start_ts


def _missing_lock(
    batch: WriteBatch,
    mvcc: Mvcc,
    primary: bytes,
    start_ts: int,
    rollback_if_not_exist: bool,  # noqa: FBT001 - fields of the request, handed on
    resolving_pessimistic_lock: bool,  # noqa: FBT001
) -> TxnStatus | MvccError:
    """Returns the state of a transaction that has no lock on its primary."""
    ended = _ended(batch, mvcc, primary, start_ts)
    if ended is not None:
        return ended
    if not rollback_if_not_exist:
        return TxnNotFound(primary, start_ts)
    if resolving_pessimistic_lock:
        return TxnStatus(TxnAction.LOCK_NOT_EXIST_DO_NOTHING, batch)
    put_rollback(batch, mvcc, primary, start_ts, protect=True)
    return TxnStatus(TxnAction.LOCK_NOT_EXIST_ROLLBACK, batch)


def _other_primary(
    batch: WriteBatch,
    mvcc: Mvcc,
    primary: bytes,
    held: Lock,
    rollback_if_not_exist: bool,  # noqa: FBT001 - fields of the request, handed on
    resolving_pessimistic_lock: bool,  # noqa: FBT001
) -> TxnStatus | MvccError:
    """Returns the state of a transaction whose lock on ``primary`` names another primary.

    A caller that met a prewritten lock is sure of the primary, so a pessimistic lock that names
    another one is stale: it counts as missing and is removed.
    """
    if held.kind != PESSIMISTIC or resolving_pessimistic_lock:
        return PrimaryMismatch(primary, held)
    status = _missing_lock(
        batch,
        mvcc,
        primary,
        held.start_ts,
        rollback_if_not_exist,
        resolving_pessimistic_lock=False,
    )
    if isinstance(status, TxnStatus):
        batch.delete_lock(primary)
    return status


def _ended(batch: WriteBatch, mvcc: Mvcc, primary: bytes, start_ts: int) -> TxnStatus | None:
    """Returns how the transaction has ended as its primary's records say, or None."""
    record = mvcc.find_by_start_ts(primary, start_ts)
    if record is not None:
        if record.kind == ROLLBACK:
            return TxnStatus(TxnAction.ROLLED_BACK, batch)
        return TxnStatus(TxnAction.COMMITTED, batch, commit_ts=record.commit_ts)
    overlapped = mvcc.find_by_commit_ts(primary, start_ts)
    if overlapped is not None and overlapped.has_overlapped_rollback:
        return TxnStatus(TxnAction.ROLLED_BACK, batch)
    return None


def _push_min_commit_ts(
    primary: bytes, held: Lock, caller_start_ts: int, current_ts: int
) -> TxnStatus:
    """Makes a running transaction commit after the reader, so that the reader need not wait."""
    batch = WriteBatch(HEARTBEAT)
    if caller_start_ts == MAX_TS:  # A point get, which ignores what is not committed yet.
        return TxnStatus(TxnAction.MIN_COMMIT_TS_PUSHED, batch, held)
    if held.min_commit_ts and caller_start_ts >= held.min_commit_ts:
        pushed = held.with_min_commit_ts(max(caller_start_ts + 1, current_ts))
        batch.put_lock(primary, pushed)
        return TxnStatus(TxnAction.MIN_COMMIT_TS_PUSHED, batch, pushed)
    passed = caller_start_ts > 0 and held.min_commit_ts > caller_start_ts
    action = TxnAction.MIN_COMMIT_TS_PUSHED if passed else TxnAction.UNCOMMITTED
    return TxnStatus(action, batch, held)
