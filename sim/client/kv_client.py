"""One TiDB node's way to the stores, as all its sessions use it.

Source: tikv/client-go tikv/kv.go (KVStore).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.client.backoff import BUDGETS_NS, Backoffer
from sim.storage.request import Kind

if TYPE_CHECKING:
    from sim.client.client_stats import ClientStats
    from sim.client.connection import Connections
    from sim.client.tidb import TidbNode
    from sim.engine import LeanEnv
    from sim.pd.tso import TimestampOracle


class KvClient:
    """What it takes to send requests and to count them."""

    __slots__ = ("_lock_wait_timeout_ns", "connections", "env", "node", "stats", "tso")

    def __init__(
        self,
        node: TidbNode,
        stats: ClientStats,
        tso: TimestampOracle,
        lock_wait_timeout_ns: int,
    ) -> None:
        self.env: LeanEnv = node.env
        self.node = node
        self.connections: Connections = node.connections
        self.stats = stats
        self.tso = tso
        self._lock_wait_timeout_ns = lock_wait_timeout_ns

    def backoffer(self, kind: Kind) -> Backoffer:
        """Returns the waits of requests of one kind, none of them used."""
        limit_ns = self._lock_wait_timeout_ns if kind is Kind.LOCK else BUDGETS_NS[kind]
        return Backoffer(limit_ns, self.node.backoffs)
