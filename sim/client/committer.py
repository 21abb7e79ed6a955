"""Two-phase commit, with async commit and one-phase commit where they are allowed.

Law: prewrites of all regions go together. With async commit the transaction is committed when all
are prewritten, at the greatest of their ``min_commit_ts``; the commit requests follow in the
background. Otherwise a ``commit_ts`` is fetched, the primary is committed, and the secondaries
follow in the background.

A region error that lasts ends the transaction. If one of the requests that decide (the primary's
commit, any prewrite of an async or one-phase commit) may have been carried out without an answer,
its end is undetermined: nothing is rolled back, and the locks are left to whoever meets them.

Source: tikv/client-go txnkv/transaction/2pc.go (execute, checkAsyncCommit, checkOnePC,
needLinearizability, setUndeterminedErr), prewrite.go, commit.go; tidb_guarantee_linearizability,
which only matters to explicit transactions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.client.backoff import BUDGETS_NS
from sim.client.callers import NOBODY
from sim.client.commit_groups import Prewrites, PrimaryCommit, add_secondaries
from sim.client.region_groups import mutations_by_region
from sim.client.transaction_state import TransactionAborted, TransactionUndetermined
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
from sim.protocol.region_errors import RegionError
from sim.storage.request import Kind, KvRequest
from sim.units import KIB, NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.client.background import Background
    from sim.client.kv_client import KvClient
    from sim.client.lock_resolver import LockResolver
    from sim.client.region_groups import RegionGroup
    from sim.client.requests import RequestGroup
    from sim.client.transaction_state import TransactionState
    from sim.scenario.resolved import Tidb

_PREWRITE: Final = Kind.PREWRITE

ASYNC_COMMIT_KEYS: Final = 256
ASYNC_COMMIT_KEY_BYTES: Final = 4 * KIB
"""``async-commit.keys-limit`` and ``async-commit.total-key-size-limit``."""


class OptimisticConflict(Exception):
    """An auto-commit statement met a newer version; it is tried again with locks."""


class Committer:
    """Commits for the sessions of one TiDB node."""

    __slots__ = ("_background", "_kv", "_resolver", "_tidb")

    def __init__(
        self, kv: KvClient, tidb: Tidb, background: Background, resolver: LockResolver
    ) -> None:
        self._kv = kv
        self._tidb = tidb
        self._background = background
        self._resolver = resolver

    def commit(self, txn: TransactionState) -> Generator[Event, Any, None]:
        """Commits the buffered mutations; returns when the client may be told.

        Raises:
            TransactionAborted: prewrite was refused for good; what it wrote is rolled back in the
                background.
            TransactionUndetermined: nobody has said whether it is committed.
            OptimisticConflict: as aborted, for a transaction without locks.
        """
        for key in txn.locked:
            if key not in txn.buffer:
                txn.buffer[key] = Mutation(key, LOCK_ONLY)
        mutations = list(txn.buffer.values())
        if not txn.primary:
            txn.primary = mutations[0].key
        groups = mutations_by_region(self._kv.node.regions, mutations)
        self._kv.stats.mutations.value += len(mutations)
        one_pc = self._tidb.one_pc and len(groups) == 1
        use_async = self._tidb.async_commit and may_commit_async(mutations)
        after_ts = max(txn.start_ts, txn.for_update_ts)
        if self._tidb.guarantee_linearizability and txn.explicit and (use_async or one_pc):
            # Linearizability: whatever was committed before this COMMIT has a smaller commit_ts.
            after_ts = yield self._kv.node.timestamp()
        known = self._kv.node.regions.changes
        requests = self._prewrite_requests(
            txn, groups, after_ts, use_async=use_async, one_pc=one_pc
        )
        answers = yield from self._prewrite(txn, requests, groups, use_async=use_async)
        if one_pc and len(answers) == 1 and answers[0].one_pc_commit_ts:
            self._kv.tso.end(txn.start_ts)
            return
        if known != self._kv.node.regions.changes:
            groups = mutations_by_region(self._kv.node.regions, mutations)
        decided_ts = _decided_ts(answers, use_async=use_async)
        if decided_ts:
            self._background.commit(txn, groups, decided_ts)
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
        kv = self._kv
        now_ms = kv.env.now_ns // NS_PER_MS
        primary = txn.primary
        requests = []
        for group in groups:
            request = KvRequest(_PREWRITE, group.route, NOBODY, kv.node.node, txn.start_ts)
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
                add_secondaries(request, txn)
            requests.append(request)
        return requests

    def _prewrite(
        self,
        txn: TransactionState,
        requests: list[KvRequest],
        groups: list[RegionGroup],
        *,
        use_async: bool,
    ) -> Generator[Event, Any, list[Prewritten]]:
        kv = self._kv
        answers: list[Prewritten] = []
        attempt = 0
        blocked_ns = 0
        while requests:
            kv.stats.by_kind[_PREWRITE].value += len(requests)
            group = Prewrites(kv, requests, txn, use_async=use_async)
            yield group.send()
            try:
                requests = self._take_answers(group, answers)
                _check_budget(requests, blocked_ns)
            except TransactionUndetermined:
                raise
            except (TransactionAborted, OptimisticConflict):
                self._give_up(txn, groups)
                raise
            began_ns = kv.env.now_ns
            for request in requests:
                met = request.result
                assert isinstance(met, KeyIsLocked), "only blocked prewrites are sent again"
                gone = yield from self._resolver.resolve(met.key, met.lock, txn.start_ts)
                if not gone:
                    yield self._resolver.backoff(attempt)
                request.result = None
            blocked_ns += kv.env.now_ns - began_ns
            attempt += 1
        return answers

    def _take_answers(self, group: RequestGroup, answers: list[Prewritten]) -> list[KvRequest]:
        """Adds to ``answers``; returns who met a lock."""
        again: list[KvRequest] = []
        for request in group.requests:
            result = request.result
            if isinstance(result, Prewritten):
                answers.append(result)
                self._kv.stats.amended.value += result.amended
            elif isinstance(result, KeyIsLocked):
                again.append(request)
            elif isinstance(result, MvccError):
                raise _refused(result)
        if group.failure is not None:
            raise _unanswered(group)
        return again

    def _give_up(self, txn: TransactionState, groups: list[RegionGroup]) -> None:
        self._background.roll_back(txn, groups)
        txn.locked.clear()  # They are among the mutations.

    def _commit_primary(
        self, txn: TransactionState, groups: list[RegionGroup]
    ) -> Generator[Event, Any, None]:
        kv = self._kv
        primary = next(group for group in groups if txn.primary in group.keys)
        while True:
            commit_ts = yield kv.node.timestamp()
            requests = self._background.commit_requests(txn, [primary], commit_ts)
            group = PrimaryCommit(kv, requests)
            yield group.send()
            result = group.requests[0].result
            if group.failure is not None and group.may_be_applied:
                raise TransactionUndetermined
            if isinstance(result, CommitTsExpired):
                continue
            if isinstance(result, MvccError | RegionError):
                self._give_up(txn, groups)
                raise TransactionAborted(type(result).__name__)
            break
        rest = [other for other in groups if other is not primary]
        if group.left_over:
            rest += mutations_by_region(
                kv.node.regions, [txn.buffer[key] for key in group.left_over]
            )
        self._background.commit(txn, rest, commit_ts)


def _decided_ts(answers: list[Prewritten], *, use_async: bool) -> int:
    """Returns the commit_ts if the prewrites have decided it, or 0.

    They have, too, if one of them finds the transaction committed: its answer had been lost.
    """
    committed_ts = max((answer.one_pc_commit_ts for answer in answers), default=0)
    if committed_ts or not use_async:
        return committed_ts
    promises = [answer.min_commit_ts for answer in answers]
    return max(promises) if all(promises) else 0


def may_commit_async(mutations: list[Mutation]) -> bool:
    """Returns whether a transaction is small enough for async commit."""
    if len(mutations) > ASYNC_COMMIT_KEYS:
        return False
    return sum(len(mutation.key) for mutation in mutations) <= ASYNC_COMMIT_KEY_BYTES


def _refused(result: MvccError) -> Exception:
    if isinstance(result, WriteConflict):
        return OptimisticConflict()
    if isinstance(result, PessimisticLockNotFound):
        return TransactionAborted(f"pessimistic_lock_not_found:{result.reason.value}")
    return TransactionAborted(type(result).__name__)


def _check_budget(blocked: list[KvRequest], blocked_ns: int) -> None:
    if blocked and blocked_ns >= BUDGETS_NS[_PREWRITE]:
        raise TransactionAborted("resolve_lock_timeout")


def _unanswered(group: RequestGroup) -> TransactionAborted:
    """Returns how a transaction ends some of whose prewrites have no answer."""
    decides = any(request.use_async_commit or request.one_pc for request in group.requests)
    if decides and group.may_be_applied:
        return TransactionUndetermined()
    return TransactionAborted(type(group.failure).__name__)
