"""Queues of requests that wait for a key's lock; waiting is a value, time is the driver's.

A queue is ordered by ``start_ts``: the oldest transaction is woken first, whoever came first. In
legacy mode the woken one goes back to its client, and the others that were queued by then follow
after ``wake-up-delay-duration``; a resumable one (fair locking) is run again in place.

Source: tikv/tikv src/storage/lock_manager/lock_waiting_queue.rs.
"""

from heapq import heappop, heappush

from sim.protocol.mvcc import Lock


class LockWaitEntry:
    """One request that waits for one key.

    Attributes:
        lock_holder: the lock it met.
        token: whatever the driver needs to find the request again.
        resumable: may be run again in place (``allow_lock_with_conflict``).
        queued: False once it has been woken or cancelled.
    """

    __slots__ = ("key", "lock_holder", "order", "queued", "resumable", "start_ts", "token")

    def __init__(
        self, key: bytes, start_ts: int, lock_holder: Lock, token: int, *, resumable: bool = False
    ) -> None:
        self.key = key
        self.start_ts = start_ts
        self.lock_holder = lock_holder
        self.token = token
        self.resumable = resumable
        self.order = 0
        self.queued = False


class LockWaitQueues:
    """The queues of one store.

    Attributes:
        mark: count of pushes so far; taken at a release, it tells ``pop_delayed`` who was queued
            by then.
    """

    __slots__ = ("_heaps", "_live", "mark")

    def __init__(self) -> None:
        self.mark = 0
        self._heaps: dict[bytes, list[tuple[int, int, LockWaitEntry]]] = {}
        self._live: dict[bytes, int] = {}

    def push(self, entry: LockWaitEntry) -> None:
        """Queues a request."""
        assert not entry.queued, "a request waits for one key at a time"
        self.mark += 1
        entry.order = self.mark
        entry.queued = True
        heap = self._heaps.setdefault(entry.key, [])
        heappush(heap, (entry.start_ts, entry.order, entry))
        self._live[entry.key] = self._live.get(entry.key, 0) + 1

    def pop_for_release(self, key: bytes) -> tuple[LockWaitEntry | None, int]:
        """Returns the oldest transaction's request, and how many others still wait for ``key``."""
        if key not in self._heaps:
            return None, 0
        entry = self._pop(key)
        return entry, self._live.get(key, 0)

    def pop_delayed(self, key: bytes, mark: int) -> list[LockWaitEntry]:
        """Returns those still waiting that were queued by ``mark``, oldest first.

        A resumable request ends the list: it is run in place, and its release wakes the next.
        """
        woken: list[LockWaitEntry] = []
        later: list[LockWaitEntry] = []
        while key in self._heaps:
            entry = self._pop(key)
            if entry.order > mark:
                later.append(entry)
                continue
            woken.append(entry)
            if entry.resumable:
                break
        for entry in later:
            self._put_back(entry)
        return woken

    def cancel(self, entry: LockWaitEntry) -> bool:
        """Takes a request out of its queue; False if it has been woken already."""
        if not entry.queued:
            return False
        entry.queued = False
        self._leave(entry.key)
        return True

    def waiters(self, key: bytes) -> list[LockWaitEntry]:
        """Returns the requests that wait for ``key``, in the order they would be woken."""
        return [entry for _, _, entry in sorted(self._heaps.get(key, ())) if entry.queued]

    def __len__(self) -> int:
        return sum(self._live.values())

    def _pop(self, key: bytes) -> LockWaitEntry:
        heap = self._heaps[key]
        while True:
            entry = heappop(heap)[2]
            if entry.queued:
                entry.queued = False
                self._leave(key)
                return entry

    def _put_back(self, entry: LockWaitEntry) -> None:
        entry.queued = True
        heappush(self._heaps.setdefault(entry.key, []), (entry.start_ts, entry.order, entry))
        self._live[entry.key] = self._live.get(entry.key, 0) + 1

    def _leave(self, key: bytes) -> None:
        self._live[key] -= 1
        if not self._live[key]:
            del self._live[key], self._heaps[key]
