"""The CPU of a machine that clients run on: one queue for all hardware threads.

What runs is slowed down by the other threads of the cores, as on a store
(``sim.engine.thread_pool``), and each process that is woken waits for a thread.
"""

from sim.distributions import Sampler
from sim.engine import FifoServers, RunQueues


class MachineCpu:
    """Hardware threads that work waits for."""

    def __init__(self, threads: FifoServers, run_queues: RunQueues, draw: Sampler) -> None:
        """Args: ``draw`` varies how long work of a mean length takes."""
        self._threads = threads
        self._run_queues = run_queues
        self._draw = draw

    def busy_until(self, now_ns: int) -> int:
        """Returns for how long hardware threads have been busy until now, summed over them."""
        return self._threads.busy_until(now_ns)

    def work_ns(self, now_ns: int, mean_ns: float, wakes: int) -> int:
        """Returns how long work of a mean length takes from now, its waits for threads included.

        Args:
            now_ns: when it begins.
            mean_ns: of its CPU time.
            wakes: how often a process is woken for it.
        """
        if not mean_ns:
            return 0
        threads, run_queues = self._threads, self._run_queues
        work_ns = threads.reserve(now_ns, self._draw.scaled(mean_ns)) - now_ns
        run_queues.look(now_ns, threads.busy_ns)
        for _ in range(wakes):
            work_ns += run_queues.wait()
        return work_ns
