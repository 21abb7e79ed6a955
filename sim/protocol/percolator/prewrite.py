"""Prewrite: the first phase of commit, with the pessimistic check, amend, async commit and 1PC.

A pessimistic lock becomes a 2PC lock; one that was lost is amended (``amend.py``).

Source: tikv/tikv src/storage/txn/actions/prewrite.rs, src/storage/txn/commands/prewrite.rs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sim.protocol.encoding import NO_VALUE, prewrite_base_bytes, secondaries_bytes
from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.mvcc import INSERT, PESSIMISTIC, PUT, Lock, Mvcc, Write
from sim.protocol.percolator.amend import (
    TransactionProperties,
    check_for_update_ts,
    check_locked,
    check_unlocked,
    committed_before,
)
from sim.protocol.percolator.errors import (
    KeyIsLocked,
    MvccError,
)
from sim.protocol.percolator.read import NO_LOCKS
from sim.protocol.write_batch import COMMIT, PREWRITE, WriteBatch


class Mutation(NamedTuple):
    """One key's change in a transaction.

    Attributes:
        op: PUT, DELETE, INSERT (the row must not exist) or LOCK (locked, not written).
        value_bytes: length of the new value; NO_VALUE for DELETE and LOCK.
        value: opaque payload of the new value, handed to later lock requests.
        pessimistic_check: the key was locked by a statement (index keys are not).
    """

    key: bytes
    op: int
    value_bytes: int = NO_VALUE
    value: Any = None
    pessimistic_check: bool = True


@dataclass(slots=True, eq=False)
class CommitKind:
    """How a prewritten transaction is to be committed."""

    min_commit_ts: int
    """The smallest timestamp that the client allows."""
    promise_ts: int = 0
    """The smallest that the store allows, of async commit and 1PC; 0: the client commits."""
    use_async_commit: bool = False
    secondaries: tuple[bytes, ...] | None = None
    """All other keys, for the lock of an async commit's primary."""
    max_commit_ts: int = 0
    """The largest timestamp that may be calculated; 0: no limit."""


@dataclass(slots=True, eq=False)
class Prewritten:
    """A prewrite that succeeded.

    Attributes:
        batch: what to write; empty when everything was prewritten before.
        min_commit_ts: smallest commit_ts allowed, over all keys; 0 without async commit and 1PC.
        one_pc_commit_ts: commit_ts of a transaction committed in one phase, by this request or by
            an earlier one; 0 otherwise.
        amended: keys whose lost lock could be amended.
        guards: locks that readers must meet until ``batch`` is applied, since the commit timestamp
            is fixed already: of async commit and 1PC.
    """

    batch: WriteBatch
    min_commit_ts: int
    one_pc_commit_ts: int
    amended: tuple[bytes, ...] = ()
    guards: Sequence[tuple[bytes, Lock]] = ()


def prewrite(  # noqa: PLR0913 - the request's fields
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    mutations: Sequence[Mutation],
    *,
    primary: bytes,
    start_ts: int,
    for_update_ts: int,
    ttl_ms: int,
    async_commit_secondaries: tuple[bytes, ...] | None = None,
    use_async_commit: bool = False,
    one_pc_commit_ts: int | None = None,
    min_commit_ts: int = 0,
    max_ts: int = 0,
    max_commit_ts: int = 0,
    expected_for_update_ts: Mapping[bytes, int] | None = None,
    pessimistic: bool = True,
    is_retry: bool = False,
) -> Prewritten | MvccError:
    """Locks all mutations for commit, or says why one of them cannot be.

    Fields are kvproto's. An optimistic transaction has ``pessimistic=False``, ``for_update_ts=0``.
    The request that has the primary names all other keys in ``async_commit_secondaries``. Commit in
    one phase is at ``one_pc_commit_ts`` or later (None: two phases). ``max_ts`` is the latest read
    of this store; what would have to commit after ``max_commit_ts`` (0: no limit) becomes ordinary
    2PC. ``is_retry``: it may be a resend, so keys without a lock are checked as well.
    ``expected_for_update_ts``: by key, that of the lock which the client believes to hold.
    """
    txn = TransactionProperties(primary, start_ts, for_update_ts, ttl_ms, pessimistic, is_retry)
    held = _check_all(mvcc, memory, mutations, txn, expected_for_update_ts or {})
    if isinstance(held, MvccError):
        return _accept_resend(mvcc, held, start_ts)
    if use_async_commit or one_pc_commit_ts is not None:
        promise_ts = max(max_ts + 1, for_update_ts + 1, start_ts + 1, one_pc_commit_ts or 0)
        secondaries = async_commit_secondaries if use_async_commit else None
        kind = CommitKind(min_commit_ts, promise_ts, use_async_commit, secondaries, max_commit_ts)
    else:
        kind = CommitKind(min_commit_ts)
    locked = _lock_all(mvcc, mutations, held, txn, kind)
    if isinstance(locked, Prewritten):
        return locked
    batch, largest_ts = locked
    amended = _amended_keys(mutations, held) if pessimistic and None in held else ()
    if one_pc_commit_ts is None or not largest_ts or not batch.lock_puts:
        guards = batch.lock_puts if largest_ts else ()
        return Prewritten(batch, largest_ts, 0, amended, guards)
    return _one_phase(mvcc, memory, batch, largest_ts, amended)


def _accept_resend(mvcc: Mvcc, refusal: MvccError, start_ts: int) -> Prewritten | MvccError:
    """Returns success instead of ``refusal`` if the transaction is committed already."""
    commit_ts = committed_before(mvcc, refusal, start_ts)
    return _committed_before(commit_ts) if commit_ts else refusal


def _committed_before(commit_ts: int) -> Prewritten:
    return Prewritten(WriteBatch(PREWRITE), commit_ts, commit_ts)


_NO_LENGTH = -2
"""A length that no value has."""


def _check_all(  # noqa: C901 - one pass over the keys
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    mutations: Sequence[Mutation],
    txn: TransactionProperties,
    expected_for_update_ts: Mapping[bytes, int],
) -> list[Lock | None] | MvccError:
    """Returns the transaction's lock on each key, if it has one, or why it must not go on.

    A key that another transaction has locked is the answer only if nothing else is wrong.
    """
    table_get = (NO_LOCKS if memory is None else memory.map).get
    locks_get = mvcc.locks.get
    start_ts = txn.start_ts
    check_every_key = not txn.pessimistic or txn.is_retry
    held_locks: list[Lock | None] = []
    locked: KeyIsLocked | None = None
    for key, op, _, _, check in mutations:
        held = table_get(key)
        if held is None:
            held = locks_get(key)
        if held is None:
            if check or check_every_key:
                refusal = check_unlocked(mvcc, key, op, txn, check)
                if refusal is not None:
                    return refusal
        elif held.start_ts != start_ts or held.kind != PESSIMISTIC or check_every_key:
            refusal = check_locked(key, held, txn, check)
            if isinstance(refusal, KeyIsLocked) and not mvcc.commit_ts_of(key, start_ts):
                locked = locked or refusal
            elif refusal is not None:
                return refusal
        if held is not None and expected_for_update_ts:
            refusal = check_for_update_ts(key, held, expected_for_update_ts.get(key))
            if refusal is not None:
                return refusal
        held_locks.append(held)
    return held_locks if locked is None else locked


def _lock_all(
    mvcc: Mvcc,
    mutations: Sequence[Mutation],
    held_locks: list[Lock | None],
    txn: TransactionProperties,
    kind: CommitKind,
) -> tuple[WriteBatch, int] | Prewritten:
    """Returns the locks to write, and the largest min_commit_ts of all keys.

    The latter is 0 (neither async commit nor 1PC) after a key that was prewritten without them, or
    would have to commit too late: from there on locks are ordinary ones. If such a key is
    committed, the whole request has been. Keys of one statement share one ``Lock`` if they can.
    """
    primary, start_ts, largest_ts = txn.primary, txn.start_ts, 0
    batch = WriteBatch(PREWRITE)
    puts = batch.lock_puts
    raft = wal = default_cf = values = 0
    lock: Lock | None = None
    last_held: Lock | None = None
    last_op = last_bytes = last_len = _NO_LENGTH
    for mutation, held in zip(mutations, held_locks, strict=True):
        key, op, value_bytes, value, _ = mutation
        if held is not None and held.kind != PESSIMISTIC:
            if held.use_async_commit and kind.use_async_commit:
                largest_ts = max(largest_ts, held.min_commit_ts)
            else:
                kind, lock = CommitKind(kind.min_commit_ts), None
            continue
        alone = value is not None or (kind.secondaries is not None and key == primary)
        same = held is last_held and value_bytes == last_bytes and op == last_op
        if lock is None or alone or not same or len(key) != last_len:
            lock = _two_phase_lock(mvcc, mutation, held, txn, kind)
            if 0 < kind.max_commit_ts < lock.min_commit_ts:
                commit_ts = mvcc.commit_ts_of(key, start_ts)
                if commit_ts:
                    return _committed_before(commit_ts)
                kind = CommitKind(kind.min_commit_ts)
                lock = _two_phase_lock(mvcc, mutation, held, txn, kind)
            largest_ts = max(largest_ts, lock.min_commit_ts)
            last_held, last_op, last_len = held, op, len(key)
            last_bytes = _NO_LENGTH if alone else value_bytes
        puts.append((key, lock))
        sizes = lock.sizes
        raft += sizes.prewrite_raft_bytes
        wal += sizes.prewrite_wal_bytes
        default_cf += sizes.default_cf_bytes
        values += sizes.default_cf_bytes > 0
    batch.charge_puts(raft, wal, default_cf, values)
    return batch, largest_ts if kind.promise_ts else 0


def _two_phase_lock(
    mvcc: Mvcc,
    mutation: Mutation,
    held: Lock | None,
    txn: TransactionProperties,
    kind: CommitKind,
) -> Lock:
    """Returns the lock of one key; ttl and min_commit_ts never fall below the pessimistic one's."""
    key, op, value_bytes, value, _ = mutation
    primary, start_ts, for_update_ts, ttl_ms, pessimistic, _ = txn
    secondaries = kind.secondaries
    min_commit_ts = max(kind.min_commit_ts, kind.promise_ts)
    base_bytes = prewrite_base_bytes(len(primary), kind.use_async_commit, pessimistic)
    if secondaries is not None:
        if key == primary:
            base_bytes += secondaries_bytes(secondaries)
        else:
            secondaries = None
    if held is not None:
        if held.ttl_ms > ttl_ms:
            ttl_ms = held.ttl_ms
        if held.min_commit_ts > min_commit_ts:
            min_commit_ts = held.min_commit_ts
    return Lock(
        PUT if op == INSERT else op,
        primary,
        start_ts,
        ttl_ms,
        for_update_ts,
        min_commit_ts,
        mvcc.lock_format.prewrite(base_bytes, len(key), value_bytes),
        value_bytes,
        value,
        use_async_commit=kind.use_async_commit,
        secondaries=secondaries,
    )


def _amended_keys(
    mutations: Sequence[Mutation], held_locks: list[Lock | None]
) -> tuple[bytes, ...]:
    pairs = zip(mutations, held_locks, strict=True)
    return tuple(each.key for each, held in pairs if held is None and each.pessimistic_check)


def _one_phase(
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    locked: WriteBatch,
    commit_ts: int,
    amended: tuple[bytes, ...],
) -> Prewritten:
    """Returns a prewrite that writes the versions that its locks stand for at once."""
    table = NO_LOCKS if memory is None else memory.map
    batch = WriteBatch(COMMIT)
    for key, lock in locked.lock_puts:
        batch.put_value(key, lock.value_bytes)
        version = Write(lock.kind, lock.start_ts, commit_ts, lock.value_bytes, lock.value)
        batch.put_write(key, version)
        if key in table or key in mvcc.locks:
            batch.delete_lock(key)
    guards = [(key, lock.of_one_phase()) for key, lock in locked.lock_puts]
    return Prewritten(batch, commit_ts, commit_ts, amended, guards)
