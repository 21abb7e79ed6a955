"""The CPU of a TiDB node: hardware threads that goroutines wait for, and not in their order.

Go has a queue for each hardware thread. A goroutine that another one wakes goes to the queue of
that one's thread. Those that wait for the network are found by a thread whose queue is empty, all
at once, and go to its queue; it looks there before it takes half of another's queue. So no thread
is idle while goroutines wait, but whoever comes last is often served first: the longer the queues,
the less a goroutine's wait has to do with when it came.

Law: waits are as long on average as in one queue, first come first served (no order changes how
many wait), and spread as if the next were chosen at random: the wait in that queue times an
exponential number of mean 1, exact in heavy traffic. ``python -m benchmarks goroutines`` compares
both with Go's queues.

Source: golang/go src/runtime/proc.go (findRunnable, runqput, injectglist, runqsteal). Kingman:
Queue Disciplines in Heavy Traffic, Math. Oper. Res. 7 (1982).
"""

from sim.distributions import Sampler
from sim.engine import FifoServers
from sim.streams import Stream


class GoCpu:
    """The hardware threads of one process that has a machine for itself."""

    def __init__(self, threads: FifoServers, draw: Sampler, stream: Stream) -> None:
        """Args: ``draw`` varies how long work of a mean length takes, ``stream`` who waits."""
        self._threads = threads
        self._draw = draw
        self._stream = stream

    def busy_until(self, now_ns: int) -> int:
        """Returns for how long hardware threads have been busy until now, summed over them."""
        return self._threads.busy_until(now_ns)

    def work_ns(self, now_ns: int, mean_ns: float) -> int:
        """Returns how long work of a mean CPU time takes from now, its wait included."""
        if not mean_ns:
            return 0
        threads = self._threads
        before_ns = threads.busy_ns
        done_ns = threads.reserve(now_ns, self._draw.scaled(mean_ns))
        held_ns = threads.busy_ns - before_ns
        fair_wait_ns = done_ns - held_ns - now_ns
        return held_ns + (self._stream.exponential(fair_wait_ns) if fair_wait_ns else 0)
