"""Threads that share cores: an event-driven station for work whose length depends on the load.

Law: a pool runs at most ``threads`` jobs at once, first come first served, one event a job. Two
hardware threads of one core share its units, so a node's CPU grows by less than a core for each
thread that meets another, and not at all beyond its hardware threads; what runs is slowed down
accordingly (processor sharing, fixed at a job's start: a job is short against the time in which the
load changes).
"""

from collections import deque
from collections.abc import Callable
from heapq import heappush
from math import floor
from typing import Any, Final

from sim.engine.environment import Call, LeanEnv
from sim.engine.run_queue import RunQueues

WHOLE_THREAD: Final = 1 << 10
"""A thread that runs, in the unit of ``Cores.running``."""

_HALF: Final = WHOLE_THREAD // 2
_BITS: Final = WHOLE_THREAD.bit_length() - 1


class Cores:
    """The CPU of one node, shared by its thread pools.

    Args:
        count: hardware threads (vCPUs).
        threads_per_core: hardware threads of one core; 2 with simultaneous multithreading.
        smt_gain: what a core's second busy thread adds, in cores.
        hop_ns: what waking a thread takes on an idle node.
        run_queues: where woken threads wait for others that run; None: nowhere.
    """

    __slots__ = (
        "_hop_ns",
        "_run_queues",
        "_slowest",
        "_slowness",
        "background",
        "background_ns",
        "busy_ns",
        "count",
        "running",
        "stressed",
    )

    def __init__(
        self,
        count: int,
        threads_per_core: int = 1,
        smt_gain: float = 0.0,
        hop_ns: int = 0,
        run_queues: RunQueues | None = None,
    ) -> None:
        self.count = count
        self.running = 0
        """Threads that run now, in parts of ``WHOLE_THREAD``."""
        self.background = 0
        """Threads' worth of work that no pool runs; as of the last ``settle``."""
        self.busy_ns = 0
        """Time in which hardware threads were busy, summed over them."""
        self.background_ns = 0
        """CPU work since the last ``settle`` that nobody waits for; whoever has some adds to it
        (network, gRPC, compaction threads)."""
        self.stressed = 0
        """Threads of other programs that never wait; heeded from the next ``settle`` on."""
        self._slowness = smt_slowness(count, threads_per_core, smt_gain)[1:]
        """By the number of threads that run already."""
        self._slowest = self._slowness[-1]
        self._hop_ns = hop_ns
        self._run_queues = run_queues or RunQueues(count, 0)

    def wake(self) -> int:
        """Returns how long it takes until a thread that is woken now runs, in nanoseconds."""
        return self._hop_ns + self._run_queues.wait()

    def wait(self) -> int:
        """Returns the part of that which is due to other threads."""
        return self._run_queues.wait()

    def occupy(self, held_ns: int, asleep_ns: int) -> int:
        """Lets a thread begin a job that it runs for ``held_ns``, and sleeps for besides.

        Asleep, it waits for a disk, or to be woken and for others that run; that it is woken takes
        CPU. It counts among those that run for all of the job, with the part of it that it does:
        an event when it begins to run is spared.

        Returns:
            what it counts, for ``leave``.
        """
        share = WHOLE_THREAD
        if asleep_ns:
            waking_ns = min(asleep_ns, self._hop_ns)
            self.busy_ns += waking_ns
            share = WHOLE_THREAD * (held_ns + waking_ns) // (held_ns + asleep_ns)
        self.running += share
        return share

    def leave(self, share: int) -> None:
        """Ends such a job."""
        self.running -= share

    def slowness(self) -> float:
        """Returns by how much one more thread runs slower than on an idle node."""
        others = ((self.running + _HALF) >> _BITS) + self.background
        try:
            return self._slowness[others]
        except IndexError:  # Threads share the hardware threads.
            return self._slowest * (others + 1) / self.count

    def hold(self, service_ns: int, slowness: float) -> int:
        """Returns how long a job of ``service_ns`` of CPU holds its thread, in nanoseconds.

        Where more threads run than there are hardware threads, each has one for its share of that.
        """
        held_ns = floor(service_ns * slowness)
        slowest = self._slowest
        self.busy_ns += held_ns if slowness <= slowest else floor(service_ns * slowest)
        return held_ns

    def settle(self, now_ns: int, elapsed_ns: int) -> None:
        """Lets the background work of the last ``elapsed_ns`` run until the next call.

        It takes as many threads as it has CPU time; that it is slowed down itself is left out.
        """
        work_ns = self.background_ns + self.stressed * elapsed_ns
        self.background = round(work_ns / elapsed_ns)
        crowd = max((self.running >> _BITS) + self.background, self.count)
        self.busy_ns += work_ns * self.count // crowd
        self.background_ns = 0
        self._run_queues.average(now_ns, self.busy_ns)


def smt_slowness(count: int, threads_per_core: int, smt_gain: float) -> list[float]:
    """Returns, for 0 to ``count`` running threads, how much slower each is than one alone.

    Threads are placed anywhere: one meets others on its core the more often, the more are running.
    Args are those of ``Cores``. The work that can be done in a second is
    ``count / slowness[count]`` cores' worth.
    """
    crowded = (1 + smt_gain * (threads_per_core - 1)) / threads_per_core
    slowness = [1.0]
    for running in range(1, count + 1):
        beside = (running - 1) / max(1, count - 1)
        slowness.append(1 / (1 - beside * (1 - crowded)))
    return slowness


Sleep = Callable[[int], int]
"""Asks for something when a job begins at a time, in nanoseconds; returns how long that takes."""


class ThreadPool:
    """Threads with one FIFO queue."""

    __slots__ = ("_busy_ns", "_cores", "_env", "_idle", "_queue", "threads")

    def __init__(self, env: LeanEnv, cores: Cores, threads: int) -> None:
        self._env = env
        self._cores = cores
        self._idle = threads
        self._queue: deque[tuple[int, Call, Any, Sleep | None]] = deque()
        self.threads = threads
        self._busy_ns = 0
        """When jobs ended, less when they began."""

    def busy_until(self, now_ns: int) -> int:
        """Returns for how long threads have held a job until now, summed over the threads."""
        return self._busy_ns + (self.threads - self._idle) * now_ns

    def submit(self, service_ns: int, fn: Call, arg: Any, sleep: Sleep | None = None) -> None:
        """Queues a job of ``service_ns`` of CPU and calls ``fn(arg)`` when it is done.

        Its thread sleeps besides, such as for a disk: it asks for that when it takes the job.
        """
        if self._idle:
            self._idle -= 1
            self._start(service_ns, fn, arg, sleep, self._cores.wake())
        else:
            self._queue.append((service_ns, fn, arg, sleep))

    def _start(
        self, service_ns: int, fn: Call, arg: Any, sleep: Sleep | None, waking_ns: int
    ) -> None:
        cores, env = self._cores, self._env
        now_ns = env.now_ns
        held_ns = cores.hold(service_ns, cores.slowness())
        asleep_ns = waking_ns if sleep is None else waking_ns + sleep(now_ns)
        share = cores.occupy(held_ns, asleep_ns)
        self._busy_ns -= now_ns
        env.pushed = order = env.pushed + 1
        heappush(env.calls, (now_ns + held_ns + asleep_ns, order, self._finish, (share, fn, arg)))

    def _finish(self, ended: tuple[int, Call, Any]) -> None:
        self._cores.leave(ended[0])
        self._busy_ns += self._env.now_ns
        if self._queue:
            self._start(*self._queue.popleft(), 0)
        else:
            self._idle += 1
        ended[1](ended[2])
