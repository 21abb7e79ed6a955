"""From a KV request to Percolator's command, one function a kind.

Each function reads the region's records and returns what the command says: a result with a
``batch`` to write, or a refusal. Nothing is changed here.

Source: tikv/tikv src/storage/txn/commands/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.protocol import percolator
from sim.protocol.timestamp import MAX_TS
from sim.storage.request import Kind, KvRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.protocol.mvcc import Lock
    from sim.raftstore.peer import Peer


def acquire(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """AcquirePessimisticLock."""
    del max_ts
    return percolator.acquire_pessimistic_lock(
        peer.state.mvcc,
        peer.locks,
        request.keys,
        primary=request.primary,
        start_ts=request.start_ts,
        for_update_ts=request.for_update_ts,
        ttl_ms=request.lock_ttl_ms,
        min_commit_ts=request.min_commit_ts,
        should_not_exist=request.insert,
        allow_lock_with_conflict=request.allow_lock_with_conflict,
    )


def prewrite(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """Prewrite and PessimisticPrewrite, with async commit and 1PC where asked for."""
    return percolator.prewrite(
        peer.state.mvcc,
        peer.locks,
        request.mutations,
        primary=request.primary,
        start_ts=request.start_ts,
        for_update_ts=request.for_update_ts,
        ttl_ms=request.lock_ttl_ms,
        async_commit_secondaries=request.secondaries,
        use_async_commit=request.use_async_commit,
        one_pc_commit_ts=0 if request.one_pc else None,
        min_commit_ts=request.min_commit_ts,
        max_ts=max_ts,
        max_commit_ts=request.max_commit_ts,
        expected_for_update_ts=request.expected_for_update_ts,
        pessimistic=request.pessimistic,
        is_retry=request.is_retry,
    )


def commit(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """Commit."""
    del max_ts
    return percolator.commit(
        peer.state.mvcc,
        peer.locks,
        request.keys,
        start_ts=request.start_ts,
        commit_ts=request.commit_ts,
    )


def pessimistic_rollback(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """PessimisticRollback."""
    del max_ts
    return percolator.pessimistic_rollback(
        peer.state.mvcc, peer.locks, request.keys, request.start_ts, request.for_update_ts
    )


def rollback(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """BatchRollback."""
    del max_ts
    return percolator.rollback(peer.state.mvcc, peer.locks, request.keys, request.start_ts)


def heartbeat(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """TxnHeartBeat."""
    del max_ts
    return percolator.txn_heart_beat(
        peer.state.mvcc, peer.locks, request.primary, request.start_ts, request.lock_ttl_ms
    )


def check_txn_status(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """CheckTxnStatus; ``request.start_ts`` is the transaction asked about."""
    del max_ts
    return percolator.check_txn_status(
        peer.state.mvcc,
        peer.locks,
        request.primary,
        start_ts=request.start_ts,
        caller_start_ts=request.for_update_ts,
        current_ts=request.current_ts,
        rollback_if_not_exist=request.rollback_if_not_exist,
        force_sync_commit=request.force_sync_commit,
        resolving_pessimistic_lock=request.pessimistic,
    )


def resolve_lock(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """ResolveLock on given keys."""
    del max_ts
    return percolator.resolve_lock(
        peer.state.mvcc,
        peer.locks,
        request.keys,
        start_ts=request.start_ts,
        commit_ts=request.commit_ts,
    )


def check_secondary_locks(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """CheckSecondaryLocks."""
    del max_ts
    return percolator.check_secondary_locks(
        peer.state.mvcc, peer.locks, request.keys, request.start_ts
    )


def cleanup(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """Cleanup of one key."""
    del max_ts
    return percolator.cleanup(
        peer.state.mvcc, peer.locks, request.keys[0], request.start_ts, request.current_ts
    )


def _lock_looks(request: KvRequest) -> int:
    return request.for_update_ts if request.wants_values or request.insert else 0


def _status_looks(request: KvRequest) -> int:
    looked = (request.start_ts, request.for_update_ts, request.current_ts)
    return max(ts for ts in looked if ts < MAX_TS)


def _start_looks(request: KvRequest) -> int:
    return request.start_ts


LOOKS_UP_TO: Final[dict[int, Callable[[KvRequest], int]]] = {
    Kind.LOCK: _lock_looks,
    Kind.CHECK_TXN_STATUS: _status_looks,
    Kind.CHECK_SECONDARY_LOCKS: _start_looks,
    Kind.CLEANUP: _start_looks,
}
"""Up to which timestamp a command looks: no async commit may promise less afterwards.

Source: tikv/tikv src/storage/txn/commands (update_max_ts).
"""

COMMANDS: Final[dict[int, Callable[[KvRequest, Peer, int], object]]] = {
    Kind.LOCK: acquire,
    Kind.PREWRITE: prewrite,
    Kind.COMMIT: commit,
    Kind.PESSIMISTIC_ROLLBACK: pessimistic_rollback,
    Kind.ROLLBACK: rollback,
    Kind.HEARTBEAT: heartbeat,
    Kind.CHECK_TXN_STATUS: check_txn_status,
    Kind.RESOLVE_LOCK: resolve_lock,
    Kind.CHECK_SECONDARY_LOCKS: check_secondary_locks,
    Kind.CLEANUP: cleanup,
}


def read(request: KvRequest, peer: Peer, prewriting: dict[bytes, Lock]) -> object:
    """Returns the first lock that a read at ``request.start_ts`` meets, or None.

    ScanLock meets none: it returns the locks of transactions as old as ``start_ts`` or older.

    Args:
        request: a point read of ``keys``, or a range read of pairs (first, last) of them.
        peer: the leader that serves it.
        prewriting: locks of async-commit prewrites on their way through Raft; their min_commit_ts
            is fixed already, so a later reader must not pass them.
    """
    keys, read_ts, bypass = request.keys, request.start_ts, request.bypass
    if request.kind is Kind.SCAN_LOCK:
        start_key, end_key = keys
        return percolator.scan_locks(
            peer.state.mvcc, peer.locks, start_key, end_key, max_ts=read_ts, limit=request.rows
        )
    mvcc = peer.state.mvcc
    if request.kind is Kind.COP:
        ranges = list(zip(keys[::2], keys[1::2], strict=True))
        return percolator.lock_blocking_ranges(mvcc, prewriting, ranges, read_ts, bypass)
    return percolator.lock_blocking_keys(mvcc, prewriting, keys, read_ts, bypass)
