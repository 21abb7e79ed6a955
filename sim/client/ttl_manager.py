"""TxnHeartBeat: keeps the primary lock of a long transaction alive.

The first heartbeat is due 10 s after the transaction's first lock, the next ones 10 s apart. All
periods are equal, so transactions fall due in the order in which they began: one process looks at
the oldest, and a transaction that ends in time costs nothing.

Source: tikv/client-go txnkv/transaction/2pc.go (ttlManager, ManagedLockTTL / 2).
"""

from collections.abc import Generator
from typing import Any, Final

from sim.client.region_request import RequestGroup
from sim.client.tidb import TidbNode
from sim.client.transaction_state import TransactionState
from sim.engine import Wait
from sim.protocol.percolator import MvccError
from sim.storage.request import Kind
from sim.units import NS_PER_MS, NS_PER_S

PERIOD_NS: Final = 10 * NS_PER_S
"""``ManagedLockTTL / 2``."""


class TtlManager:
    """The heartbeats of one TiDB node."""

    def __init__(self, node: TidbNode) -> None:
        self._node = node
        self._alive: dict[int, TransactionState] = {}
        """By start_ts; the one whose heartbeat is due first comes first."""

    def keep_alive(self, txn: TransactionState) -> None:
        """Begins the heartbeats of a transaction that has its first lock."""
        txn.heartbeat_due_ns = self._node.env.now_ns + PERIOD_NS
        self._alive[txn.start_ts] = txn

    def close(self, txn: TransactionState) -> None:
        """Ends the heartbeats of a transaction, if it has any."""
        self._alive.pop(txn.start_ts, None)

    def run(self) -> Generator[Wait, Any, None]:
        """Sends what is due, for ever; scans for requests that are never answered."""
        env = self._node.env
        while True:
            self._node.connections.scan_timeouts()
            oldest = next(iter(self._alive.values()), None)
            if oldest is None:
                yield PERIOD_NS
            elif oldest.heartbeat_due_ns > env.now_ns:
                yield oldest.heartbeat_due_ns - env.now_ns
            else:
                self._send_heartbeat(oldest)

    def _send_heartbeat(self, txn: TransactionState) -> None:
        node = self._node
        self.close(txn)
        self.keep_alive(txn)
        route = node.regions.locate(txn.primary)
        request = node.new_request(Kind.HEARTBEAT, route, txn.start_ts)
        request.keys = (txn.primary,)
        request.primary = txn.primary
        request.lock_ttl_ms = txn.lock_ttl_ms(node.env.now_ns // NS_PER_MS)
        RequestGroup(node, [request], self._answered).send()

    def _answered(self, heartbeat: RequestGroup) -> None:
        """Ends the heartbeats of a transaction whose primary lock is gone."""
        request = heartbeat.requests[0]
        if isinstance(request.result, MvccError):
            self._alive.pop(request.start_ts, None)
