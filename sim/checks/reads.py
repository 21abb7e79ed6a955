"""Reads: whatever is read anywhere has every version that it must have.

Invariant, for every request on every replica that carries it out:

- its snapshot has each version that was committed and answered before the request was sent
  (linearizability of a region's leader);
- a read that meets no lock, and a lock that is granted, have each version with a ``commit_ts`` up
  to the timestamp that they read at, answered or not: whoever commits so early had prewritten, and
  answered, before that timestamp was handed out;
- no version appears later at or below a timestamp at which its key has been read, but that of a
  transaction through whose lock it was read;
- a transaction through whose lock a key was read is committed there next, at a timestamp no later
  than the read's.

What is older than the oldest running transaction may have been collected: a replica that has no
version at all of such a key is not blamed.

Source: Percolator (Peng and Dabek, 2010), 2.2; Herlihy and Wing, Linearizability, 1990; tikv/tikv
components/raftstore/src/store/peer.rs (on_leader_commit_idx_changed: how a leader may come to read
what is stale).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from sim.checks.report import Report
from sim.protocol.keys import show_key
from sim.protocol.mvcc import Mvcc
from sim.protocol.percolator import Acquired
from sim.protocol.percolator.read import newest_data
from sim.protocol.records import DELETE
from sim.protocol.timestamp import MAX_TS
from sim.protocol.write_batch import ROLLBACK, WriteBatch
from sim.raftstore.peer import Peer
from sim.storage.probe import Probe
from sim.storage.request import Kind, KvRequest

FRESH: Final = "reads see what is committed"
REPEATABLE: Final = "no commit below a read"
COMMITTED: Final = "no read of what is not committed"

_COP: Final = Kind.COP
_LOCK: Final = Kind.LOCK
_SCAN_LOCK: Final = Kind.SCAN_LOCK
_FORGET_EVERY: Final = 4096
"""Keys that gather before those are forgotten that nobody can miss any more."""


class Commit:
    """The newest version of a key, and the one before it."""

    __slots__ = ("before", "command", "commit_ts")

    def __init__(self, commit_ts: int, command: KvRequest, before: Commit | None) -> None:
        self.commit_ts = commit_ts
        self.command = command
        """The command that wrote it."""
        self.before = before


class ReadThrough:
    """Reads of a key through the lock of one transaction: their lowest and latest timestamp."""

    __slots__ = ("latest_ts", "lowest_ts", "start_ts")

    def __init__(self, start_ts: int, read_ts: int) -> None:
        self.start_ts = start_ts
        self.lowest_ts = self.latest_ts = read_ts

    def add(self, read_ts: int) -> None:
        """Takes another."""
        self.lowest_ts = min(self.lowest_ts, read_ts)
        self.latest_ts = max(self.latest_ts, read_ts)


class Reads(Probe):
    """Watches what is committed, when the first replica has applied it, and what is read."""

    def __init__(self, report: Report, safe_ts: Callable[[], int]) -> None:
        self._report = report
        self._safe_ts = safe_ts
        self._newest: dict[bytes, Commit] = {}
        self._keys: list[bytes] = []
        """The keys of ``_newest`` in order."""
        self._read_at: dict[bytes, int] = {}
        """By key, the latest timestamp of a read that met no lock."""
        self._read_through: dict[bytes, ReadThrough] = {}
        """By key, the reads through a lock whose transaction has not been committed on it yet."""
        self._forget_at = _FORGET_EVERY

    def command_applied(self, command: KvRequest, batch: WriteBatch) -> None:
        """Notes the versions that a command writes, when it was applied for the first time.

        A rollback writes none: it may mark one that was committed at its timestamp.
        """
        if batch.cause == ROLLBACK:
            return
        for key, write in batch.write_puts:
            if write.kind <= DELETE:
                self._committed(key, write.commit_ts, command)

    def snapshot_read(self, peer: Peer, request: KvRequest) -> None:
        """Looks whether a request has read all that it must have read."""
        kind = request.kind
        mvcc = peer.state.mvcc
        if kind is _LOCK:
            read_ts = request.for_update_ts if request.result.__class__ is Acquired else 0
            self._look(mvcc, request.keys, read_ts, peer, request)
        elif kind < _LOCK:
            self._read(mvcc, peer, request)
        else:
            keys = request.keys or [mutation[0] for mutation in request.mutations]
            self._look(mvcc, keys, 0, peer, request)

    def _read(self, mvcc: Mvcc, peer: Peer, request: KvRequest) -> None:
        keys: Sequence[bytes] = request.keys
        if request.kind is _COP:
            contains = request.region.contains
            keys = [key for key in self._keys_within(request.keys) if contains(key)]
        elif request.kind is _SCAN_LOCK:
            return
        read_ts = request.start_ts
        if request.result is not None or read_ts == MAX_TS:
            self._look(mvcc, keys, 0, peer, request)
            return
        read_at = self._read_at
        for key in keys:
            if request.access and _reads_through(request, mvcc, key):
                self._note_read_through(key, mvcc.locks[key].start_ts, read_ts)
            elif read_at.get(key, 0) < read_ts:
                read_at[key] = read_ts
        self._look(mvcc, keys, read_ts, peer, request)

    def _note_read_through(self, key: bytes, start_ts: int, read_ts: int) -> None:
        newest = self._newest.get(key)
        noted = self._read_through.get(key)
        if newest is not None and newest.command.start_ts == start_ts:
            self._end_read_through(key, ReadThrough(start_ts, read_ts), newest.commit_ts)
        elif noted is not None and noted.start_ts == start_ts:
            noted.add(read_ts)
        else:
            if noted is not None:
                self._end_read_through(key, noted, MAX_TS)
            self._read_through[key] = ReadThrough(start_ts, read_ts)

    def _end_read_through(self, key: bytes, reads: ReadThrough, commit_ts: int) -> None:
        """Judges reads through a lock when its transaction has been committed; or not: MAX_TS."""
        self._read_at[key] = max(self._read_at.get(key, 0), reads.latest_ts)
        if reads.lowest_ts < commit_ts:
            when = "not" if commit_ts == MAX_TS else f"at {commit_ts}"
            self._report.add(
                COMMITTED,
                f"{show_key(key)} was read at {reads.lowest_ts} through the lock of "
                f"{reads.start_ts}, which is committed {when}",
            )

    def _look(
        self, mvcc: Mvcc, keys: Iterable[bytes], read_ts: int, peer: Peer, request: KvRequest
    ) -> None:
        newest, writes = self._newest, mvcc.writes
        for key in keys:
            commit = newest.get(key)
            if commit is not None:
                head = writes.get(key)
                if head is None or head.commit_ts < commit.commit_ts or head.kind > DELETE:
                    self._look_closely(mvcc, key, commit, read_ts, peer, request)

    def _look_closely(
        self,
        mvcc: Mvcc,
        key: bytes,
        commit: Commit | None,
        read_ts: int,
        peer: Peer,
        request: KvRequest,
    ) -> None:
        version = newest_data(mvcc.writes.get(key))
        seen = version.commit_ts if version is not None else 0
        through = mvcc.locks[key].start_ts if _reads_through(request, mvcc, key) else 0
        while commit is not None and commit.commit_ts > seen:
            if commit.command.start_ts == through:
                return
            answered = 0 < commit.command.replied_ns <= request.sent_ns
            collected = not seen and commit.commit_ts < self._safe_ts()
            if (answered or commit.commit_ts <= read_ts) and not collected:
                self._report.add(
                    FRESH,
                    f"{request.kind.name} of {request.start_ts} on store {peer.store} has "
                    f"{show_key(key)} as of {seen}, but a commit on it is at {commit.commit_ts}: "
                    f"{peer}",
                )
                return
            commit = commit.before

    def _committed(self, key: bytes, commit_ts: int, command: KvRequest) -> None:
        before = self._newest.get(key)
        through = self._read_through.pop(key, None)
        if through is not None and through.start_ts != command.start_ts:
            self._end_read_through(key, through, MAX_TS)
        read_ts = self._read_at.get(key, 0)
        if read_ts >= commit_ts:
            self._report.add(
                REPEATABLE,
                f"{show_key(key)} was read at {read_ts} before {command.start_ts} committed it at "
                f"{commit_ts}",
            )
        if through is not None and through.start_ts == command.start_ts:
            self._end_read_through(key, through, commit_ts)
        if before is None:
            insort(self._keys, key)
            if len(self._keys) > self._forget_at:
                self._forget()
        else:
            if before.commit_ts >= commit_ts:
                return
            before.before = None
        self._newest[key] = Commit(commit_ts, command, before)

    def _keys_within(self, ends: tuple[bytes, ...]) -> Sequence[bytes]:
        """Returns the keys with versions in ranges, given as pairs (first key, last key)."""
        known = self._keys
        if len(ends) == 2:
            return known[bisect_left(known, ends[0]) : bisect_left(known, ends[1] + b"\0")]
        return [
            key
            for first, last in zip(ends[::2], ends[1::2], strict=True)
            for key in known[bisect_left(known, first) : bisect_left(known, last + b"\0")]
        ]

    def _forget(self) -> None:
        """Forgets what every running transaction has seen."""
        safe_ts = self._safe_ts()
        newest = self._newest.items()
        self._newest = {key: commit for key, commit in newest if commit.commit_ts >= safe_ts}
        self._keys = sorted(self._newest)
        self._read_at = {key: ts for key, ts in self._read_at.items() if ts >= safe_ts}
        self._read_through = {
            key: noted for key, noted in self._read_through.items() if noted.latest_ts >= safe_ts
        }
        self._forget_at = len(self._keys) + _FORGET_EVERY


def _reads_through(request: KvRequest, mvcc: Mvcc, key: bytes) -> bool:
    """Returns whether a read sees what a lock's transaction is about to write on ``key``."""
    lock = mvcc.locks.get(key)
    return lock is not None and lock.start_ts in request.access
