"""What TiDB does for a transaction after its client has been answered.

Law: nobody waits for these requests, and a refusal changes nothing: a lock that stays behind is
resolved by whoever meets it. When the last one is answered the transaction stops running, as far
as the collection of old versions is concerned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.client.requests import NOBODY, RequestGroup, keys_by_region
from sim.cluster.request import Kind, KvRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.client.requests import RegionGroup
    from sim.client.session import SessionParts
    from sim.client.transaction_state import TransactionState

_COMMIT: Final = Kind.COMMIT


class Background:
    """Fire-and-forget requests of one TiDB node."""

    __slots__ = ("_parts",)

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts

    def commit(self, txn: TransactionState, groups: Sequence[RegionGroup], commit_ts: int) -> None:
        """Commits mutations whose transaction is committed already."""
        self._send(txn, self.commit_requests(txn, groups, commit_ts))

    def commit_requests(
        self, txn: TransactionState, groups: Sequence[RegionGroup], commit_ts: int
    ) -> list[KvRequest]:
        """Returns one commit request for each group."""
        parts = self._parts
        requests = []
        for group in groups:
            request = KvRequest(_COMMIT, group.region, NOBODY, parts.node.node, txn.start_ts)
            request.keys = tuple(group.keys)
            request.primary = txn.primary
            request.commit_ts = commit_ts
            request.request_bytes = sum(map(len, request.keys)) + 3 * len(request.keys)
            requests.append(request)
        parts.stats.by_kind[_COMMIT].value += len(requests)
        return requests

    def pessimistic_rollback(self, txn: TransactionState, keys: Sequence[bytes]) -> None:
        """Gives back the locks of a failed statement; its transaction goes on."""
        parts = self._parts
        self._dispatch(RequestGroup(parts.node.env, self.rollback_requests(txn, keys), parts.stats))

    def rollback_requests(self, txn: TransactionState, keys: Sequence[bytes]) -> list[KvRequest]:
        """Returns the requests that free pessimistic locks."""
        parts = self._parts
        requests = []
        for region, group in keys_by_region(parts.cluster, keys):
            request = KvRequest(
                Kind.PESSIMISTIC_ROLLBACK, region, NOBODY, parts.node.node, txn.start_ts
            )
            request.keys = tuple(group)
            request.for_update_ts = txn.for_update_ts
            request.request_bytes = sum(map(len, group)) + 3 * len(group)
            requests.append(request)
        return requests

    def roll_back(self, txn: TransactionState, prewrites: Sequence[KvRequest]) -> None:
        """Rolls back whatever a refused prewrite may have written or locked."""
        parts = self._parts
        requests = []
        for prewrite in prewrites:
            request = KvRequest(
                Kind.ROLLBACK, prewrite.region, NOBODY, parts.node.node, txn.start_ts
            )
            request.keys = prewrite.keys
            request.request_bytes = sum(map(len, request.keys)) + 3 * len(request.keys)
            requests.append(request)
        self._send(txn, requests)

    def _send(self, txn: TransactionState, requests: list[KvRequest]) -> None:
        if not requests:
            self._parts.cluster.tso.end(txn.start_ts)
            return
        group = _Ending(self._parts, requests, txn.start_ts)
        self._dispatch(group)

    def _dispatch(self, group: RequestGroup) -> None:
        for request in group.requests:
            self._parts.node.send(request)


class _Ending(RequestGroup):
    """Requests after which a transaction runs no more."""

    __slots__ = ("_parts", "_start_ts")

    def __init__(self, parts: SessionParts, requests: list[KvRequest], start_ts: int) -> None:
        self._parts = parts
        self._start_ts = start_ts
        super().__init__(parts.node.env, requests, parts.stats)

    def all_replied(self) -> None:
        """Ends the transaction."""
        self._parts.cluster.tso.end(self._start_ts)
