"""Prewrite: the first phase of commit, with the pessimistic check, amend, async commit and 1PC.

A key that was locked pessimistically becomes a 2PC lock. If its lock is lost, prewrite amends: it
goes on as long as nobody has committed on the key since ``start_ts``.

Source: tikv/tikv src/storage/txn/actions/prewrite.rs, src/storage/txn/commands/prewrite.rs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sim.protocol.encoding import NO_VALUE, RecordSizes, prewrite_base_bytes, secondaries_bytes
from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.mvcc import INSERT, PESSIMISTIC, PUT, Lock, Mvcc, Write
from sim.protocol.percolator.errors import MvccError
from sim.protocol.percolator.lookup import NO_LOCKS
from sim.protocol.percolator.prewrite_check import (
    Txn,
    check_locked,
    check_unlocked,
    committed_before,
)
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
    value: object = None
    pessimistic_check: bool = True


class Prewritten(NamedTuple):
    """A prewrite that succeeded.

    Attributes:
        batch: what to write; empty when everything was prewritten before.
        min_commit_ts: smallest commit_ts allowed, over all keys; 0 without async commit and 1PC.
        one_pc_commit_ts: commit_ts of a transaction committed in one phase, by this request or by
            an earlier one; 0 otherwise.
        amended: keys whose lost lock could be amended.
    """

    batch: WriteBatch
    min_commit_ts: int
    one_pc_commit_ts: int
    amended: int


def prewrite(  # noqa: PLR0913 - the request's fields
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    mutations: Sequence[Mutation],
    *,
    primary: bytes,
    start_ts: int,
    for_update_ts: int,
    ttl_ms: int,
    txn_size: int,  # noqa: ARG001 - stored by TiKV as a hint; its bytes are in every lock
    async_commit_secondaries: tuple[bytes, ...] | None = None,
    use_async_commit: bool = False,
    one_pc_commit_ts: int | None = None,
    min_commit_ts: int = 0,
    max_ts: int = 0,
    max_commit_ts: int = 0,
    pessimistic: bool = True,
    is_retry: bool = False,
) -> Prewritten | MvccError:
    """Locks all mutations for commit, or says why one of them cannot be.

    Args:
        mvcc: the region's records.
        memory: the leader's table, if it has one.
        mutations: changes of the transaction in this region.
        primary: primary key of the transaction.
        start_ts: the transaction.
        for_update_ts: of its last statement; 0 for an optimistic transaction.
        ttl_ms: life of the locks; an older pessimistic lock may have a longer one.
        txn_size: keys of the transaction, a hint of no consequence here.
        async_commit_secondaries: all other keys of the transaction, in the primary's request.
        use_async_commit: the transaction is committed as soon as all its keys are prewritten.
        one_pc_commit_ts: commit in one phase, at this timestamp or later; None for two phases.
        min_commit_ts: least commit_ts the client asks for.
        max_ts: largest timestamp this store has served a read at.
        max_commit_ts: should a key have to commit later, fall back to ordinary 2PC; 0: never.
        pessimistic: keys with ``pessimistic_check`` must be locked already.
        is_retry: the client may have sent this before, so unlocked keys are checked as well.
    """
    floor_ts = min_commit_ts
    if use_async_commit or one_pc_commit_ts is not None:
        floor_ts = max(min_commit_ts, max_ts + 1, start_ts + 1, for_update_ts + 1)
        floor_ts = max(floor_ts, one_pc_commit_ts or 0)
    txn = (primary, start_ts, for_update_ts, ttl_ms, pessimistic, is_retry)
    held = _check_all(mvcc, memory, mutations, txn)
    if isinstance(held, MvccError):
        commit_ts = committed_before(mvcc, held, start_ts)
        return Prewritten(WriteBatch(PREWRITE), commit_ts, commit_ts, 0) if commit_ts else held
    secondaries = async_commit_secondaries if use_async_commit else None
    batch, largest_ts = _lock_all(
        mvcc, mutations, held, txn, (floor_ts, use_async_commit, secondaries)
    )
    amended = _count_amended(mutations, held) if pessimistic and None in held else 0
    if not use_async_commit and one_pc_commit_ts is None:
        return Prewritten(batch, 0, 0, amended)
    if max_commit_ts and largest_ts > max_commit_ts:
        batch, _ = _lock_all(mvcc, mutations, held, txn, (min_commit_ts, False, None))
        return Prewritten(batch, 0, 0, amended)
    if one_pc_commit_ts is None or not batch.lock_puts:
        return Prewritten(batch, largest_ts, 0, amended)
    return Prewritten(_one_phase(mvcc, memory, batch, largest_ts), largest_ts, largest_ts, amended)


_Protocol = tuple[int, bool, tuple[bytes, ...] | None]
"""Least min_commit_ts; async commit or not; secondaries, for the primary's lock."""


def _check_all(
    mvcc: Mvcc, memory: PeerPessimisticLocks | None, mutations: Sequence[Mutation], txn: Txn
) -> list[Lock | None] | MvccError:
    """Returns the transaction's lock on each key, if it has one, or why it must not go on."""
    table_get = (NO_LOCKS if memory is None else memory.map).get
    locks_get = mvcc.locks.get
    start_ts = txn[1]
    check_every_key = not txn[4] or txn[5]
    held_locks: list[Lock | None] = []
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
            if refusal is not None:
                return refusal
        held_locks.append(held)
    return held_locks


def _lock_all(
    mvcc: Mvcc,
    mutations: Sequence[Mutation],
    held_locks: list[Lock | None],
    txn: Txn,
    protocol: _Protocol,
) -> tuple[WriteBatch, int]:
    """Returns the locks to write, and the largest min_commit_ts.

    Keys that one statement locked and that get equal values share one ``Lock`` object.
    """
    primary = txn[0]
    largest_ts, _, secondaries = protocol
    batch = WriteBatch(PREWRITE)
    puts = batch.lock_puts
    raft = wal = lock_mem = default_cf = 0
    last_held: Lock | None = None
    lock: Lock | None = None
    sizes: RecordSizes | None = None
    last_op = last_bytes = last_len = -2
    for (key, op, value_bytes, value, _), held in zip(mutations, held_locks, strict=True):
        if held is not None and held.kind != PESSIMISTIC:
            largest_ts = max(largest_ts, held.min_commit_ts)
            continue
        lists = secondaries is not None and key == primary
        if (
            lock is None
            or sizes is None
            or held is not last_held
            or value_bytes != last_bytes
            or op != last_op
            or len(key) != last_len
            or value is not None
            or lists
        ):
            lock = _two_phase_lock(mvcc, (key, op, value_bytes, value), held, txn, protocol)
            largest_ts = max(largest_ts, lock.min_commit_ts)
            sizes = lock.sizes
            last_held, last_op, last_len = held, op, len(key)
            last_bytes = -2 if lists or value is not None else value_bytes
        puts.append((key, lock))
        raft += sizes.prewrite_raft_bytes
        wal += sizes.prewrite_wal_bytes
        lock_mem += sizes.lock_mem_bytes
        default_cf += sizes.default_cf_bytes
    batch.keys = len(puts)
    batch.raft_bytes = raft
    batch.wal_bytes = wal
    batch.lock_mem_bytes = lock_mem
    batch.default_cf_bytes = default_cf
    return batch, largest_ts


def _two_phase_lock(
    mvcc: Mvcc,
    change: tuple[bytes, int, int, object],
    held: Lock | None,
    txn: Txn,
    protocol: _Protocol,
) -> Lock:
    """Returns the lock of one key; ttl and min_commit_ts never fall below the pessimistic one's."""
    key, op, value_bytes, value = change
    primary, start_ts, for_update_ts, ttl_ms, _, _ = txn
    min_commit_ts, use_async_commit, secondaries = protocol
    base_bytes = prewrite_base_bytes(len(primary), use_async_commit)
    if secondaries is not None:
        if key == primary:
            base_bytes += secondaries_bytes(secondaries)
        else:
            secondaries = None
    if held is not None:
        ttl_ms = max(ttl_ms, held.ttl_ms)
        min_commit_ts = max(min_commit_ts, held.min_commit_ts)
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
        use_async_commit,
        secondaries,
    )


def _count_amended(mutations: Sequence[Mutation], held_locks: list[Lock | None]) -> int:
    pairs = zip(mutations, held_locks, strict=True)
    return sum(held is None and mutation.pessimistic_check for mutation, held in pairs)


def _one_phase(
    mvcc: Mvcc, memory: PeerPessimisticLocks | None, locked: WriteBatch, commit_ts: int
) -> WriteBatch:
    """Returns the versions that a prewrite's locks stand for, to be written at once."""
    table = NO_LOCKS if memory is None else memory.map
    batch = WriteBatch(COMMIT)
    for key, lock in locked.lock_puts:
        batch.put_value(key, lock.value_bytes)
        version = Write(lock.kind, lock.start_ts, commit_ts, lock.value_bytes, lock.value)
        batch.put_write(key, version)
        if key in table or key in mvcc.locks:
            batch.delete_lock(key)
    return batch
