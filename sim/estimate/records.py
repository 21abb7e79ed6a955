"""The bytes that one command writes: raft log, WAL, memtables, or a place in a lock table."""

from collections.abc import Iterable
from typing import NamedTuple

from sim.protocol.encoding import RecordSizes


class Records(NamedTuple):
    """What one command writes, in bytes; ``raft`` is without an entry's header."""

    keys: int
    """Puts and deletes, in any column family."""
    raft: int
    wal: int
    data_cf: int = 0
    """Entering the memtables of the default and write CF."""
    tombstones: int = 0
    memory: int = 0
    """Of a pessimistic lock: what it takes in a lock table instead."""

    @staticmethod
    def total(of_keys: Iterable["Records"]) -> "Records":
        """Returns the sum over the keys of a command."""
        return Records(*map(sum, zip(*of_keys, strict=True)))


def locked(size: RecordSizes) -> Records:
    """Returns what a pessimistic lock writes."""
    return Records(1, size.put_raft_bytes, size.put_wal_bytes, memory=size.memory_bytes)


def unlocked(size: RecordSizes) -> Records:
    """Returns what giving up a lock writes."""
    raft, wal = size.delete_raft_bytes, size.delete_wal_bytes
    return Records(1, raft, wal, tombstones=size.tombstone_bytes)


def prewritten(size: RecordSizes) -> Records:
    """Returns what a prewrite of a key writes."""
    raft, wal = size.prewrite_raft_bytes, size.prewrite_wal_bytes
    keys = 2 if size.default_cf_bytes else 1
    return Records(keys, raft, wal, data_cf=size.default_cf_bytes)


def committed(size: RecordSizes) -> Records:
    """Returns what a commit of a key writes."""
    raft, wal = size.commit_raft_bytes, size.commit_wal_bytes
    return Records(2, raft, wal, size.write_cf_bytes, size.tombstone_bytes)


def committed_in_one_phase(size: RecordSizes, *, was_locked: bool) -> Records:
    """Returns both phases' records but the lock, which is only deleted where one was held."""
    put = Records(1, size.put_raft_bytes, size.put_wal_bytes)
    delete = unlocked(size) if not was_locked else Records(0, 0, 0)
    both = zip(prewritten(size), committed(size), put, delete, strict=True)
    return Records(*(first + second - less - unneeded for first, second, less, unneeded in both))
