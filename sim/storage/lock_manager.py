"""Waiting for a key's lock on one store.

A request that meets another transaction's lock leaves its latches and waits here, at most
``wait-for-lock-timeout``. A command that removes the lock takes the oldest waiter out of the queue
as soon as it is processed, before anything is proposed. Without fair locking that waiter gets a
WriteConflict at once, while the release is still on its way through Raft; its client tries the
statement again, and the others follow after ``wake-up-delay-duration``. With fair locking the
waiter is resumed when the release is written, with the latches of the command that released the
lock, and goes back to the queue if the write fails.

The deadlock detector is asked about every wait but that for a transaction's first lock.

Source: tikv/tikv src/storage/txn/scheduler.rs (on_release_locks, on_write_finished), in v6.0 the
commands themselves (ReleasedLocks::wake_up); src/storage/lock_manager/, src/server/lock_manager/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sim.engine import LeanEnv
from sim.protocol.detect_table import WaitForEntry
from sim.protocol.lock_waiting import LockWaitEntry, LockWaitQueues
from sim.protocol.percolator import ConflictReason, KeyIsLocked, MvccError, WriteConflict
from sim.protocol.records import Lock
from sim.storage.deadlock_detector import Detector
from sim.storage.request import KvRequest

_DETECT_BYTES = 96
"""A deadlock request or answer: two timestamps, a key hash, framing."""


@dataclass(frozen=True, slots=True)
class Deadlock(MvccError):
    """The wait would never end; the waiter's transaction has to be rolled back."""

    key: bytes
    wait_chain: tuple[WaitForEntry, ...]

    @property
    def held_key(self) -> bytes:
        """The key of the waiter's own that closes the circle (TiKV's ``deadlock_key_hash``)."""
        return self.wait_chain[-2].key


@dataclass(slots=True, eq=False)
class _Waiter:
    """A request from its first wait to its answer; ``since_ns``: when it was last queued."""

    request: KvRequest
    entry: LockWaitEntry
    since_ns: int


class LockManager:
    """The waiters of one store."""

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        env: LeanEnv,
        store: int,
        detector: Detector,
        *,
        timeout_ns: int,
        wake_up_delay_ns: int,
        answer: Callable[[KvRequest, object], None],
        run_again: Callable[[KvRequest], None],
    ) -> None:
        self._env = env
        self._store = store
        self._detector = detector
        self._timeout_ns = timeout_ns
        self._wake_up_delay_ns = wake_up_delay_ns
        self._answer = answer
        self._run_again = run_again
        self._queues = LockWaitQueues()
        self.waiters: dict[int, _Waiter] = {}
        """By command id, until they are answered."""

    def crash(self) -> None:
        """Forgets who waits: no timer or answer on its way finds a waiter of a dead process."""
        for waiter in self.waiters.values():
            self._queues.cancel(waiter.entry)

    def wait(self, request: KvRequest, met: KeyIsLocked) -> None:
        """Lets a request wait for the lock that it met, perhaps not for the first time."""
        waiter = self.waiters.get(request.cid)
        if waiter is not None:
            self._wait_again(waiter, met)
            return
        now = self._env.now_ns
        entry = LockWaitEntry(
            met.key,
            request.start_ts,
            met.lock,
            request.cid,
            resumable=request.allow_lock_with_conflict,
        )
        self._queues.push(entry)
        self.waiters[request.cid] = _Waiter(request, entry, now)
        timeout_ns = self._timeout_ns
        if request.wait_timeout_ns:
            timeout_ns = min(timeout_ns, request.wait_timeout_ns)
        self._env.at(now + timeout_ns, self._time_out, entry)
        if request.keys[0] != request.primary:
            self._ask_detector(entry)

    def locked(self, locks: list[tuple[bytes, Lock]]) -> None:
        """Notes that keys have new holders: who waits for one of them waits for another now.

        Source: tikv/tikv src/server/lock_manager/mod.rs (update_wait_for).
        """
        for key, lock in locks:
            for entry in self._queues.waiters(key):
                former_ts = entry.lock_holder.start_ts
                if former_ts == lock.start_ts:
                    continue
                self._detector.table.clean_up_wait_for(entry.start_ts, former_ts, key)
                entry.lock_holder = lock
                request = self.waiters[entry.token].request
                if request.keys[0] != request.primary:
                    self._ask_detector(entry)

    def release(self, keys: list[bytes], commit_ts: int = 0) -> list[LockWaitEntry]:
        """Wakes who waits for ``keys``, whose locks a command removes.

        Args:
            keys: whose locks go.
            commit_ts: they are committed at it; 0: they are rolled back.

        Returns:
            Requests to ``resume`` when the removal is written, or to ``put_back`` if it fails.
        """
        queues = self._queues
        resumable: list[LockWaitEntry] = []
        for key in keys:
            entry, others = queues.pop_for_release(key)
            if entry is None:
                continue
            if entry.resumable:
                resumable.append(entry)
                continue
            freed_ts = entry.lock_holder.start_ts
            self._answer_conflict(entry, freed_ts, commit_ts)
            if others:
                delayed_ns = self._env.now_ns + self._wake_up_delay_ns
                self._env.at(delayed_ns, self._wake_others, (key, queues.mark, freed_ts, commit_ts))
        return resumable

    def resume(self, entries: list[LockWaitEntry]) -> list[KvRequest]:
        """Returns the requests of woken waiters, to be run again."""
        now = self._env.now_ns
        resumed = []
        for entry in entries:
            waiter = self.waiters[entry.token]
            waiter.request.waited_ns += now - waiter.since_ns
            resumed.append(waiter.request)
        return resumed

    def put_back(self, entries: list[LockWaitEntry]) -> None:
        """Queues waiters again whose locks are not gone: the removal could not be written."""
        for entry in entries:
            self._queue_again(entry)

    def finished(self, request: KvRequest) -> None:
        """Forgets a request that has its answer, if it has waited here."""
        waiter = self.waiters.pop(request.cid, None)
        if waiter is not None:
            self._clean_up_edge(waiter.entry)

    @property
    def queues(self) -> LockWaitQueues:
        """Who waits for what, to be looked at."""
        return self._queues

    def requests(self) -> Iterator[KvRequest]:
        """Yields the requests that wait, or have waited and are being run again."""
        return (waiter.request for waiter in self.waiters.values())

    def _wake_others(self, wake_up: tuple[bytes, int, int, int]) -> None:
        key, mark, freed_ts, commit_ts = wake_up
        for entry in self._queues.pop_delayed(key, mark):
            if entry.resumable:
                for request in self.resume([entry]):
                    self._run_again(request)
            else:
                self._answer_conflict(entry, freed_ts, commit_ts)

    def _answer_conflict(self, entry: LockWaitEntry, freed_ts: int, commit_ts: int) -> None:
        """Answers a waiter with the transaction that has let go of the key."""
        conflict = WriteConflict(
            entry.key, entry.start_ts, freed_ts, commit_ts, ConflictReason.PESSIMISTIC_RETRY
        )
        self._end(entry, conflict)

    def _wait_again(self, waiter: _Waiter, met: KeyIsLocked) -> None:
        """Queues a resumed request that has met a lock again; its timeout runs on."""
        waiter.since_ns = self._env.now_ns
        self._clean_up_edge(waiter.entry)
        waiter.entry.lock_holder = met.lock
        self._queue_again(waiter.entry)

    def _queue_again(self, entry: LockWaitEntry) -> None:
        if entry.cancelled is None:
            self._queues.push(entry)
        else:
            self._end(entry, entry.cancelled)

    def _time_out(self, entry: LockWaitEntry) -> None:
        self._cancel(entry, KeyIsLocked(entry.key, entry.lock_holder))

    def _cancel(self, entry: LockWaitEntry, error: MvccError) -> None:
        """Ends a wait; a request that is being run again hears of it only if it must wait again."""
        if self._queues.cancel(entry):
            self._end(entry, error)
        elif entry.cancelled is None:
            entry.cancelled = error

    def _end(self, entry: LockWaitEntry, result: object) -> None:
        waiter = self.waiters[entry.token]
        waiter.request.waited_ns += self._env.now_ns - waiter.since_ns
        self._answer(waiter.request, result)

    def _clean_up_edge(self, entry: LockWaitEntry) -> None:
        holder = entry.lock_holder.start_ts
        self._detector.table.clean_up_wait_for(entry.start_ts, holder, entry.key)

    def _ask_detector(self, entry: LockWaitEntry) -> None:
        store = self._detector.store
        if not store:
            return
        link = self._detector.link_from(self._store)
        if link is None:
            self._detect((entry, store))
        elif not link.cut:
            arrival_ns = link.send(self._env.now_ns, _DETECT_BYTES)
            self._env.at(arrival_ns, self._detect, (entry, store))

    def _detect(self, asked: tuple[LockWaitEntry, int]) -> None:
        """Looks for a cycle, unless the store that was asked is no detector any more."""
        entry, store = asked
        if not entry.queued or store != self._detector.store:
            return
        holder = entry.lock_holder.start_ts
        now = self._env.now_ns
        chain = self._detector.table.detect(entry.start_ts, holder, entry.key, now)
        if not chain:
            return
        found = (entry, Deadlock(entry.key, tuple(chain)))
        link = self._detector.link_to(self._store)
        if link is None:
            self._give_up(found)
        elif not link.cut:
            self._env.at(link.send(now, _DETECT_BYTES), self._give_up, found)

    def _give_up(self, found: tuple[LockWaitEntry, Deadlock]) -> None:
        entry, deadlock = found
        self._cancel(entry, deadlock)
