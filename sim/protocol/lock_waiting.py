"""Queues of requests that wait for a key's lock; time is the driver's.

A queue is ordered by ``start_ts``: the oldest transaction is woken first, whichever came first. In
legacy mode the woken request goes back to its client, and the others that were queued by then
follow ``wake-up-delay-duration`` after the latest wake-up; a resumable one (fair locking) is run
again in place, and its own release wakes the next.

Source: tikv/tikv src/storage/lock_manager/lock_waiting_queue.rs.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from sim.protocol.keys import show_key
from sim.protocol.records import Lock


@dataclass(slots=True, eq=False, repr=False)
class LockWaitEntry:
    """One request that waits for one key.

    Attributes:
        lock_holder: the lock it waits for.
        token: by which the driver finds the request again.
        resumable: may be run again in place (``allow_lock_with_conflict``).
        wake_ups: value of ``LockWaitQueues.mark`` when it was first queued.
        queued: False once it has been woken or cancelled.
        cancelled: why it is over, found out while it was being run again; it must not be queued
            any more.
    """

    key: bytes
    start_ts: int
    lock_holder: Lock
    token: int
    resumable: bool = field(default=False, kw_only=True)
    wake_ups: int = field(default=-1, init=False)
    queued: bool = field(default=False, init=False)
    cancelled: Any = field(default=None, init=False)

    def __repr__(self) -> str:
        return f"{self.start_ts}{'r' if self.resumable else ''}"


class _Queue:
    """The queue of one key; exists while somebody waits."""

    __slots__ = ("heap", "live", "mark")

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, LockWaitEntry]] = []
        self.live = 0
        self.mark = -1


class LockWaitQueues:
    """The queues of one store.

    After a release that woke a legacy request while others wait, the driver takes ``mark``, lets
    the wake-up delay pass, and calls ``pop_delayed`` with it. A later wake-up on the same key makes
    the mark stale: the delay starts again.

    Attributes:
        mark: number of legacy wake-ups so far, on all keys.
    """

    def __init__(self) -> None:
        self.mark = 0
        self._pushes = 0
        self._queues: dict[bytes, _Queue] = {}

    def push(self, entry: LockWaitEntry) -> None:
        """Queues a request; one that was woken and must wait again keeps its ``wake_ups``."""
        assert not entry.queued, f"{entry} waits already"
        queue = self._queues.get(entry.key)
        if queue is None:
            queue = self._queues[entry.key] = _Queue()
        if entry.wake_ups < 0:
            entry.wake_ups = self.mark
        entry.queued = True
        self._pushes += 1
        heappush(queue.heap, (entry.start_ts, self._pushes, entry))
        queue.live += 1

    def pop_for_release(self, key: bytes) -> tuple[LockWaitEntry | None, int]:
        """Returns the oldest transaction's request, and how many others still wait for ``key``."""
        queue = self._queues.get(key)
        if queue is None:
            return None, 0
        entry = self._pop(key, queue)
        if not entry.resumable:
            self.mark += 1
            queue.mark = self.mark
        return entry, queue.live

    def pop_delayed(self, key: bytes, mark: int) -> list[LockWaitEntry]:
        """Returns the requests to wake after the delay of wake-up ``mark``, oldest first.

        The list ends before a request that was queued after the wake-up, and after a resumable one.
        """
        woken: list[LockWaitEntry] = []
        queue = self._queues.get(key)
        if queue is None or queue.mark != mark:
            return woken
        queue.mark = -1
        while queue.live and _front(queue).wake_ups < mark:
            entry = self._pop(key, queue)
            woken.append(entry)
            if entry.resumable:
                break
        return woken

    def cancel(self, entry: LockWaitEntry) -> bool:
        """Takes a request out of its queue; False if it has been woken already."""
        if not entry.queued:
            return False
        entry.queued = False
        self._leave(entry.key, self._queues[entry.key])
        return True

    def waiters(self, key: bytes) -> list[LockWaitEntry]:
        """Returns the requests that wait for ``key``, in the order they would be woken."""
        queue = self._queues.get(key)
        if queue is None:
            return []
        return [entry for _, _, entry in sorted(queue.heap) if entry.queued]

    def awaited_keys(self) -> list[bytes]:
        """Returns the keys that somebody waits for, ascending."""
        return sorted(self._queues)

    def __len__(self) -> int:
        return sum(queue.live for queue in self._queues.values())

    def __str__(self) -> str:
        keys = sorted(self._queues)
        lines = [f"{show_key(key)}: waiting {self.waiters(key)}" for key in keys]
        return "\n".join(lines) or "nobody waits"

    def _pop(self, key: bytes, queue: _Queue) -> LockWaitEntry:
        entry = _front(queue)
        heappop(queue.heap)
        entry.queued = False
        self._leave(key, queue)
        return entry

    def _leave(self, key: bytes, queue: _Queue) -> None:
        queue.live -= 1
        if not queue.live:
            del self._queues[key]


def _front(queue: _Queue) -> LockWaitEntry:
    """Returns the first request that has not been cancelled, dropping those that were."""
    heap = queue.heap
    while not heap[0][2].queued:
        heappop(heap)
    return heap[0][2]
