"""What one command changes, and how many bytes that takes everywhere it is written.

A batch is the content of one raft entry. Commands fill it; the raft log, the KV WAL and the
memtables are charged from its counters; ``Mvcc.apply`` makes it visible. It has a cause, by which
a disk's traffic is broken down.
"""

from typing import Final

from sim.protocol.encoding import (
    SHORT_VALUE_MAX_BYTES,
    delete_sizes,
    value_delete_sizes,
    value_sizes,
    write_sizes,
)
from sim.protocol.records import Lock, Write

LOCK: Final = 0
PREWRITE: Final = 1
COMMIT: Final = 2
ROLLBACK: Final = 3
HEARTBEAT: Final = 4
MIGRATION: Final = 5
ADMIN: Final = 6

CAUSE_NAMES: Final = ("lock", "prewrite", "commit", "rollback", "heartbeat", "migration", "admin")


class WriteBatch:
    """The records of one command and their sizes in bytes.

    Attributes:
        cause: why it is written; index into CAUSE_NAMES.
        keys: number of puts and deletes.
        raft_bytes: requests inside the raft entry, without ENTRY_OVERHEAD_BYTES.
        wal_bytes: records inside the KV WAL, without KV_APPLY_BYTES and KV_BATCH_BYTES.
        lock_tombstone_bytes: deletes entering the lock CF's memtable.
    """

    __slots__ = (
        "cause",
        "default_cf_bytes",
        "keys",
        "lock_deletes",
        "lock_puts",
        "lock_tombstone_bytes",
        "raft_bytes",
        "wal_bytes",
        "write_cf_bytes",
        "write_puts",
    )

    def __init__(self, cause: int) -> None:
        self.cause = cause
        self.lock_puts: list[tuple[bytes, Lock]] = []
        self.lock_deletes: list[bytes] = []
        self.write_puts: list[tuple[bytes, Write]] = []
        self.keys = 0
        self.raft_bytes = 0
        self.wal_bytes = 0
        self.lock_tombstone_bytes = 0
        self.write_cf_bytes = 0
        self.default_cf_bytes = 0

    def charge_puts(self, raft: int, wal: int, default_cf: int, values: int) -> None:
        """Sets the counters to sums that the command made while it filled ``lock_puts``.

        ``values`` is how many values of those locks are records of the default CF.
        """
        self.keys = len(self.lock_puts) + values
        self.raft_bytes = raft
        self.wal_bytes = wal
        self.default_cf_bytes = default_cf

    def put_lock(self, key: bytes, lock: Lock) -> None:
        """Adds a put of a lock record (its long value apart)."""
        sizes = lock.sizes
        self.lock_puts.append((key, lock))
        self.keys += 1
        self.raft_bytes += sizes.put_raft_bytes
        self.wal_bytes += sizes.put_wal_bytes

    def put_value(self, key: bytes, value_bytes: int) -> None:
        """Counts a value in the default CF, if it is too long for the lock or write record."""
        raft, wal, cf_bytes = value_sizes(len(key), value_bytes)
        if cf_bytes:
            self.keys += 1
        self.raft_bytes += raft
        self.wal_bytes += wal
        self.default_cf_bytes += cf_bytes

    def delete_value(self, key: bytes, value_bytes: int) -> None:
        """Counts the delete of a rolled-back value in the default CF, if it has its own record."""
        if value_bytes > SHORT_VALUE_MAX_BYTES:
            raft, wal, cf_bytes = value_delete_sizes(len(key))
            self.keys += 1
            self.raft_bytes += raft
            self.wal_bytes += wal
            self.default_cf_bytes += cf_bytes

    def delete_lock(self, key: bytes) -> None:
        """Adds the delete of a lock record; it is written whether or not the record exists."""
        raft, wal, tombstone = delete_sizes(len(key))
        self.lock_deletes.append(key)
        self.keys += 1
        self.raft_bytes += raft
        self.wal_bytes += wal
        self.lock_tombstone_bytes += tombstone

    def put_write(self, key: bytes, write: Write) -> None:
        """Adds a write record: a commit, or a rollback."""
        raft, wal, cf_bytes = write_sizes(len(key), write.value_bytes)
        self.write_puts.append((key, write))
        self.keys += 1
        self.raft_bytes += raft
        self.wal_bytes += wal
        self.write_cf_bytes += cf_bytes
