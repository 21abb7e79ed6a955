"""Snapshot isolation and no lost update, over what was committed.

Invariant: between a transaction's read of a key and its commit no other transaction commits on that
key. A key that was locked was read at the lock's ``for_update_ts``; a key without lock (an
optimistic transaction's, or one whose lock was lost and amended) at ``start_ts``. Keys that a
pessimistic transaction writes without ever locking them (index entries) are covered by their row.

Records of a key are looked at in the order in which they are applied, which is the order in which
the key was locked for commit. Only the newest commit of a key is kept, and only as long as a
transaction runs that may not have seen it.

Source: Berenson et al., A Critique of ANSI SQL Isolation Levels, 1995 (P4); TiKV's amend rule.
"""

from collections.abc import Callable
from typing import Final

from sim.checks.report import Report
from sim.observers.lock_fates import LockFates
from sim.protocol.keys import show_key
from sim.protocol.percolator import Prewritten
from sim.protocol.records import DELETE, ROLLBACK, Write
from sim.protocol.write_batch import WriteBatch
from sim.raftstore.peer import RaftCommand
from sim.storage.request import Kind, KvRequest

LAW: Final = "lost update"
_PREWRITE: Final = Kind.PREWRITE
_FORGET_EVERY: Final = 4096
"""Keys that gather before old commits are forgotten."""


class SnapshotIsolation:
    """Watches every command once, when the first replica has applied it."""

    def __init__(self, report: Report, fates: LockFates, safe_ts: Callable[[], int]) -> None:
        self._report = report
        self._fates = fates
        self._safe_ts = safe_ts
        self._newest: dict[bytes, int] = {}
        """Newest commit_ts of each key."""
        self._unlocked: dict[bytes, int] = {}
        """Keys prewritten without a lock by a transaction that had read them: its start_ts."""
        self._forget_at = _FORGET_EVERY

    def command_applied(self, command: RaftCommand, batch: WriteBatch) -> None:
        """Takes a command that was applied for the first time."""
        puts = batch.write_puts
        records = puts or batch.lock_puts
        if records and isinstance(command, KvRequest) and command.kind is _PREWRITE:
            self._note_unlocked(command, [key for key, _ in records])
        if puts:
            self._versions_put(puts)
            if len(self._newest) > self._forget_at:
                self._forget()

    def _versions_put(self, puts: list[tuple[bytes, Write]]) -> None:
        newest = self._newest
        for key, write in puts:
            if write.kind == ROLLBACK:
                self._unlocked.pop(key, None)
                continue
            start_ts, commit_ts = write.start_ts, write.commit_ts
            last = newest.get(key, 0)
            if last > start_ts and last != commit_ts:
                self._check(key, start_ts, commit_ts, last)
            if write.kind <= DELETE and commit_ts > last:
                newest[key] = commit_ts

    def _check(self, key: bytes, start_ts: int, commit_ts: int, last: int) -> None:
        """Looks when a transaction read ``key``, on which another committed after its start."""
        lock = self._fates.held.get(key)
        if lock is not None and lock.start_ts == start_ts:
            granted = lock.result
            read_ts = max(lock.for_update_ts, granted.locked_with_conflict_ts)  # type: ignore[attr-defined]
        elif self._unlocked.get(key) == start_ts:
            read_ts = start_ts
        else:
            return  # It never read the key.
        if last > read_ts:
            self._report.add(
                LAW,
                f"transaction {start_ts} read {show_key(key)} at {read_ts} and wrote it at "
                f"{commit_ts}, but another commit on it is at {last}",
            )

    def _note_unlocked(self, command: KvRequest, keys: list[bytes]) -> None:
        """Notes keys that are prewritten without lock although their transaction has read them.

        Those of an optimistic transaction, those that prewrite had to amend, and those whose lock
        is known to be lost.
        """
        start_ts = command.start_ts
        lost = self._fates.lost.get(start_ts, {})
        if command.pessimistic:
            result = command.result
            amended = result.amended if isinstance(result, Prewritten) else ()
            if not amended and not lost:
                return
            keys = [key for key in keys if key in amended or key in lost]
        for key in keys:
            held = self._fates.held.get(key)
            if held is None or held.start_ts != start_ts:
                self._unlocked[key] = start_ts

    def _forget(self) -> None:
        """Forgets commits that every running transaction has seen."""
        newest = self._newest
        safe_ts = self._safe_ts()
        self._newest = {key: ts for key, ts in newest.items() if ts >= safe_ts}
        self._unlocked = {key: ts for key, ts in self._unlocked.items() if ts >= safe_ts}
        self._forget_at = len(self._newest) + _FORGET_EVERY
