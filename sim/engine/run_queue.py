"""How long a woken thread waits until it runs, on a node whose hardware threads are busy.

Law: a kernel has a queue for each hardware thread, and a woken thread goes to one of them; so it
waits as in front of one server, not of all of them (M/M/1). It does not wait at all with the
probability that the hardware thread is idle; otherwise its wait is exponential, and as long on
average as a thread runs at a time over the idle share. Source: Gross et al., Fundamentals of
Queueing Theory, section 2.2.
"""

from math import floor, log
from typing import Final

from sim.streams import Stream
from sim.units import NS_PER_MS

_STEP_NS: Final = 1 * NS_PER_MS
"""How often a load is looked at. ASSUMED: many times while it is remembered."""

_MEMORY_NS: Final = 50 * NS_PER_MS
"""How long a load is remembered. ASSUMED: far longer than a request, since a queue that answers to
its own load too late would swing, and far shorter than a load's changes."""


def queued_ns(run_ns: float, running: float, count: int) -> float:
    """Returns how long a woken thread waits for others on average, if so many of ``count`` run.

    Each runs for ``run_ns`` at a time; not even a full node lets a woken one wait for ever.
    """
    busy = _busy_share(running, count)
    return run_ns * busy / (1 - busy)


def _busy_share(running: float, count: int) -> float:
    return min(running / count, count / (count + 1))


class RunQueues:
    """The run queues of one node.

    Args:
        count: hardware threads.
        run_ns: how long a thread runs at a time.
        stream: of the waits; None: nobody waits.
    """

    __slots__ = (
        "_busy", "_busy_ns", "_due_ns", "_queue_ns", "_run_ns", "_served_at_once", "_since_ns",
        "_stream", "count",
    )  # fmt: skip

    def __init__(self, count: int, run_ns: int, stream: Stream | None = None) -> None:
        self.count = count
        self._run_ns = run_ns
        self._stream = stream
        self._busy = 0.0
        self._busy_ns = self._since_ns = 0
        self._due_ns = _STEP_NS
        self._queue_ns = 0.0
        """Mean wait of those that wait at all, as of the last ``average``."""
        self._served_at_once = 0.0
        """Up to which exponential draw of mean 1 a thread does not wait."""

    def wait(self) -> int:
        """Returns how long a thread that is woken now waits for others, in nanoseconds."""
        if self._stream is None or not self._queue_ns:
            return 0
        # What is left of an exponential time beyond a limit is exponential again.
        beyond = self._stream.standard_exponential() - self._served_at_once
        return floor(beyond * self._queue_ns) if beyond > 0 else 0

    def look(self, now_ns: int, busy_ns: int) -> None:
        """Takes the load into account, if it is time to; ``busy_ns`` is all work so far."""
        if now_ns >= self._due_ns:
            self.average(now_ns, busy_ns)

    def average(self, now_ns: int, busy_ns: int) -> None:
        """Adds the load since the last call to the average."""
        elapsed_ns = now_ns - self._since_ns
        lately = (busy_ns - self._busy_ns) / (elapsed_ns * self.count)
        self._busy += (lately - self._busy) * elapsed_ns / (_MEMORY_NS + elapsed_ns)
        busy = _busy_share(self._busy * self.count, self.count)
        if busy > 0:
            self._queue_ns = self._run_ns / (1 - busy)
            self._served_at_once = -log(busy)
        self._busy_ns, self._since_ns = busy_ns, now_ns
        self._due_ns = now_ns + _STEP_NS
