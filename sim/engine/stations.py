"""Servers without events: a FIFO station answers at once when a job will be done.

Law: jobs must be reserved in the order in which they arrive, so ``now_ns`` never falls from call to
call. Lindley's recursion then gives the finish: a job starts when it has arrived and a server is
free (D. V. Lindley, The theory of queues with a single server, 1952). What cannot be observed (the
start, the wait) costs nothing; only whoever needs the finish schedules a call for it.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from math import floor


def booked_beyond(free: Sequence[int], now_ns: int) -> int:
    """Returns for how long servers are taken beyond now, summed; ``free``: until when each is."""
    return sum(free_ns - now_ns for free_ns in free if free_ns > now_ns)


class FifoServers:
    """Several equal servers with one queue, first come first served.

    Args:
        servers: how many.
        slowness: by how much a job takes longer when so many servers are busy, itself included
            (``smt_slowness``); fixed at the job's start. None: they do not disturb each other.
    """

    __slots__ = ("_free", "_slowness", "busy_ns")

    def __init__(self, servers: int, slowness: Sequence[float] | None = None) -> None:
        self._free = [0] * servers
        slowness = slowness or [1.0] * (servers + 1)
        self._slowness = [slowness[servers - idle] for idle in range(servers)]
        """By the number of other servers that are idle."""
        self.busy_ns = 0
        """Time that servers are taken by what was reserved so far, summed over them."""

    def busy_until(self, now_ns: int) -> int:
        """Returns for how long servers have been busy until now, summed over them."""
        return self.busy_ns - booked_beyond(self._free, now_ns)

    def reserve(self, now_ns: int, service_ns: int) -> int:
        """Returns when a job that arrives now will be done, in nanoseconds."""
        free = self._free
        start_ns = free.pop(0)
        if now_ns > start_ns:
            start_ns = now_ns
        held_ns = floor(service_ns * self._slowness[bisect_right(free, start_ns)])
        self.busy_ns += held_ns
        done_ns = start_ns + held_ns
        insort(free, done_ns)
        return done_ns
