"""Snapshot reads: what a transaction sees at its ``start_ts``, and whom it must wait for.

Pessimistic locks and locks without a write never block a reader, so losing one is invisible here.

Source: tikv/tikv components/txn_types/src/lock.rs (check_ts_conflict_si),
src/storage/mvcc/reader/point_getter.rs.
"""

from sim.protocol.mvcc import DELETE, PUT, Mvcc, Write
from sim.protocol.percolator.errors import KeyIsLocked


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
    version = mvcc.writes.get(key)
    while version is not None and (version.commit_ts > start_ts or version.kind > DELETE):
        version = version.prev
    return version if version is not None and version.kind == PUT else None
