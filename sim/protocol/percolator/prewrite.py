"""Prewrite: the first phase of commit, with the pessimistic check, amend, async commit and 1PC.

A key that was locked pessimistically becomes a 2PC lock. If its lock is lost, prewrite amends: it
goes on as long as nobody has committed on the key since ``start_ts``.

Source: tikv/tikv src/storage/txn/actions/prewrite.rs, src/storage/txn/commands/prewrite.rs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sim.protocol.encoding import (
    NO_VALUE,
    RecordSizes,
    prewrite_base_bytes,
    secondaries_bytes,
)
from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.mvcc import INSERT, PESSIMISTIC, PUT, ROLLBACK, Lock, Mvcc, Write
from sim.protocol.percolator.acquire import NO_LOCKS, is_rollback
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
    txn_size: int,
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
        txn_size: keys of the transaction; a hint that is stored, of no consequence here.
        async_commit_secondaries: all other keys of the transaction, in the primary's request.
        one_pc_commit_ts: commit in one phase, at this timestamp or later; None for two phases.
        max_ts: largest timestamp this store has served a read at.
        max_commit_ts: commit later than this and the request falls back to ordinary 2PC; 0: never.
        is_retry: the client may have sent this before, so unlocked keys are checked as well.
    """
    del txn_size
    floor_ts = min_commit_ts
    if use_async_commit or one_pc_commit_ts is not None:
        floor_ts = max(min_commit_ts, max_ts + 1, start_ts + 1, for_update_ts + 1)
        floor_ts = max(floor_ts, one_pc_commit_ts or 0)
    step = _Prewrite(mvcc, memory, primary, start_ts, for_update_ts)
    step.pessimistic = pessimistic
    step.is_retry = is_retry
    step.ttl_ms = ttl_ms
    step.floor_ts = floor_ts
    step.use_async_commit = use_async_commit
    step.secondaries = async_commit_secondaries if use_async_commit else None
    refusal = step.run(mutations)
    if refusal is not None:
        return step.committed_before(refusal) or refusal
    if not use_async_commit and one_pc_commit_ts is None:
        return Prewritten(step.batch, 0, 0, step.amended)
    if max_commit_ts and step.min_commit_ts > max_commit_ts:
        step.fall_back(min_commit_ts, mutations)
        return Prewritten(step.batch, 0, 0, step.amended)
    if one_pc_commit_ts is None:
        return Prewritten(step.batch, step.min_commit_ts, 0, step.amended)
    batch = step.one_phase()
    return Prewritten(batch, step.min_commit_ts, step.min_commit_ts, step.amended)


class _Prewrite:
    """One prewrite request on its way through its keys."""

    __slots__ = (
        "amended",
        "batch",
        "floor_ts",
        "for_update_ts",
        "is_retry",
        "min_commit_ts",
        "mvcc",
        "pessimistic",
        "primary",
        "secondaries",
        "start_ts",
        "table",
        "ttl_ms",
        "use_async_commit",
    )

    def __init__(
        self,
        mvcc: Mvcc,
        memory: PeerPessimisticLocks | None,
        primary: bytes,
        start_ts: int,
        for_update_ts: int,
    ) -> None:
        self.mvcc = mvcc
        self.table = NO_LOCKS if memory is None else memory.map
        self.primary = primary
        self.start_ts = start_ts
        self.for_update_ts = for_update_ts
        self.ttl_ms = 0
        self.floor_ts = 0
        self.min_commit_ts = 0
        self.amended = 0
        self.pessimistic = True
        self.is_retry = False
        self.use_async_commit = False
        self.secondaries: tuple[bytes, ...] | None = None
        self.batch = WriteBatch(PREWRITE)

    def run(self, mutations: Sequence[Mutation]) -> MvccError | None:
        """Checks and locks every key; fills the batch."""
        table_get = self.table.get
        locks_get = self.mvcc.locks.get
        start_ts = self.start_ts
        pessimistic = self.pessimistic
        primary = self.primary
        base_bytes = prewrite_base_bytes(len(primary), async_commit=self.use_async_commit)
        shapes = self.mvcc.lock_format.prewrite_table(base_bytes)
        puts = self.batch.lock_puts
        largest_ts = self.floor_ts
        raft = wal = lock_mem = default_cf = 0
        for mutation in mutations:
            key, op, value_bytes, value, check = mutation
            held = table_get(key)
            if held is None:
                held = locks_get(key)
            ttl_ms = self.ttl_ms
            key_ts = self.floor_ts
            if held is not None and held.start_ts == start_ts and pessimistic:
                if held.kind != PESSIMISTIC:
                    largest_ts = max(largest_ts, held.min_commit_ts)
                    continue
                if held.ttl_ms > ttl_ms:
                    ttl_ms = held.ttl_ms
                if held.min_commit_ts > key_ts:
                    key_ts = held.min_commit_ts
            elif held is not None or check or not pessimistic or self.is_retry:
                refusal = self._check(mutation, held)
                if refusal is not None:
                    return refusal
                if held is not None:
                    continue
            if key_ts > largest_ts:
                largest_ts = key_ts
            if key == primary and self.secondaries is not None:
                sizes = self._primary_sizes(base_bytes, len(key), value_bytes)
                secondaries = self.secondaries
            else:
                shape = shapes.get(value_bytes << 16 | len(key))
                sizes = shape or self.mvcc.lock_format.prewrite(base_bytes, len(key), value_bytes)
                secondaries = None
            lock = Lock(
                PUT if op == INSERT else op,
                primary,
                start_ts,
                ttl_ms,
                self.for_update_ts,
                key_ts,
                sizes,
                value_bytes,
                value,
                self.use_async_commit,
                secondaries,
            )
            puts.append((key, lock))
            raft += sizes.prewrite_raft_bytes
            wal += sizes.prewrite_wal_bytes
            lock_mem += sizes.lock_mem_bytes
            default_cf += sizes.default_cf_bytes
        batch = self.batch
        batch.keys = len(puts)
        batch.raft_bytes = raft
        batch.wal_bytes = wal
        batch.lock_mem_bytes = lock_mem
        batch.default_cf_bytes = default_cf
        self.min_commit_ts = largest_ts
        return None

    def one_phase(self) -> WriteBatch:
        """Turns the locks into committed versions, written at once."""
        batch = WriteBatch(COMMIT)
        commit_ts = self.min_commit_ts
        for key, lock in self.batch.lock_puts:
            batch.put_value(key, lock.value_bytes)
            batch.put_write(
                key, Write(lock.kind, self.start_ts, commit_ts, lock.value_bytes, lock.value)
            )
            if key in self.table or key in self.mvcc.locks:
                batch.delete_lock(key)
        return batch

    def committed_before(self, refusal: MvccError) -> Prewritten | None:
        """Forgives a refusal if the transaction turns out to be committed: this is a resend."""
        if not isinstance(refusal, KeyIsLocked | WriteConflict | PessimisticLockNotFound):
            return None
        record = self.mvcc.find_by_start_ts(refusal.key, self.start_ts)
        if record is None or record.kind == ROLLBACK:
            return None
        commit_ts = record.commit_ts
        return Prewritten(WriteBatch(PREWRITE), commit_ts, commit_ts, 0)

    def fall_back(self, min_commit_ts: int, mutations: Sequence[Mutation]) -> None:
        """Starts again as ordinary 2PC: the commit_ts would be too large."""
        self.use_async_commit = False
        self.secondaries = None
        self.floor_ts = min_commit_ts
        self.amended = 0
        self.batch = WriteBatch(PREWRITE)
        refusal = self.run(mutations)
        assert refusal is None, f"a prewrite that passed was then refused: {refusal}"

    def _primary_sizes(self, base_bytes: int, key_len: int, value_bytes: int) -> RecordSizes:
        secondaries = self.secondaries
        assert secondaries is not None
        base_bytes += secondaries_bytes(secondaries)
        return self.mvcc.lock_format.prewrite(base_bytes, key_len, value_bytes)

    def _check(self, mutation: Mutation, held: Lock | None) -> MvccError | None:
        """Judges a key whose pessimistic lock is not there, not its own, or not asked for."""
        key = mutation.key
        check = mutation.pessimistic_check and self.pessimistic
        if held is not None and held.start_ts != self.start_ts:
            if check:
                return PessimisticLockNotFound(key, LockNotFoundReason.LOCK_TS_MISMATCH)
            return KeyIsLocked(key, held, resolve_now=self.pessimistic)
        if held is not None:
            if held.kind == PESSIMISTIC:
                return LockTypeNotMatch(key, self.start_ts, pessimistic=True)
            self.min_commit_ts = max(self.min_commit_ts, held.min_commit_ts)
            return None
        if check:
            return self._amend(key)
        if self.pessimistic and not self.is_retry:
            return None
        return self._newer_version(mutation)

    def _amend(self, key: bytes) -> MvccError | None:
        """Does without a lost lock, if nobody has committed since ``start_ts``."""
        newest = self.mvcc.writes.get(key)
        if newest is not None and newest.commit_ts >= self.start_ts:
            return PessimisticLockNotFound(key, LockNotFoundReason.LOCK_MISSING_AMEND_FAIL)
        self.amended += 1
        return None

    def _newer_version(self, mutation: Mutation) -> MvccError | None:
        """Checks an unlocked key as an optimistic prewrite does."""
        key = mutation.key
        newest = self.mvcc.writes.get(key)
        if newest is None:
            return None
        start_ts, commit_ts = self.start_ts, newest.commit_ts
        if commit_ts == start_ts and is_rollback(newest):
            return self._conflict(key, newest, ConflictReason.SELF_ROLLED_BACK)
        if self.pessimistic:
            if commit_ts > self.for_update_ts:
                return PessimisticLockNotFound(key, LockNotFoundReason.NON_LOCK_KEY_CONFLICT)
        elif commit_ts > start_ts:
            return self._conflict(key, newest, ConflictReason.OPTIMISTIC)
        if mutation.op == INSERT:
            version = self.mvcc.newest_value(key)
            if version is not None and version.kind == PUT:
                return AlreadyExist(key, version.start_ts)
        return None

    def _conflict(self, key: bytes, newest: Write, reason: ConflictReason) -> WriteConflict:
        return WriteConflict(key, self.start_ts, newest.start_ts, newest.commit_ts, reason)
