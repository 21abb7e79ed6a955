"""What the laboratory notes while the model runs: branches taken, locks gone from tables."""

from __future__ import annotations

from collections.abc import Sequence

from sim.probe import Probe
from sim.protocol.records import Lock
from sim.raftstore.peer import Peer


class Watcher(Probe):
    """Counts marks, and keeps which locks were dropped, where and why."""

    def __init__(self) -> None:
        self.marks: dict[str, int] = {}
        self.dropped: list[tuple[bytes, int, str, int, str]] = []
        """key, start_ts, cause, store, `` deleted`` for a lock that was marked so."""

    def mark(self, name: str) -> None:
        """Counts a branch."""
        self.marks[name] = self.marks.get(name, 0) + 1

    def table_dropped(
        self, peer: Peer, locks: Sequence[tuple[bytes, Lock, bool]], cause: str
    ) -> None:
        """Notes locks that a table has lost."""
        for key, lock, deleted in locks:
            mark = " deleted" if deleted else ""
            self.dropped.append((key, lock.start_ts, cause, peer.store, mark))
