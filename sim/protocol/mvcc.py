"""One region's lock and write column families, as all its replicas see them after apply.

Versions of a key are a chain, newest first. What no running transaction can see is dropped: the
driver says how far (``safe_ts``), and counts a transaction as running until its last lock is gone.

Source: tikv/tikv src/storage/mvcc/reader/reader.rs, src/storage/txn/actions/gc.rs.
"""

from sim.protocol.encoding import LockFormat, lock_format
from sim.protocol.records import (
    DELETE,
    INSERT,
    KIND_NAMES,
    LOCK,
    LOCK_ONLY,
    PESSIMISTIC,
    PUT,
    ROLLBACK,
    Lock,
    Write,
)
from sim.protocol.write_batch import WriteBatch

__all__ = [
    "DELETE",
    "INSERT",
    "KIND_NAMES",
    "LOCK",
    "LOCK_ONLY",
    "PESSIMISTIC",
    "PUT",
    "ROLLBACK",
    "Lock",
    "Mvcc",
    "Write",
]


class Mvcc:
    """The records of one region.

    Args:
        lock_records: format of lock records, which gives their sizes.
        keep_rows: keep the newest version of a row although it carries no payload. A study leaves
            this off: its rows were never loaded either, and memory stays flat.
    """

    __slots__ = ("garbage", "keep_rows", "lock_format", "locks", "writes")

    def __init__(self, lock_records: LockFormat | None = None, *, keep_rows: bool = False) -> None:
        self.lock_format = lock_records or lock_format((8, 5, 0))
        self.keep_rows = keep_rows
        self.locks: dict[bytes, Lock] = {}
        self.writes: dict[bytes, Write] = {}
        self.garbage: list[tuple[bytes, Write]] = []
        """Versions that ``collect_garbage`` has not checked, roughly by age."""

    def find_by_start_ts(self, key: bytes, start_ts: int) -> Write | None:
        """Returns the commit or rollback record of the transaction, or None."""
        write = self.writes.get(key)
        while write is not None and write.commit_ts >= start_ts:
            if write.start_ts == start_ts:
                return write
            write = write.prev
        return None

    def commit_ts_of(self, key: bytes, start_ts: int) -> int:
        """Returns when the transaction was committed on ``key``; 0 if it was not."""
        record = self.find_by_start_ts(key, start_ts)
        return 0 if record is None or record.kind == ROLLBACK else record.commit_ts

    def find_by_commit_ts(self, key: bytes, commit_ts: int) -> Write | None:
        """Returns the record at exactly ``commit_ts``, or None."""
        write = self.writes.get(key)
        while write is not None and write.commit_ts > commit_ts:
            write = write.prev
        return write if write is not None and write.commit_ts == commit_ts else None

    def apply(self, batch: WriteBatch) -> None:
        """Makes the records of a committed batch visible."""
        locks = self.locks
        for key, lock in batch.lock_puts:
            locks[key] = lock
        for key in batch.lock_deletes:
            locks.pop(key, None)
        if batch.write_puts:
            self._apply_writes(batch.write_puts)

    def _apply_writes(self, puts: list[tuple[bytes, Write]]) -> None:
        """Puts versions on their keys' chains; a record that gets a tail is this replica's own.

        All replicas of a region are given the same record, but their chains may differ: a record is
        shared only while there is nothing below it.
        """
        writes = self.writes
        garbage = self.garbage
        for put in puts:
            key, write = put
            head = writes.get(key)
            if head is None:
                writes[key] = write
                garbage.append(put)
            elif head.commit_ts >= write.commit_ts:
                self._insert_older(key, head, write)
            else:
                writes[key] = above = write.above(head)  # The same version, this replica's.
                garbage.append((key, above))

    def collect_garbage(self, safe_ts: int) -> None:
        """Drops what no transaction with ``start_ts >= safe_ts`` can see.

        Each version is checked once, when it becomes older than ``safe_ts``.
        """
        writes = self.writes
        forget = not self.keep_rows
        checked = 0
        for key, write in self.garbage:
            if write.commit_ts >= safe_ts:
                break
            checked += 1
            newest = writes.get(key)
            if write.kind <= DELETE:
                write.prev = None
                if newest is write and forget and write.value is None:
                    del writes[key]
                    continue
            if newest is write:
                self._trim(key, write)
        del self.garbage[:checked]

    def copy(self) -> "Mvcc":
        """Returns the same records as a replica of their own (a snapshot).

        Chains are shared: below a version only what nobody can see is ever changed.
        """
        twin = Mvcc(self.lock_format, keep_rows=self.keep_rows)
        twin.locks = dict(self.locks)
        twin.writes = dict(self.writes)
        twin.garbage = self.garbage.copy()
        return twin

    def split_off(self, split_key: bytes) -> "Mvcc":
        """Moves the records of all keys from ``split_key`` on into a new region, and returns it."""
        right = Mvcc(self.lock_format, keep_rows=self.keep_rows)
        for key in [key for key in self.locks if key >= split_key]:
            right.locks[key] = self.locks.pop(key)
        for key in [key for key in self.writes if key >= split_key]:
            right.writes[key] = self.writes.pop(key)
        garbage, self.garbage, right.garbage = self.garbage, [], []
        for put in garbage:
            (right if put[0] >= split_key else self).garbage.append(put)
        return right

    def absorb(self, source: "Mvcc") -> None:
        """Takes over the records of a region that is merged into this one."""
        self.locks.update(source.locks)
        self.writes.update(source.writes)
        both = [*self.garbage, *source.garbage]
        self.garbage = sorted(both, key=lambda item: item[1].commit_ts)

    def _insert_older(self, key: bytes, head: Write, write: Write) -> None:
        """Puts a record below newer ones, or over the one of the same commit_ts."""
        newer: list[Write] = []
        at: Write | None = head
        while at is not None and at.commit_ts > write.commit_ts:
            newer.append(at)
            at = at.prev
        overlapped = False
        if at is not None and at.commit_ts == write.commit_ts:
            overlapped = at.kind == ROLLBACK and write.kind != ROLLBACK
            at = at.prev
        chain = write.above(at)
        chain.has_overlapped_rollback |= overlapped
        self.garbage.append((key, chain))
        for record in reversed(newer):
            chain = record.above(chain)
            self.garbage.append((key, chain))
        self.writes[key] = chain

    def _trim(self, key: bytes, head: Write) -> None:
        """Drops a key's locks and rollbacks, and its newest version if that is not to be kept."""
        write: Write | None = head
        while write is not None and write.kind > DELETE:
            write = write.prev
        kept = write is not None and write.kind != DELETE
        if kept and write is not None and (self.keep_rows or write.value is not None):
            self.writes[key] = write
        else:
            del self.writes[key]
