"""A member's apply goroutine: the store's apply pool, with a Go process's CPU and bolt's lock.

Source: etcd-io/etcd release-3.4 etcdserver/server.go (applyAll), mvcc/backend/batch_tx.go (Lock).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sim.raftstore.apply import ApplyPool
from sim.raftstore.peer import OWNED

if TYPE_CHECKING:
    from sim.etcd.costs import Priced
    from sim.etcd.go_process import GoProcess
    from sim.protocol.raft.log import Entry
    from sim.raftstore.peer import Peer


class MemberApply(ApplyPool):
    """The apply goroutine of one member."""

    __slots__ = ("_committing", "_pay", "_postponed", "_process")

    def runs_in(self, process: GoProcess, costs: Priced) -> None:
        """Says whose threads it uses."""
        self._process = process
        self._pay = costs
        self._committing = False
        self._postponed = False

    @property
    def backend(self) -> Any:
        """What is applied goes there."""
        return self._kv

    def lock(self) -> None:
        """Bolt commits: nothing is applied until ``unlock``."""
        self._committing = True

    def unlock(self) -> None:
        """Bolt has committed."""
        self._committing = False
        if self._postponed:
            self._postponed = False
            self._begin()

    def _begin(self) -> None:
        if self._committing:
            self._postponed = True
            return
        batch: list[tuple[Peer, list[Entry]]] = []
        count = payload = 0
        while self._queue and len(batch) < self._batch:
            peer = self._queue.popleft()
            peer.apply_turn = OWNED
            entries, peer.apply_queue = peer.apply_queue, []
            count += len(entries)
            payload += sum(entry.size_bytes for entry in entries)
            batch.append((peer, entries))
        self._cores.running += 1  # Until ``_end``.
        self.rounds += 1
        self._process.submit(self._pay.apply_ns(count, payload), self._end, batch)
