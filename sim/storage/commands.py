"""From a KV request to Percolator's command, and how far each command looks.

Each function reads the region's records and returns what the command says: a result with a
``batch`` to write, or a refusal. Nothing is changed here, but by an ablation.

Source: tikv/tikv src/storage/txn/commands/; RFC 77, Loss of pessimistic locks (why a pushed
min_commit_ts must be replicated); src/storage/txn/actions/prewrite.rs (amend_pessimistic_lock).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sim.protocol import percolator
from sim.protocol.ablations import Ablations
from sim.protocol.concurrency_manager import ConcurrencyManager
from sim.protocol.percolator import (
    Committed,
    Prewritten,
    SecondaryLocks,
    TxnStatus,
    load_lock,
)
from sim.protocol.records import INSERT
from sim.protocol.timestamp import MAX_TS
from sim.raftstore.peer import Peer
from sim.storage.request import Kind, KvRequest

_COP: Final = Kind.COP
_SCAN_LOCK: Final = Kind.SCAN_LOCK
_LOCK: Final = Kind.LOCK
_PREWRITE: Final = Kind.PREWRITE
_COMMIT: Final = Kind.COMMIT
"""The frequent ones: reading a member of an enum takes 70 ns."""

Execute = Callable[[KvRequest, Peer, int, Ablations], object]
"""The type of ``execute``."""


def execute(request: KvRequest, peer: Peer, max_ts: int, ablations: Ablations) -> object:
    """Runs a command that may write on the records and locks of ``peer``.

    Args:
        request: the command; ``Kind`` beyond the reads.
        peer: the leader that has given it a snapshot.
        max_ts: the latest timestamp that the store has been read at.
        ablations: protections that are switched off.
    """
    kind = request.kind
    if kind is _LOCK:
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
    if kind is _PREWRITE:
        return _prewrite(request, peer, max_ts, ablations)
    if kind is _COMMIT:
        return percolator.commit(
            peer.state.mvcc,
            peer.locks,
            request.keys,
            start_ts=request.start_ts,
            commit_ts=request.commit_ts,
        )
    return _execute_rare(request, peer)


def _execute_rare(request: KvRequest, peer: Peer) -> object:
    """Runs a command that is sent only when a transaction meets a conflict or a failure."""
    mvcc, locks, start_ts = peer.state.mvcc, peer.locks, request.start_ts
    match request.kind:
        case Kind.PESSIMISTIC_ROLLBACK:
            return percolator.pessimistic_rollback(
                mvcc, locks, request.keys, start_ts, request.for_update_ts
            )
        case Kind.ROLLBACK:
            return percolator.rollback(mvcc, locks, request.keys, start_ts)
        case Kind.HEARTBEAT:
            return percolator.txn_heart_beat(
                mvcc, locks, request.primary, start_ts, request.lock_ttl_ms
            )
        case Kind.CHECK_TXN_STATUS:
            return _check_txn_status(request, peer)
        case Kind.RESOLVE_LOCK:
            return percolator.resolve_lock(
                mvcc, locks, request.keys, start_ts=start_ts, commit_ts=request.commit_ts
            )
        case Kind.CHECK_SECONDARY_LOCKS:
            return percolator.check_secondary_locks(mvcc, locks, request.keys, start_ts)
        case Kind.CLEANUP:
            return percolator.cleanup(mvcc, locks, request.keys[0], start_ts, request.current_ts)
        case _:
            raise AssertionError(f"{request} only reads")


def _prewrite(request: KvRequest, peer: Peer, max_ts: int, ablations: Ablations) -> object:
    """Prewrite and PessimisticPrewrite, with async commit and 1PC where asked for."""
    mvcc, locks = peer.state.mvcc, peer.locks
    if ablations.no_amend_check:  # A lost lock is taken for one that was never needed.
        request.mutations = tuple(
            mutation
            if load_lock(mvcc, locks, mutation.key) is not None
            else mutation._replace(pessimistic_check=False)
            for mutation in request.mutations
        )
    return percolator.prewrite(
        mvcc,
        locks,
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


def _check_txn_status(request: KvRequest, peer: Peer) -> object:
    """CheckTxnStatus; ``request.start_ts`` is the transaction asked about."""
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


def read_up_to(request: KvRequest) -> int:
    """Returns up to which timestamp a command looks; no async commit may promise less afterwards.

    Source: tikv/tikv src/storage/txn/commands (update_max_ts).
    """
    kind = request.kind
    if kind is _LOCK:
        return request.for_update_ts if request.wants_values or request.insert else 0
    if kind is _PREWRITE:
        inserts = INSERT in [mutation.op for mutation in request.mutations]
        return request.start_ts if inserts else 0
    if kind is _COMMIT:
        return 0
    match kind:
        case Kind.CHECK_TXN_STATUS:
            looked = (request.start_ts, request.for_update_ts, request.current_ts)
            return max(ts for ts in looked if ts < MAX_TS)
        case Kind.CHECK_SECONDARY_LOCKS | Kind.CLEANUP:
            return request.start_ts
        case _:
            return 0


def seeks_versions(request: KvRequest) -> bool:
    """Returns whether a command looks for the versions of its keys, or only for their locks.

    A lock that is found in a second phase, or by a pessimistic prewrite, says all; if it is not
    found, which is rare, the command looks further.

    Source: tikv/tikv src/storage/txn/actions (acquire_pessimistic_lock.rs, prewrite.rs, commit.rs).
    """
    kind = request.kind
    return kind is _LOCK or (kind is _PREWRITE and not request.pessimistic)


def known_commit_ts(request: KvRequest) -> int:
    """Returns when a command that has succeeded knows its transaction to be committed; 0: not.

    Source: tikv/tikv src/storage/txn/commands (known_txn_status).
    """
    match request.result:
        case Committed():
            return request.commit_ts
        case Prewritten(one_pc_commit_ts=commit_ts):
            return commit_ts if request.one_pc else 0
        case TxnStatus(commit_ts=commit_ts) | SecondaryLocks(commit_ts=commit_ts):
            return commit_ts
        case _:
            return 0


def read(request: KvRequest, peer: Peer, concurrency: ConcurrencyManager) -> object:
    """Returns the first lock that a read at ``request.start_ts`` meets, or None.

    ScanLock meets none: it returns the locks of transactions as old as ``start_ts`` or older.

    Args:
        request: a point read of ``keys``, or a range read of pairs (first, last) of them.
        peer: the leader that serves it.
        concurrency: has the locks of async-commit prewrites on their way through Raft.
    """
    mvcc, keys, read_ts = peer.state.mvcc, request.keys, request.start_ts
    if request.kind is _SCAN_LOCK:
        start_key, end_key = keys
        return percolator.scan_locks(
            mvcc, peer.locks, start_key, end_key, max_ts=read_ts, limit=request.rows
        )
    passed = request.bypass + request.access
    if request.kind is _COP:
        ranges = list(zip(keys[::2], keys[1::2], strict=True))
        return percolator.lock_blocking_ranges(mvcc, concurrency.locks, ranges, read_ts, passed)
    return percolator.lock_blocking_keys(mvcc, concurrency.locks, keys, read_ts, passed)
