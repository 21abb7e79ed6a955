"""What commands and readers find on a key: its lock, its newest version, and who blocks a read.

A lock is looked for in memory first, then in the lock CF. Pessimistic locks and locks without a
write never block a reader, so readers cannot notice that a pessimistic lock is lost. The caller of
a read has raised its store's max_ts to ``read_ts``, so that no async commit can end up below it.

Source: tikv/tikv src/storage/mvcc/reader/reader.rs (load_lock, load_in_memory_pessimistic_lock,
scan_locks), point_getter.rs; components/txn_types/src/lock.rs (check_ts_conflict_si);
components/concurrency_manager/src/lib.rs (read_key_check, read_range_check).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.mvcc import DELETE, LOCK_ONLY, PESSIMISTIC, PUT, ROLLBACK, Lock, Mvcc, Write
from sim.protocol.percolator.errors import KeyIsLocked
from sim.protocol.timestamp import MAX_TS

NO_LOCKS: dict[bytes, Lock] = {}
"""Stands for the table of a peer that has none; never written."""


class ScannedLocks(NamedTuple):
    """Locks by key; ``has_remain``: the limit was reached before the end of the range."""

    locks: list[tuple[bytes, Lock]]
    has_remain: bool


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


def visible_version(mvcc: Mvcc, key: bytes, read_ts: int) -> Write | None:
    """Returns the row that is committed at ``read_ts``, whether or not it is locked, or None."""
    version = mvcc.writes.get(key)
    while version is not None and (version.commit_ts > read_ts or version.kind > DELETE):
        version = version.prev
    return version if version is not None and version.kind == PUT else None


def blocks_reader(key: bytes, lock: Lock, read_ts: int, bypass: Sequence[int] = ()) -> bool:
    """Returns whether a snapshot read at ``read_ts`` must wait for ``lock`` on ``key``.

    Args:
        key: what is read.
        lock: the lock on it.
        read_ts: timestamp of the read; ``MAX_TS`` for a point get in auto-commit.
        bypass: start_ts of transactions known to be over, or to commit only after ``read_ts``.
    """
    if read_ts == MAX_TS and key == lock.primary and not (lock.use_async_commit or lock.use_one_pc):
        return False  # The newest version is asked for, and this one is not committed yet.
    return (
        lock.start_ts <= read_ts
        and lock.min_commit_ts <= read_ts
        and lock.kind not in {PESSIMISTIC, LOCK_ONLY}
        and lock.start_ts not in bypass
    )


def lock_blocking_keys(
    mvcc: Mvcc,
    prewriting: Mapping[bytes, Lock],
    keys: Sequence[bytes],
    read_ts: int,
    bypass: Sequence[int] = (),
) -> KeyIsLocked | None:
    """Returns the first lock that a point read of ``keys`` must wait for, or None.

    Args:
        mvcc: the region's records.
        prewriting: memory locks of async-commit prewrites that are being replicated; their
            min_commit_ts is fixed already, so a later reader must not pass them.
        keys: what is read.
        read_ts: timestamp of the read.
        bypass: see ``blocks_reader``.
    """
    for table in (mvcc.locks, prewriting):
        if table:
            for key in keys:
                lock = table.get(key)
                if lock is not None and blocks_reader(key, lock, read_ts, bypass):
                    return KeyIsLocked(key, lock)
    return None


def lock_blocking_ranges(
    mvcc: Mvcc,
    prewriting: Mapping[bytes, Lock],
    ranges: Sequence[tuple[bytes, bytes]],
    read_ts: int,
    bypass: Sequence[int] = (),
) -> KeyIsLocked | None:
    """Returns a lock that a read of ``ranges`` (first key, last key) must wait for, or None.

    The oldest such lock of the lock CF, or else of ``prewriting``; arguments as those of
    ``lock_blocking_keys``.
    """
    lowest, highest = min(first for first, _ in ranges), max(last for _, last in ranges)
    for table in (mvcc.locks, prewriting):
        for key in [key for key in table if lowest <= key <= highest]:
            if any(first <= key <= last for first, last in ranges):
                lock = table[key]
                if blocks_reader(key, lock, read_ts, bypass):
                    return KeyIsLocked(key, lock)
    return None


def scan_locks(
    mvcc: Mvcc,
    memory: PeerPessimisticLocks | None,
    start_key: bytes,
    end_key: bytes,
    *,
    max_ts: int,
    limit: int = 0,
) -> ScannedLocks:
    """Returns the locks in ``[start_key, end_key)`` of transactions that began by ``max_ts``.

    A key that is locked in memory and in the lock CF is returned once, as the lock CF has it. An
    empty ``end_key`` is the end of the key space, a ``limit`` of 0 none.
    """
    tables = (mvcc.locks,) if memory is None else (memory.map, mvcc.locks)
    found = {
        key: lock
        for table in tables
        for key, lock in table.items()
        if start_key <= key and (not end_key or key < end_key) and lock.start_ts <= max_ts
    }
    locks = sorted(found.items(), key=lambda item: item[0])
    return ScannedLocks(locks[: limit or None], has_remain=0 < limit < len(locks))
