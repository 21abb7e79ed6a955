"""The deadlock detector's table: who waits for whom, until an edge expires.

An edge lives as long as a lock wait may last; each call says what time it is. A wait that would
close a cycle is not added: the cycle is returned, and the waiter has to give up.

Source: tikv/tikv src/server/lock_manager/deadlock.rs (DetectTable).
"""

from dataclasses import dataclass, field
from typing import NamedTuple


class WaitForEntry(NamedTuple):
    """One edge: transaction ``txn`` waits for ``wait_for_txn`` to unlock ``key``."""

    txn: int
    wait_for_txn: int
    key: bytes


@dataclass(slots=True, eq=False)
class _Edge:
    seen_ns: int
    keys: dict[bytes, None] = field(default_factory=dict)


class DetectTable:
    """The wait-for graph of a cluster.

    Args:
        ttl_ns: life of an edge after it was last reported (``wait-for-lock-timeout``).
    """

    def __init__(self, ttl_ns: int) -> None:
        self.ttl_ns = ttl_ns
        self._wait_for: dict[int, dict[int, _Edge]] = {}

    def detect(self, waiter: int, holder: int, key: bytes, now_ns: int) -> list[WaitForEntry]:
        """Adds an edge, or returns the cycle it would close.

        Returns:
            The wait chain from ``holder`` back to ``waiter``, the refused edge last; empty when
            there is no deadlock.
        """
        known = self._edges_of(waiter, now_ns).get(holder)
        if known is not None:
            known.seen_ns = now_ns
            known.keys[key] = None
            return []
        chain = self._path(holder, waiter, now_ns)
        if chain is not None:
            return [*chain, WaitForEntry(waiter, holder, key)]
        edge = _Edge(now_ns)
        edge.keys[key] = None
        self._wait_for.setdefault(waiter, {})[holder] = edge
        return []

    def clean_up_wait_for(self, waiter: int, holder: int, key: bytes) -> None:
        """Removes one key from an edge: that wait is over."""
        edges = self._wait_for.get(waiter, {})
        edge = edges.get(holder)
        if edge is None:
            return
        edge.keys.pop(key, None)
        if not edge.keys:
            del edges[holder]
            if not edges:
                del self._wait_for[waiter]

    @property
    def is_empty(self) -> bool:
        """Whether it knows of no wait at all."""
        return not self._wait_for

    def edges(self, now_ns: int) -> list[WaitForEntry]:
        """Returns the edges alive at ``now_ns``, one per awaited key, oldest first."""
        return [
            WaitForEntry(waiter, holder, key)
            for waiter in list(self._wait_for)
            for holder, edge in self._edges_of(waiter, now_ns).items()
            for key in edge.keys
        ]

    def _edges_of(self, waiter: int, now_ns: int) -> dict[int, _Edge]:
        edges = self._wait_for.get(waiter)
        if edges is None:
            return {}
        expired = [h for h, edge in edges.items() if now_ns - edge.seen_ns >= self.ttl_ns]
        for holder in expired:
            del edges[holder]
        if not edges:
            del self._wait_for[waiter]
        return edges

    def _path(self, start: int, goal: int, now_ns: int) -> list[WaitForEntry] | None:
        """Returns the edges from ``start`` to ``goal``, breadth first, or None."""
        reached: dict[int, WaitForEntry | None] = {start: None}
        frontier = [start]
        for txn in frontier:
            if txn == goal:
                return _trace(reached, goal)
            for holder, edge in self._edges_of(txn, now_ns).items():
                if holder not in reached:
                    reached[holder] = WaitForEntry(txn, holder, next(iter(edge.keys)))
                    frontier.append(holder)
        return None


def _trace(reached: dict[int, WaitForEntry | None], goal: int) -> list[WaitForEntry]:
    chain: list[WaitForEntry] = []
    step = reached[goal]
    while step is not None:
        chain.append(step)
        step = reached[step.txn]
    return chain[::-1]
