"""Two-phase commit, with async commit and one-phase commit where they are allowed.

Law: prewrites of all regions go together. With async commit the transaction is committed when all
are prewritten, at the greatest of their ``min_commit_ts``; the commit requests follow in the
background. Otherwise a ``commit_ts`` is fetched, the primary is committed, and the secondaries
follow in the background.

Source: tikv/client-go txnkv/transaction/2pc.go (execute, checkAsyncCommit, checkOnePC,
needLinearizability); tidb_guarantee_linearizability, which only matters to explicit transactions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.client.requests import NOBODY, RequestGroup, mutations_by_region
from sim.client.transaction_state import TransactionAborted
from sim.cluster.request import Kind, KvRequest
from sim.protocol.mvcc import LOCK_ONLY
from sim.protocol.percolator import (
    CommitTsExpired,
    KeyIsLocked,
    Mutation,
    MvccError,
    PessimisticLockNotFound,
    Prewritten,
    WriteConflict,
)
from sim.units import KIB, NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.client.requests import RegionGroup
    from sim.client.session import SessionParts
    from sim.client.transaction_state import TransactionState

_PREWRITE: Final = Kind.PREWRITE

ASYNC_COMMIT_KEYS: Final = 256
ASYNC_COMMIT_KEY_BYTES: Final = 4 * KIB
"""``async-commit.keys-limit`` and ``async-commit.total-key-size-limit``."""


class OptimisticConflict(Exception):
    """An auto-commit statement met a newer version; it is tried again with locks."""


class Committer:
    """Commits for the sessions of one TiDB node."""

    __slots__ = ("_parts",)

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts

    def commit(self, txn: TransactionState) -> Generator[Event, Any, None]:
        """Commits the buffered mutations; returns when the client may be told.

        Raises:
            TransactionAborted: prewrite was refused for good; what it wrote is rolled back in the
                background.
            OptimisticConflict: likewise, for a transaction without locks.
        """
        for key in txn.locked:
            if key not in txn.buffer:
                txn.buffer[key] = Mutation(key, LOCK_ONLY)
        mutations = list(txn.buffer.values())
        if not txn.primary:
            txn.primary = mutations[0].key
        groups = mutations_by_region(self._parts.cluster, mutations)
        self._parts.stats.mutations.value += len(mutations)
        one_pc = self._parts.one_pc and len(groups) == 1
        use_async = self._parts.async_commit and self._may_commit_async(mutations)
        after_ts = max(txn.start_ts, txn.for_update_ts)
        if self._parts.guarantee_linearizability and txn.explicit and (use_async or one_pc):
            # Linearizability: whatever was committed before this COMMIT has a smaller commit_ts.
            after_ts = yield self._parts.node.timestamp()
        requests = self._prewrite_requests(
            txn, groups, after_ts, use_async=use_async, one_pc=one_pc
        )
        answers = yield from self._prewrite(txn, requests)
        commit_ts = max((answer.min_commit_ts for answer in answers), default=0)
        if one_pc and answers[0].one_pc_commit_ts:
            self._parts.cluster.tso.end(txn.start_ts)
            return
        if use_async and all(answer.min_commit_ts for answer in answers):
            self._parts.background.commit(txn, groups, commit_ts)
            return
        yield from self._commit_primary(txn, groups)

    def _prewrite_requests(
        self,
        txn: TransactionState,
        groups: list[RegionGroup],
        after_ts: int,
        *,
        use_async: bool,
        one_pc: bool,
    ) -> list[KvRequest]:
        parts = self._parts
        now_ms = parts.node.env.now_ns // NS_PER_MS
        primary = txn.primary
        requests = []
        for group in groups:
            request = KvRequest(_PREWRITE, group.region, NOBODY, parts.node.node, txn.start_ts)
            request.keys = tuple(group.keys)
            request.mutations = tuple(group.mutations)
            request.primary = primary
            request.for_update_ts = 0 if txn.optimistic else txn.for_update_ts
            request.lock_ttl_ms = txn.prewrite_ttl_ms(now_ms)
            request.min_commit_ts = after_ts + 1
            request.pessimistic = not txn.optimistic
            request.use_async_commit = use_async and not one_pc
            request.one_pc = one_pc
            request.request_bytes = group.size_bytes + len(primary) + 8 * len(group.keys)
            if request.use_async_commit and primary in group.keys:
                others = tuple([key for key in txn.buffer if key != primary])
                request.secondaries = others
                request.request_bytes += sum(map(len, others)) + 2 * len(others)
            requests.append(request)
        return requests

    def _prewrite(
        self, txn: TransactionState, requests: list[KvRequest]
    ) -> Generator[Event, Any, list[Prewritten]]:
        parts = self._parts
        answers: list[Prewritten] = []
        attempt = 0
        sent = list(requests)
        while requests:
            parts.stats.by_kind[_PREWRITE].value += len(requests)
            group = RequestGroup(parts.node.env, requests, parts.stats)
            for request in requests:
                parts.node.send(request)
            yield group.event
            again: list[KvRequest] = []
            for request in requests:
                result = request.result
                if isinstance(result, Prewritten):
                    answers.append(result)
                    parts.stats.amended.value += result.amended
                elif isinstance(result, KeyIsLocked):
                    again.append(request)
                else:
                    assert isinstance(result, MvccError), f"unexpected answer {result!r}"
                    parts.background.roll_back(txn, sent)
                    txn.locked.clear()  # They are among the mutations.
                    raise _refused(result)
            for request in again:
                met = request.result
                assert isinstance(met, KeyIsLocked), "only blocked prewrites are sent again"
                gone = yield from parts.resolver.resolve(met.key, met.lock, txn.start_ts)
                if not gone:
                    yield parts.resolver.backoff(attempt)
                request.result = None
            attempt += 1
            requests = again
        return answers

    def _commit_primary(
        self, txn: TransactionState, groups: list[RegionGroup]
    ) -> Generator[Event, Any, None]:
        parts = self._parts
        primary = next(group for group in groups if txn.primary in group.keys)
        while True:
            commit_ts = yield parts.node.timestamp()
            requests = parts.background.commit_requests(txn, [primary], commit_ts)
            group = RequestGroup(parts.node.env, requests, parts.stats)
            parts.node.send(requests[0])
            yield group.event
            result = requests[0].result
            if isinstance(result, CommitTsExpired):
                continue
            if isinstance(result, MvccError):
                raise TransactionAborted(type(result).__name__)
            break
        parts.background.commit(txn, [g for g in groups if g is not primary], commit_ts)

    @staticmethod
    def _may_commit_async(mutations: list[Mutation]) -> bool:
        if len(mutations) > ASYNC_COMMIT_KEYS:
            return False
        return sum(len(mutation.key) for mutation in mutations) <= ASYNC_COMMIT_KEY_BYTES


def _refused(result: MvccError) -> Exception:
    if isinstance(result, WriteConflict):
        return OptimisticConflict()
    if isinstance(result, PessimisticLockNotFound):
        return TransactionAborted(f"pessimistic_lock_not_found:{result.reason.value}")
    return TransactionAborted(type(result).__name__)
