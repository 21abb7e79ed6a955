"""Prewrites and the primary's commit as groups of requests: how each is cut after a split.

Source: tikv/client-go txnkv/transaction/prewrite.go, commit.go (doActionOnMutations).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.client.requests import RequestGroup

if TYPE_CHECKING:
    from sim.client.kv_client import KvClient
    from sim.client.transaction_state import TransactionState
    from sim.storage.request import KvRequest


class Prewrites(RequestGroup):
    """Prewrites; a commit in one phase that has to be cut may go on as an async commit."""

    __slots__ = ("_txn", "_use_async")

    def __init__(
        self, kv: KvClient, requests: list[KvRequest], txn: TransactionState, *, use_async: bool
    ) -> None:
        self._txn = txn
        self._use_async = use_async
        super().__init__(kv, requests)

    def cut(self, request: KvRequest) -> list[KvRequest]:
        """Returns the parts by the regions of now; a part alone stays as it was."""
        parts = super().cut(request)
        if request.one_pc and len(parts) > 1 and self._use_async:
            for part in parts:
                part.use_async_commit = True
                if part.primary in part.keys:
                    add_secondaries(part, self._txn)
        return parts


class PrimaryCommit(RequestGroup):
    """The commit that decides. After a split only the primary's part of it goes at once.

    A secondary must not be committed before its primary, whose commit_ts may yet be refused.
    """

    __slots__ = ("left_over",)

    def __init__(self, kv: KvClient, requests: list[KvRequest]) -> None:
        self.left_over: list[bytes] = []
        super().__init__(kv, requests)

    def cut(self, request: KvRequest) -> list[KvRequest]:
        """Returns the part with the primary; the other keys are left over."""
        parts = super().cut(request)
        for part in parts:
            if part.primary not in part.keys:
                self.left_over += part.keys
        return [part for part in parts if part.primary in part.keys]


def add_secondaries(request: KvRequest, txn: TransactionState) -> None:
    """Makes a prewrite that of an async commit's primary: it names all the other keys."""
    others = tuple([key for key in txn.buffer if key != txn.primary])
    request.secondaries = others
    request.request_bytes += sum(map(len, others)) + 2 * len(others)
