"""Where a key's lock is looked for (in memory first, then the lock CF), and what records say.

Source: tikv/tikv src/storage/mvcc/reader/reader.rs (load_lock, load_in_memory_pessimistic_lock).
"""

from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.mvcc import DELETE, ROLLBACK, Lock, Mvcc, Write

NO_LOCKS: dict[bytes, Lock] = {}
"""Stands for the table of a peer that has none; never written."""


def load_lock(mvcc: Mvcc, memory: PeerPessimisticLocks | None, key: bytes) -> Lock | None:
    """Returns the lock of ``key``; one in memory that is marked deleted still counts."""
    held = None if memory is None else memory.map.get(key)
    return held if held is not None else mvcc.locks.get(key)


def newest_data(write: Write | None) -> Write | None:
    """Returns the newest PUT or DELETE at or below ``write``, past locks and rollbacks."""
    while write is not None and write.kind > DELETE:
        write = write.prev
    return write


def is_rollback(write: Write) -> bool:
    """Returns whether the record at ``commit_ts == start_ts`` says "rolled back"."""
    return write.kind == ROLLBACK or write.has_overlapped_rollback
