"""PessimisticRollback, Rollback and Cleanup: removing a transaction's locks without a version.

A pessimistic rollback leaves no record. The others leave one, so that a late prewrite of the same
transaction fails; the primary's record is protected from being overwritten by later ones.

Source: tikv/tikv src/storage/txn/actions/cleanup.rs, src/storage/mvcc/txn.rs (make_rollback),
src/storage/txn/commands/pessimistic_rollback.rs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sim.protocol.encoding import NO_VALUE
from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.mvcc import PESSIMISTIC, PUT, ROLLBACK, Lock, Mvcc, Write
from sim.protocol.percolator.errors import AlreadyCommitted, KeyIsLocked, MvccError
from sim.protocol.percolator.read import is_rollback, load_lock
from sim.protocol.timestamp import physical_ms
from sim.protocol.write_batch import ROLLBACK as ROLLBACK_CAUSE
from sim.protocol.write_batch import WriteBatch


class RolledBack(NamedTuple):
    """A rollback that succeeded; the batch is empty if there was nothing to do."""

    batch: WriteBatch


def pessimistic_rollback(
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    keys: Sequence[bytes],
    start_ts: int,
    for_update_ts: int,
) -> RolledBack:
    """Removes the transaction's pessimistic locks taken at ``for_update_ts`` or before.

    A lock that is in memory only costs a replicated delete as well.
    """
    batch = WriteBatch(ROLLBACK_CAUSE)
    for key in keys:
        held = load_lock(mvcc, memory, key)
        if (
            held is not None
            and held.kind == PESSIMISTIC
            and held.start_ts == start_ts
            and held.for_update_ts <= for_update_ts
        ):
            batch.delete_lock(key)
    return RolledBack(batch)


def rollback(
    mvcc: Mvcc, memory: PeerPessimisticLocks | None, keys: Sequence[bytes], start_ts: int
) -> RolledBack | MvccError:
    """Rolls a transaction back on ``keys``, whatever state they are in.

    Returns:
        AlreadyCommitted if the transaction is committed on one of them.
    """
    batch = WriteBatch(ROLLBACK_CAUSE)
    for key in keys:
        refusal = cleanup_into(batch, mvcc, memory, key, start_ts, protect=False)
        if refusal is not None:
            return refusal
    return RolledBack(batch)


def cleanup(
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    key: bytes,
    start_ts: int,
    current_ts: int,
    *,
    protect: bool = True,
) -> RolledBack | MvccError:
    """Rolls one key back if its lock has expired at ``current_ts`` (0: expired or not)."""
    held = load_lock(mvcc, memory, key)
    is_own = held is not None and held.start_ts == start_ts
    if held is not None and is_own and current_ts and not has_expired(held, current_ts):
        return KeyIsLocked(key, held)
    batch = WriteBatch(ROLLBACK_CAUSE)
    refusal = cleanup_into(batch, mvcc, memory, key, start_ts, protect=protect)
    return RolledBack(batch) if refusal is None else refusal


def cleanup_into(
    batch: WriteBatch,
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    key: bytes,
    start_ts: int,
    *,
    protect: bool,
) -> MvccError | None:
    """Adds the rollback of one key to ``batch``."""
    held = load_lock(mvcc, memory, key)
    if held is not None and held.start_ts == start_ts:
        rollback_lock(batch, mvcc, key, held)
        return None
    record = mvcc.find_by_start_ts(key, start_ts)
    if record is None:
        put_rollback(batch, mvcc, key, start_ts, protect=protect)
    elif record.kind != ROLLBACK:
        return AlreadyCommitted(key, start_ts, record.commit_ts)
    return None


def rollback_lock(batch: WriteBatch, mvcc: Mvcc, key: bytes, held: Lock) -> None:
    """Replaces the transaction's own lock by a rollback record."""
    batch.delete_lock(key)
    if held.kind == PUT:
        batch.delete_value(key, held.value_bytes)
    put_rollback(batch, mvcc, key, held.start_ts, protect=key == held.primary)


def put_rollback(
    batch: WriteBatch, mvcc: Mvcc, key: bytes, start_ts: int, *, protect: bool
) -> None:
    """Adds a rollback record, or a mark on the version that was committed at the same timestamp."""
    overlapped = mvcc.find_by_commit_ts(key, start_ts)
    if overlapped is None:
        batch.put_write(key, Write(ROLLBACK, start_ts, start_ts, 1 if protect else NO_VALUE))
    elif protect and not is_rollback(overlapped):
        marked = Write(
            overlapped.kind,
            overlapped.start_ts,
            overlapped.commit_ts,
            overlapped.value_bytes,
            overlapped.value,
        )
        marked.has_overlapped_rollback = True
        batch.put_write(key, marked)


def has_expired(held: Lock, current_ts: int) -> bool:
    """Returns whether a lock's time to live is over at ``current_ts``."""
    return physical_ms(held.start_ts) + held.ttl_ms < physical_ms(current_ts)
