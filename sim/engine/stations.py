"""Servers without events: a FIFO station answers at once when a job will be done.

Law: jobs must be reserved in the order in which they arrive, so ``now_ns`` never falls from call to
call. Lindley's recursion then gives the finish: a job starts when it has arrived and a server is
free (D. V. Lindley, The theory of queues with a single server, 1952). What cannot be observed (the
start, the wait) costs nothing; only whoever needs the finish schedules a call for it.
"""

from heapq import heapreplace


class FifoServer:
    """One server, first come first served."""

    __slots__ = ("busy_ns", "free_ns")

    def __init__(self) -> None:
        self.free_ns = 0
        """When the server will have done everything reserved so far."""
        self.busy_ns = 0
        """Service reserved so far."""

    def reserve(self, now_ns: int, service_ns: int) -> int:
        """Returns when a job that arrives now will be done, in nanoseconds."""
        free_ns = self.free_ns
        self.busy_ns += service_ns
        self.free_ns = finish_ns = (now_ns if now_ns > free_ns else free_ns) + service_ns  # noqa: FURB136
        return finish_ns


class FifoServers:
    """Several equal servers with one queue, first come first served."""

    __slots__ = ("_free", "busy_ns")

    def __init__(self, servers: int) -> None:
        self._free = [0] * servers
        self.busy_ns = 0
        """Service reserved so far, summed over the servers."""

    def reserve(self, now_ns: int, service_ns: int) -> int:
        """Returns when a job that arrives now will be done, in nanoseconds."""
        free = self._free
        free_ns = free[0]
        self.busy_ns += service_ns
        finish_ns = (now_ns if now_ns > free_ns else free_ns) + service_ns  # noqa: FURB136
        heapreplace(free, finish_ns)
        return finish_ns
