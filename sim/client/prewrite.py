"""The first phase of a commit: prewrites of all regions together, until each has an answer.

A prewrite that meets another transaction's lock resolves it and is sent again. If a commit in one
phase has to be cut because of a split, it may go on as an async commit.

Source: tikv/client-go txnkv/transaction/prewrite.go (buildPrewriteRequest, handleSingleBatch).
"""

from collections.abc import Generator
from typing import Any, Final

from sim.client.backoff import BUDGETS_NS
from sim.client.lock_resolver import LockResolver
from sim.client.region_groups import RegionGroup
from sim.client.region_request import RequestGroup
from sim.client.tidb import TidbNode
from sim.client.transaction_state import (
    OptimisticConflict,
    TransactionAborted,
    TransactionState,
    TransactionUndetermined,
)
from sim.engine import Wait
from sim.protocol.percolator import (
    KeyIsLocked,
    MvccError,
    PessimisticLockNotFound,
    Prewritten,
    WriteConflict,
)
from sim.storage.message_sizes import other_keys_bytes, prewrite_bytes
from sim.storage.request import Kind, KvRequest
from sim.units import NS_PER_MS

_PREWRITE: Final = Kind.PREWRITE


class _Prewrites(RequestGroup):
    """Prewrites of one transaction; one that has to be cut may lose the right to one phase."""

    __slots__ = ("_txn",)

    def __init__(self, node: TidbNode, requests: list[KvRequest], txn: TransactionState) -> None:
        super().__init__(node, requests)
        self._txn = txn

    def regroup(self, request: KvRequest) -> list[KvRequest]:
        """Returns the parts by the regions of now; a single part stays as it was."""
        parts = super().regroup(request)
        if request.one_pc and len(parts) > 1 and self._txn.use_async_commit:
            for part in parts:
                part.use_async_commit = True
                if part.primary in part.keys:
                    _add_secondaries(part, self._txn)
        return parts


class Prewriter:
    """Prewrites for the sessions of one TiDB node."""

    def __init__(self, node: TidbNode, resolver: LockResolver) -> None:
        self._node = node
        self._resolver = resolver

    def prewrite(
        self, txn: TransactionState, groups: list[RegionGroup], after_ts: int
    ) -> Generator[Wait, Any, list[Prewritten]]:
        """Prewrites mutations; their ``min_commit_ts`` is above ``after_ts``.

        Raises:
            TransactionAborted: a prewrite was refused for good, or has got no answer.
            TransactionUndetermined: one that has got no answer may have committed the transaction.
            OptimisticConflict: a newer version was met.
        """
        node = self._node
        requests = [self._request(txn, group, after_ts) for group in groups]
        answers: list[Prewritten] = []
        attempt = 0
        blocked_ns = 0
        while requests:
            node.stats.by_kind[_PREWRITE].value += len(requests)
            group = _Prewrites(node, requests, txn)
            yield group.send()
            requests = self._take_answers(txn, group, answers)
            if requests and blocked_ns >= BUDGETS_NS[_PREWRITE]:
                raise TransactionAborted("resolve_lock_timeout")
            blocked_ns += yield from self._resolver.resolve_all(requests, txn.start_ts, attempt)
            attempt += 1
        return answers

    def _request(self, txn: TransactionState, group: RegionGroup, after_ts: int) -> KvRequest:
        request = self._node.new_request(_PREWRITE, group.route, txn.start_ts)
        request.keys = tuple(group.keys)
        request.mutations = tuple(group.mutations)
        request.primary = txn.primary
        request.for_update_ts = 0 if txn.optimistic else txn.for_update_ts
        request.lock_ttl_ms = txn.prewrite_ttl_ms(self._node.env.now_ns // NS_PER_MS)
        request.min_commit_ts = after_ts + 1
        request.pessimistic = not txn.optimistic
        request.use_async_commit = txn.use_async_commit and not txn.one_pc
        request.one_pc = txn.one_pc
        request.request_bytes = prewrite_bytes(txn.primary, len(group.keys), group.size_bytes)
        if request.use_async_commit and txn.primary in group.keys:
            _add_secondaries(request, txn)
        return request

    def _take_answers(
        self, txn: TransactionState, group: RequestGroup, answers: list[Prewritten]
    ) -> list[KvRequest]:
        """Adds to ``answers``; returns the requests that met a lock."""
        blocked: list[KvRequest] = []
        for request in group.requests:
            result = request.result
            if isinstance(result, Prewritten):
                answers.append(result)
                self._node.stats.amended.value += len(result.amended)
            elif isinstance(result, KeyIsLocked):
                if txn.optimistic and result.lock.start_ts > txn.start_ts:
                    raise OptimisticConflict  # Sure to come, so nobody waits for it.
                blocked.append(request)
            elif isinstance(result, MvccError):
                raise _refused(result)
        if group.failure is not None:
            raise _unanswered(group)
        return blocked


def _add_secondaries(request: KvRequest, txn: TransactionState) -> None:
    """Makes a prewrite that of an async commit's primary: it names all the other keys."""
    others = tuple([key for key in txn.buffer if key != txn.primary])
    request.secondaries = others
    request.request_bytes += other_keys_bytes(others)


def _refused(result: MvccError) -> Exception:
    if isinstance(result, WriteConflict):
        return OptimisticConflict()
    if isinstance(result, PessimisticLockNotFound):
        return TransactionAborted(f"pessimistic_lock_not_found:{result.reason.value}")
    return TransactionAborted(type(result).__name__)


def _unanswered(group: RequestGroup) -> TransactionAborted:
    """Returns how a transaction ends some of whose prewrites have no answer."""
    decides = any(request.use_async_commit or request.one_pc for request in group.requests)
    if decides and group.may_be_applied:
        return TransactionUndetermined()
    return TransactionAborted(type(group.failure).__name__)
