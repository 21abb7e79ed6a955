"""Snapshot reads: what a transaction sees at its ``start_ts``, and whom it must wait for.

Pessimistic locks and locks without a write never block a reader, so losing one is invisible here.

Source: tikv/tikv components/txn_types/src/lock.rs (check_ts_conflict_si),
src/storage/mvcc/reader/point_getter.rs; src/storage/mvcc/reader/reader.rs (scan_locks).
"""

from typing import NamedTuple

from sim.protocol.lock_table import PeerPessimisticLocks
from sim.protocol.mvcc import DELETE, PUT, Lock, Mvcc, Write
from sim.protocol.percolator.errors import KeyIsLocked


class ScannedLocks(NamedTuple):
    """Locks by key; ``has_remain``: the limit was reached before the end of the range."""

    locks: list[tuple[bytes, Lock]]
    has_remain: bool


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


def snapshot_get(mvcc: Mvcc, key: bytes, start_ts: int) -> Write | KeyIsLocked | None:
    """Returns the version of ``key`` visible at ``start_ts``, None, or the lock in the way.

    The caller has raised its store's max_ts to ``start_ts``, so that no async commit can slip in
    below the read.
    """
    lock = mvcc.locks.get(key)
    if (
        lock is not None
        and lock.kind <= DELETE
        and lock.start_ts <= start_ts
        and lock.min_commit_ts <= start_ts
    ):
        return KeyIsLocked(key, lock)
    return visible_version(mvcc, key, start_ts)


def visible_version(mvcc: Mvcc, key: bytes, read_ts: int) -> Write | None:
    """Returns the row that is committed at ``read_ts``, whoever has locked it; None if none is."""
    version = mvcc.writes.get(key)
    while version is not None and (version.commit_ts > read_ts or version.kind > DELETE):
        version = version.prev
    return version if version is not None and version.kind == PUT else None
