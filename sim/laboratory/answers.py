"""What a store answers, as one line of text under TiKV's names.

The same answer is always the same text, with the fields in the order of TiKV's messages.
Zeros that mean "not asked for" are left out.

Source of the names: tikv/tikv src/storage/mvcc/mod.rs (ErrorInner), src/storage/types.rs
(TxnStatus, SecondaryLocksStatus); kvproto ``kvrpcpb.proto``, ``errorpb.proto``.
"""

from dataclasses import fields
from enum import Enum

from sim.laboratory.values import show_key, show_keys
from sim.laboratory.values import show_timestamp as ts
from sim.protocol.percolator import (
    Acquired,
    AlreadyCommitted,
    Beat,
    Committed,
    KeyIsLocked,
    LockTypeNotMatch,
    MvccError,
    Prewritten,
    PrimaryMismatch,
    RolledBack,
    SecondaryLocks,
    TxnStatus,
)
from sim.protocol.records import KIND_NAMES, PUT, Lock, Write
from sim.protocol.region_errors import RegionError
from sim.protocol.write_batch import WriteBatch
from sim.storage.lock_manager import Deadlock
from sim.storage.request import KvRequest


def show_lock(lock: Lock) -> str:
    """Returns a lock, its fields in the order of kvproto's ``LockInfo``."""
    text = f"{KIND_NAMES[lock.kind]} start_ts={ts(lock.start_ts)}"
    if lock.for_update_ts:
        text += f" for_update_ts={ts(lock.for_update_ts)}"
    text += f" primary={show_key(lock.primary)} ttl={lock.ttl_ms}"
    if lock.min_commit_ts:
        text += f" min_commit_ts={ts(lock.min_commit_ts)}"
    if lock.kind == PUT and lock.value is not None:
        text += f" value={lock.value}"
    if lock.use_async_commit:
        text += " async"
        if lock.secondaries is not None:
            text += f" secondaries={','.join(map(show_key, lock.secondaries)) or 'none'}"
    return text


def show_write(write: Write) -> str:
    """Returns a version or a rollback record."""
    text = f"{KIND_NAMES[write.kind]} start_ts={ts(write.start_ts)} commit_ts={ts(write.commit_ts)}"
    if write.kind == PUT and write.value is not None:
        text += f" value={write.value}"
    return text + (" overlapped_rollback" if write.has_overlapped_rollback else "")


def show_refusal(answer: object) -> str | None:
    """Returns a refusal or a region error, None if ``answer`` is neither."""
    match answer:
        case RegionError():
            return str(answer)
        case KeyIsLocked(key, lock, resolve_now):
            now = "; resolve now" if resolve_now else ""
            return f"KeyIsLocked({show_key(key)}: {show_lock(lock)}{now})"
        case PrimaryMismatch(key, lock):
            return f"PrimaryMismatch({show_key(key)}: {show_lock(lock)})"
        case LockTypeNotMatch(key, start_ts, pessimistic):
            there = "pessimistic" if pessimistic else "prewritten"
            return f"LockTypeNotMatch({show_key(key)}: start_ts={ts(start_ts)}, is {there})"
        case Deadlock(key, chain):
            edges = ", ".join(f"{ts(edge.txn)}->{ts(edge.wait_for_txn)}" for edge in chain)
            return f"Deadlock({show_key(key)}: {edges})"
        case AlreadyCommitted():
            return f"Committed({_show_fields(answer)})"
        case MvccError():
            return f"{type(answer).__name__}({_show_fields(answer)})"
        case _:
            return None


def _show_fields(error: MvccError) -> str:
    """Returns the key, if there is one, and timestamps and reasons by name."""
    values = {field.name: getattr(error, field.name) for field in fields(error)}  # type: ignore[arg-type]
    shown = [
        f"{name}={value.value if isinstance(value, Enum) else ts(value)}"
        for name, value in values.items()
        if name != "key"
    ]
    key = f"{show_key(values['key'])}: " if "key" in values else ""
    return key + " ".join(shown)


def show_answer(request: KvRequest) -> str:
    """Returns the answer to any request but a read."""
    answer = request.result
    refusal = show_refusal(answer)
    return _show_success(request, answer) if refusal is None else refusal


def _show_success(request: KvRequest, answer: object) -> str:
    match answer:
        case Acquired():
            return _show_acquired(request, answer)
        case Prewritten():
            return _show_prewritten(request, answer)
        case Committed(batch=batch):
            return _show_committed(request, batch)
        case RolledBack(batch):
            touched = dict.fromkeys([*batch.lock_deletes, *(key for key, _ in batch.write_puts)])
            return f"rolled back {show_keys(list(touched))}"
        case Beat(_, ttl_ms):
            return f"ttl={ttl_ms}"
        case TxnStatus():
            return _show_status(answer)
        case SecondaryLocks():
            return _show_secondaries(answer)
        case _:
            return str(answer)


def _show_committed(request: KvRequest, batch: WriteBatch) -> str:
    written = [key for key, _ in batch.write_puts]
    removed = [key for key in batch.lock_deletes if key not in written]
    parts = []
    if written:
        parts.append(f"committed {show_keys(written)} commit_ts={ts(request.commit_ts)}")
    if removed:  # Pessimistic locks that the transaction has left behind: no version comes of them.
        parts.append(f"rolled back {show_keys(removed)}")
    return "; ".join(parts) or "committed before"


def _show_acquired(request: KvRequest, answer: Acquired) -> str:
    how = request.path.name.lower().replace("_", "-")
    if request.fallback:
        how += f" ({request.fallback})"
    text = f"locked {show_keys(request.keys)} {how if answer.locks else 'already'}"
    if answer.locked_with_conflict_ts:
        text += f" locked_with_conflict_ts={ts(answer.locked_with_conflict_ts)}"
    if request.wants_values or answer.locked_with_conflict_ts:
        pairs = zip(request.keys, answer.values, strict=True)
        text += "".join(f" {show_key(key)}={'none' if v is None else v}" for key, v in pairs)
    return text


def _show_prewritten(request: KvRequest, answer: Prewritten) -> str:
    if answer.one_pc_commit_ts and request.one_pc:
        keys = [mutation.key for mutation in request.mutations]
        text = f"committed {show_keys(keys)} one_pc_commit_ts={ts(answer.one_pc_commit_ts)}"
    else:
        text = f"prewritten {show_keys([key for key, _ in answer.batch.lock_puts])}"
        if answer.min_commit_ts:
            text += f" min_commit_ts={ts(answer.min_commit_ts)}"
    return text + (f" amended={len(answer.amended)}" if answer.amended else "")


def _show_status(answer: TxnStatus) -> str:
    text = answer.action.value
    if answer.commit_ts:
        text += f" commit_ts={ts(answer.commit_ts)}"
    if answer.lock is not None and text in {"Uncommitted", "MinCommitTsPushed"}:
        text += f" {show_lock(answer.lock)}"
    return text


def _show_secondaries(answer: SecondaryLocks) -> str:
    if answer.commit_ts:
        return f"Committed commit_ts={ts(answer.commit_ts)}"
    if answer.rolled_back:
        return "RolledBack"
    return "Locked " + "; ".join(show_lock(lock) for lock in answer.locks)
