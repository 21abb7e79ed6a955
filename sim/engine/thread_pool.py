"""Threads that share cores: an event-driven station for work whose length depends on the load.

Law: a pool runs at most ``threads`` jobs at once, first come first served, one event a job. When
more threads of a node run than it has cores, each runs slower by that ratio (processor sharing,
fixed at a job's start: a job is short against the time in which the load changes).
"""

from collections import deque
from typing import Any

from sim.engine.environment import Call, LeanEnv


class Cores:
    """The cores of one node, shared by its thread pools."""

    __slots__ = ("busy_ns", "count", "running")

    def __init__(self, count: int) -> None:
        self.count = count
        self.running = 0
        """Threads that run now."""
        self.busy_ns = 0
        """CPU time handed out, summed over the cores."""

    def stretched(self, service_ns: int) -> int:
        """Returns how long ``service_ns`` of CPU takes one more thread, in nanoseconds."""
        running = self.running + 1
        return service_ns if running <= self.count else service_ns * running // self.count


class ThreadPool:
    """Threads with one FIFO queue."""

    __slots__ = ("_cores", "_env", "_idle", "_queue", "busy_ns", "name", "threads")

    def __init__(self, env: LeanEnv, cores: Cores, threads: int, name: str) -> None:
        self._env = env
        self._cores = cores
        self._idle = threads
        self._queue: deque[tuple[int, Call, Any]] = deque()
        self.name = name
        self.threads = threads
        self.busy_ns = 0
        """Time in which threads held a job, summed over the threads."""

    @property
    def queue_len(self) -> int:
        """How many jobs wait for a thread."""
        return len(self._queue)

    def submit(self, service_ns: int, fn: Call, arg: Any) -> None:
        """Queues a job of ``service_ns`` of CPU and calls ``fn(arg)`` when it is done."""
        job = (service_ns, fn, arg)
        if self._idle:
            self._idle -= 1
            self._start(job)
        else:
            self._queue.append(job)

    def _start(self, job: tuple[int, Call, Any]) -> None:
        cores, env, service_ns = self._cores, self._env, job[0]
        held_ns = cores.stretched(service_ns)
        cores.running += 1
        cores.busy_ns += service_ns
        self.busy_ns += held_ns
        env.at(env.now_ns + held_ns, self._finish, job)

    def _finish(self, job: tuple[int, Call, Any]) -> None:
        self._cores.running -= 1
        if self._queue:
            self._start(self._queue.popleft())
        else:
            self._idle += 1
        job[1](job[2])
