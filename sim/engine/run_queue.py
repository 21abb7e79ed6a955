"""How long a woken thread waits until it runs, on a node whose hardware threads are busy.

Law: a kernel has a queue for each hardware thread, and a woken thread goes to one of them; so it
waits as in front of one server, not of all of them (M/M/1): for as long as a thread runs at a time,
times the busy share of the hardware threads over their idle share.
"""

from typing import Final

from sim.units import NS_PER_MS

_STEP_NS: Final = 1 * NS_PER_MS
"""How often a load is looked at. ASSUMED: many times while it is remembered."""

_MEMORY_NS: Final = 50 * NS_PER_MS
"""How long a load is remembered. ASSUMED: far longer than a request, since a queue that answers to
its own load too late would swing, and far shorter than a load's changes."""


def queued_ns(run_ns: float, running: float, count: int) -> float:
    """Returns how long a woken thread waits for others, if so many of ``count`` threads run.

    Each runs for ``run_ns`` at a time; not even a full node lets a woken one wait for ever.
    """
    busy = min(running / count, count / (count + 1))
    return run_ns * busy / (1 - busy)


class RunQueues:
    """The run queues of one node.

    Args:
        count: hardware threads.
        run_ns: how long a thread runs at a time.
    """

    __slots__ = ("_busy", "_busy_ns", "_due_ns", "_run_ns", "_since_ns", "count", "wait_ns")

    def __init__(self, count: int, run_ns: int) -> None:
        self.count = count
        self._run_ns = run_ns
        self._busy = 0.0
        self._busy_ns = self._since_ns = 0
        self._due_ns = _STEP_NS
        self.wait_ns = 0
        """What a woken thread waits for others, as of the last ``average``."""

    def wait(self, now_ns: int, busy_ns: int) -> int:
        """Returns what a woken thread waits for others; ``busy_ns`` is all work so far."""
        if now_ns >= self._due_ns:
            self.average(now_ns, busy_ns)
        return self.wait_ns

    def average(self, now_ns: int, busy_ns: int) -> None:
        """Adds the load since the last call to the average."""
        elapsed_ns = now_ns - self._since_ns
        lately = (busy_ns - self._busy_ns) / (elapsed_ns * self.count)
        self._busy += (lately - self._busy) * elapsed_ns / (_MEMORY_NS + elapsed_ns)
        self.wait_ns = int(queued_ns(self._run_ns, self._busy * self.count, self.count))
        self._busy_ns, self._since_ns = busy_ns, now_ns
        self._due_ns = now_ns + _STEP_NS
