"""Waiting for a key's lock on one store, and the cluster's deadlock detector.

A request that meets another transaction's lock leaves its latches and waits here, at most
``wait-for-lock-timeout``. When the lock goes, the oldest waiter is woken at once. Without fair
locking it gets a WriteConflict back and its client tries the statement again, and the others that
waited follow after ``wake-up-delay-duration``; with fair locking it is carried out again in place.

The detector lives on the leader of the region that holds the first key; a transaction's first lock
needs no detection.

Source: tikv/tikv src/server/lock_manager/, src/storage/lock_manager/.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sim.engine import LeanEnv
from sim.hardware.network import Link, Network
from sim.protocol.deadlock import DetectTable, WaitForEntry
from sim.protocol.lock_waiting import LockWaitEntry, LockWaitQueues
from sim.protocol.percolator import ConflictReason, KeyIsLocked, MvccError, WriteConflict
from sim.protocol.records import Lock
from sim.storage.request import KvRequest
from sim.transport.nodes import store_name

_DETECT_BYTES = 96
"""A deadlock request or answer: two timestamps, a key hash, framing."""


@dataclass(frozen=True, slots=True)
class Deadlock(MvccError):
    """The wait would never end; the waiter's transaction has to be rolled back."""

    key: bytes
    wait_chain: tuple[WaitForEntry, ...]


class Detector:
    """The one deadlock detector, on the store that leads the first region, and the ways to it."""

    def __init__(self, store: int, timeout_ns: int, network: Network) -> None:
        self._timeout_ns = timeout_ns
        self._network = network
        self.store = store
        self.table = DetectTable(timeout_ns)

    def move(self, store: int) -> None:
        """Follows the leader of the first region to another store, where it begins empty."""
        if self.store != store:
            self.store = store
            self.table = DetectTable(self._timeout_ns)

    def link_from(self, store: int) -> Link | None:
        """Returns the way to the detector; None: it is on this store."""
        if store == self.store:
            return None
        return self._network.link(store_name(store), store_name(self.store))

    def link_to(self, store: int) -> Link | None:
        """Returns the way back; None: it is on this store."""
        if store == self.store:
            return None
        return self._network.link(store_name(self.store), store_name(store))


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
        resume: Callable[[KvRequest], None],
    ) -> None:
        self._env = env
        self._store = store
        self._detector = detector
        self._timeout_ns = timeout_ns
        self._wake_up_delay_ns = wake_up_delay_ns
        self._answer = answer
        self._resume = resume
        self._queues = LockWaitQueues()
        self._requests: dict[int, tuple[KvRequest, int]] = {}

    def wait(self, request: KvRequest, met: KeyIsLocked) -> None:
        """Lets a request wait for the lock that it met."""
        now = self._env.now_ns
        entry = LockWaitEntry(
            met.key,
            request.start_ts,
            met.lock,
            request.cid,
            resumable=request.allow_lock_with_conflict,
        )
        self._queues.push(entry)
        self._requests[request.cid] = (request, now)
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
                request, _ = self._requests[entry.token]
                if request.keys[0] != request.primary:
                    self._ask_detector(entry)

    def release(self, keys: list[bytes], commit_ts: int = 0) -> None:
        """Wakes who waits for ``keys``, whose locks are gone: committed, or rolled back (0)."""
        queues = self._queues
        for key in keys:
            entry, others = queues.pop_for_release(key)
            if entry is None:
                continue
            freed_ts = entry.lock_holder.start_ts
            self._wake(entry, freed_ts, commit_ts)
            if others and not entry.resumable:
                delayed_ns = self._env.now_ns + self._wake_up_delay_ns
                self._env.at(delayed_ns, self._wake_others, (key, queues.mark, freed_ts, commit_ts))

    @property
    def queues(self) -> LockWaitQueues:
        """Who waits for what, to be looked at."""
        return self._queues

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._requests)

    def _wake_others(self, wake_up: tuple[bytes, int, int, int]) -> None:
        key, mark, freed_ts, commit_ts = wake_up
        for entry in self._queues.pop_delayed(key, mark):
            self._wake(entry, freed_ts, commit_ts)

    def _wake(self, entry: LockWaitEntry, freed_ts: int, commit_ts: int) -> None:
        """Resumes a request, or tells it of the transaction that has let go of the key."""
        request = self._leave(entry)
        if entry.resumable:
            self._resume(request)
            return
        conflict = WriteConflict(
            entry.key, request.start_ts, freed_ts, commit_ts, ConflictReason.PESSIMISTIC_RETRY
        )
        self._answer(request, conflict)

    def _time_out(self, entry: LockWaitEntry) -> None:
        if self._queues.cancel(entry):
            request = self._leave(entry)
            self._answer(request, KeyIsLocked(entry.key, entry.lock_holder))

    def _leave(self, entry: LockWaitEntry) -> KvRequest:
        request, since_ns = self._requests.pop(entry.token)
        request.waited_ns += self._env.now_ns - since_ns
        holder = entry.lock_holder.start_ts
        self._detector.table.clean_up_wait_for(request.start_ts, holder, entry.key)
        return request

    def _ask_detector(self, entry: LockWaitEntry) -> None:
        link = self._detector.link_from(self._store)
        if link is None:
            self._detect(entry)
        else:
            self._env.at(link.send(self._env.now_ns, _DETECT_BYTES), self._detect, entry)

    def _detect(self, entry: LockWaitEntry) -> None:
        if not entry.queued:
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
        else:
            self._env.at(link.send(now, _DETECT_BYTES), self._give_up, found)

    def _give_up(self, found: tuple[LockWaitEntry, Deadlock]) -> None:
        entry, deadlock = found
        if self._queues.cancel(entry):
            self._answer(self._leave(entry), deadlock)
