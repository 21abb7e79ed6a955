"""What TiDB does for a transaction after its client has been answered.

Law: nobody waits for these requests, and a refusal changes nothing: a lock that stays behind is
resolved by whoever meets it. When the last one is answered the transaction stops running, as far
as the collection of old versions is concerned; one whose locks stay behind never does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.client.callers import NOBODY
from sim.client.region_groups import keys_by_region
from sim.client.requests import RequestGroup
from sim.storage.request import Kind, KvRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.client.kv_client import KvClient
    from sim.client.region_groups import RegionGroup
    from sim.client.transaction_state import TransactionState

_COMMIT: Final = Kind.COMMIT


class Background:
    """Fire-and-forget requests of one TiDB node."""

    __slots__ = ("_kv",)

    def __init__(self, kv: KvClient) -> None:
        self._kv = kv

    def commit(self, txn: TransactionState, groups: Sequence[RegionGroup], commit_ts: int) -> None:
        """Commits mutations whose transaction is committed already."""
        self._send(txn, self.commit_requests(txn, groups, commit_ts))

    def commit_requests(
        self, txn: TransactionState, groups: Sequence[RegionGroup], commit_ts: int
    ) -> list[KvRequest]:
        """Returns one commit request for each group."""
        kv = self._kv
        requests = []
        for group in groups:
            request = KvRequest(_COMMIT, group.route, NOBODY, kv.node.node, txn.start_ts)
            request.keys = tuple(group.keys)
            request.primary = txn.primary
            request.commit_ts = commit_ts
            request.request_bytes = sum(map(len, request.keys)) + 3 * len(request.keys)
            requests.append(request)
        kv.stats.by_kind[_COMMIT].value += len(requests)
        return requests

    def pessimistic_rollback(self, txn: TransactionState, keys: Sequence[bytes]) -> None:
        """Gives back the locks of a failed statement; its transaction goes on."""
        RequestGroup(self._kv, self.rollback_requests(txn, keys)).send()

    def rollback_requests(self, txn: TransactionState, keys: Sequence[bytes]) -> list[KvRequest]:
        """Returns the requests that free pessimistic locks."""
        node = self._kv.node
        requests = []
        for route, group in keys_by_region(node.regions, keys):
            request = KvRequest(Kind.PESSIMISTIC_ROLLBACK, route, NOBODY, node.node, txn.start_ts)
            request.keys = tuple(group)
            request.for_update_ts = txn.for_update_ts
            request.request_bytes = sum(map(len, group)) + 3 * len(group)
            requests.append(request)
        return requests

    def roll_back(self, txn: TransactionState, groups: Sequence[RegionGroup]) -> None:
        """Rolls back whatever a refused prewrite may have written or locked."""
        requests = []
        for group in groups:
            request = KvRequest(
                Kind.ROLLBACK, group.route, NOBODY, self._kv.node.node, txn.start_ts
            )
            request.keys = tuple(group.keys)
            request.request_bytes = sum(map(len, request.keys)) + 3 * len(request.keys)
            requests.append(request)
        self._send(txn, requests)

    def _send(self, txn: TransactionState, requests: list[KvRequest]) -> None:
        if not requests:
            self._kv.tso.end(txn.start_ts)
            return
        _Ending(self._kv, requests, txn.start_ts).send()


class _Ending(RequestGroup):
    """Requests after which a transaction runs no more."""

    __slots__ = ("_start_ts",)

    def __init__(self, kv: KvClient, requests: list[KvRequest], start_ts: int) -> None:
        self._start_ts = start_ts
        super().__init__(kv, requests)

    def all_replied(self) -> None:
        """Ends the transaction, unless locks of it may have stayed behind."""
        if self.failure is None:
            self._kv.tso.end(self._start_ts)
