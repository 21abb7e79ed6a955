"""Two-phase commit, with async commit and one-phase commit where they are allowed.

Prewrites of all regions go together. With async commit the transaction is committed when all are
prewritten, at the greatest of their ``min_commit_ts``; the commit requests follow in the
background. Otherwise a ``commit_ts`` is fetched, the primary is committed, and the secondaries
follow in the background.

A region error that lasts ends the transaction. If one of the requests that decide (the primary's
commit, any prewrite of an async or one-phase commit) may have been carried out without an answer,
its end is undetermined: nothing is rolled back, and the locks are left to whoever meets them.

Nobody waits for what is sent in the background, and a refusal changes nothing: a lock that is left
behind is resolved by whoever meets it. A transaction counts as running, as far as the collection of
old versions is concerned, until the last of these requests is answered; if locks of it may be left
behind, it counts for ever.

Source: tikv/client-go txnkv/transaction/2pc.go (execute, checkAsyncCommit, checkOnePC,
needLinearizability, setUndeterminedErr), commit.go, cleanup.go; tidb_guarantee_linearizability,
which only matters to explicit transactions.
"""

from collections.abc import Collection, Generator, Sequence
from typing import Any, Final

from sim.client.lock_resolver import LockResolver
from sim.client.prewrite import Prewriter
from sim.client.region_groups import RegionGroup, mutations_by_region
from sim.client.region_request import RequestGroup
from sim.client.tidb import TidbNode
from sim.client.transaction_state import (
    OptimisticConflict,
    TransactionAborted,
    TransactionState,
    TransactionUndetermined,
)
from sim.engine import Wait
from sim.protocol.percolator import CommitTsExpired, MvccError, Prewritten
from sim.protocol.region_errors import RegionError
from sim.storage.message_sizes import keys_bytes
from sim.storage.request import Kind, KvRequest
from sim.units import KIB

_COMMIT: Final = Kind.COMMIT

ASYNC_COMMIT_KEYS: Final = 256
ASYNC_COMMIT_KEY_BYTES: Final = 4 * KIB
"""``async-commit.keys-limit`` and ``async-commit.total-key-size-limit``."""


class _PrimaryCommit(RequestGroup):
    """The commit that decides. After a split only the primary's part of it is sent at once.

    A secondary must not be committed before its primary, whose commit_ts may yet be refused.
    """

    __slots__ = ("left_over",)

    def __init__(self, node: TidbNode, requests: list[KvRequest]) -> None:
        super().__init__(node, requests)
        self.left_over: list[bytes] = []

    def regroup(self, request: KvRequest) -> list[KvRequest]:
        """Returns the part with the primary; the other keys are left over."""
        parts = super().regroup(request)
        for part in parts:
            if part.primary not in part.keys:
                self.left_over += part.keys
        return [part for part in parts if part.primary in part.keys]


class TwoPhaseCommitter:
    """Commits for the sessions of one TiDB node."""

    def __init__(self, node: TidbNode, resolver: LockResolver) -> None:
        self._node = node
        self._prewriter = Prewriter(node, resolver)

    def commit(self, txn: TransactionState) -> Generator[Wait, Any, None]:
        """Commits the buffered mutations; returns when the client may be answered.

        Raises:
            TransactionAborted: prewrite was refused for good; what it wrote is rolled back in the
                background.
            TransactionUndetermined: nobody has said whether it is committed.
            OptimisticConflict: as aborted, for a transaction without locks.
        """
        node, settings = self._node, self._node.settings
        mutations = txn.mutations()
        if not txn.primary:
            txn.primary = min(txn.buffer)  # client-go's buffer is in the order of the keys.
        groups = mutations_by_region(node.regions, mutations)
        node.stats.mutations.value += len(mutations)
        txn.one_pc = settings.one_pc and len(groups) == 1
        txn.use_async_commit = settings.async_commit and may_commit_async(txn.buffer)
        after_ts = max(txn.start_ts, txn.for_update_ts)
        skips_tso = txn.use_async_commit or txn.one_pc
        if settings.guarantee_linearizability and txn.explicit and skips_tso:
            # Linearizability: whatever was committed before this COMMIT has a smaller commit_ts.
            after_ts = yield from node.timestamp()
        known = node.regions.changes
        answers = yield from self._prewrite(txn, groups, after_ts)
        if txn.one_pc and len(answers) == 1 and answers[0].one_pc_commit_ts:
            node.tso.end(txn.start_ts)
            return
        if known != node.regions.changes:
            groups = mutations_by_region(node.regions, mutations)
        decided_ts = _decided_ts(txn, answers)
        if decided_ts:
            self._commit_in_background(txn, groups, decided_ts)
        else:
            yield from self._commit_primary(txn, groups)

    def _prewrite(
        self, txn: TransactionState, groups: list[RegionGroup], after_ts: int
    ) -> Generator[Wait, Any, list[Prewritten]]:
        try:
            return (yield from self._prewriter.prewrite(txn, groups, after_ts))
        except TransactionUndetermined:
            raise
        except (TransactionAborted, OptimisticConflict):
            self._clean_up(txn, groups)
            raise

    def _commit_primary(
        self, txn: TransactionState, groups: list[RegionGroup]
    ) -> Generator[Wait, Any, None]:
        node = self._node
        primary = next(group for group in groups if txn.primary in group.keys)
        while True:
            commit_ts = yield from node.timestamp()
            commit = _PrimaryCommit(node, self._commit_requests(txn, [primary], commit_ts))
            yield commit.send()
            result = commit.requests[0].result
            if commit.failure is not None and commit.may_be_applied:
                raise TransactionUndetermined
            if isinstance(result, CommitTsExpired):
                continue
            if isinstance(result, MvccError | RegionError):
                self._clean_up(txn, groups)
                raise TransactionAborted(type(result).__name__)
            break
        rest = [group for group in groups if group is not primary]
        if commit.left_over:
            left_over = [txn.buffer[key] for key in commit.left_over]
            rest += mutations_by_region(node.regions, left_over)
        self._commit_in_background(txn, rest, commit_ts)

    def _commit_in_background(
        self, txn: TransactionState, groups: Sequence[RegionGroup], commit_ts: int
    ) -> None:
        """Commits mutations whose transaction is committed already."""
        self._send_last(txn, self._commit_requests(txn, groups, commit_ts))

    def _commit_requests(
        self, txn: TransactionState, groups: Sequence[RegionGroup], commit_ts: int
    ) -> list[KvRequest]:
        """Returns one commit request for each group."""
        requests = []
        for group in groups:
            request = self._request(_COMMIT, txn, group)
            request.primary = txn.primary
            request.commit_ts = commit_ts
            requests.append(request)
        self._node.stats.by_kind[_COMMIT].value += len(requests)
        return requests

    def _clean_up(self, txn: TransactionState, groups: Sequence[RegionGroup]) -> None:
        """Rolls back whatever a refused prewrite may have written or locked."""
        self._send_last(txn, [self._request(Kind.ROLLBACK, txn, group) for group in groups])
        txn.locked.clear()  # They are among the mutations.

    def _request(self, kind: Kind, txn: TransactionState, group: RegionGroup) -> KvRequest:
        request = self._node.new_request(kind, group.route, txn.start_ts)
        request.keys = tuple(group.keys)
        request.request_bytes = keys_bytes(request.keys)
        return request

    def _send_last(self, txn: TransactionState, requests: list[KvRequest]) -> None:
        """Sends requests whose answers end a transaction; if one fails, locks may be left."""
        if requests:
            RequestGroup(self._node, requests, self._last_answered).send()
        else:
            self._node.tso.end(txn.start_ts)

    def _last_answered(self, group: RequestGroup) -> None:
        if group.failure is None:
            self._node.tso.end(group.requests[0].start_ts)


def _decided_ts(txn: TransactionState, answers: list[Prewritten]) -> int:
    """Returns the commit_ts if the prewrites have decided it, or 0.

    They have, too, if one of them finds the transaction committed: its answer had been lost.
    """
    committed_ts = max((answer.one_pc_commit_ts for answer in answers), default=0)
    if committed_ts or not txn.use_async_commit:
        return committed_ts
    promises = [answer.min_commit_ts for answer in answers]
    return max(promises) if all(promises) else 0


def may_commit_async(keys: Collection[bytes]) -> bool:
    """Returns whether a transaction that writes ``keys`` is small enough for async commit."""
    return len(keys) <= ASYNC_COMMIT_KEYS and sum(map(len, keys)) <= ASYNC_COMMIT_KEY_BYTES
