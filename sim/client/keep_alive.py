"""TxnHeartBeat: keeps the primary lock of a long transaction alive.

Law: the first beat is due 10 s after the transaction's first lock, the next ones 10 s apart. All
periods are equal, so transactions fall due in the order in which they began: one process looks at
the oldest, and a transaction that ends in time costs nothing.

Source: tikv/client-go txnkv/transaction/2pc.go (ttlManager, ManagedLockTTL / 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.client.callers import NOBODY
from sim.client.requests import RequestGroup
from sim.protocol.percolator import MvccError
from sim.storage.request import Kind, KvRequest
from sim.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.client.kv_client import KvClient
    from sim.client.transaction_state import TransactionState

PERIOD_NS: Final = 10 * NS_PER_S
"""``ManagedLockTTL / 2``."""


class KeepAlive:
    """The heartbeats of one TiDB node."""

    __slots__ = ("_due", "_kv")

    def __init__(self, kv: KvClient) -> None:
        self._kv = kv
        self._due: dict[int, TransactionState] = {}

    def begin(self, txn: TransactionState) -> None:
        """Notes a transaction's first lock."""
        txn.has_primary_lock = True
        txn.heartbeat_due_ns = self._kv.env.now_ns + PERIOD_NS
        self._due[txn.start_ts] = txn

    def end(self, txn: TransactionState) -> None:
        """Notes that a transaction needs no more beats."""
        self._due.pop(txn.start_ts, None)

    def run(self) -> Generator[Event, Any, None]:
        """Sends what is due, for ever; lets requests time out that are not answered at all."""
        env = self._kv.env
        while True:
            self._kv.connections.look()
            oldest = next(iter(self._due.values()), None)
            if oldest is None:
                yield env.timeout(PERIOD_NS)
            elif oldest.heartbeat_due_ns > env.now_ns:
                yield env.timeout(oldest.heartbeat_due_ns - env.now_ns)
            else:
                self._beat(oldest)

    def _beat(self, txn: TransactionState) -> None:
        kv = self._kv
        now_ns = kv.env.now_ns
        del self._due[txn.start_ts]
        txn.heartbeat_due_ns = now_ns + PERIOD_NS
        self._due[txn.start_ts] = txn
        route = kv.node.regions.locate(txn.primary)
        request = KvRequest(Kind.HEARTBEAT, route, NOBODY, kv.node.node, txn.start_ts)
        request.keys = (txn.primary,)
        request.primary = txn.primary
        request.lock_ttl_ms = txn.lock_ttl_ms(now_ns // NS_PER_MS)
        _Beat(self._due, request, kv).send()


class _Beat(RequestGroup):
    """One heartbeat; if the primary lock is gone there will be no more for its transaction."""

    __slots__ = ("_due",)

    def __init__(self, due: dict[int, TransactionState], request: KvRequest, kv: KvClient) -> None:
        self._due = due
        super().__init__(kv, [request])

    def all_replied(self) -> None:
        request = self.requests[0]
        if isinstance(request.result, MvccError):
            self._due.pop(request.start_ts, None)
