"""Cores that several processes share: threads take turns, and a turn ends with its time slice.

Law: a process has at most so many running threads, and one queue of ready work (goroutines). A
thread that has a core keeps it while its process has work for it, at most a time slice if others
wait; then it goes to the end of the line. Who wakes up does not push a running thread away. A long
slice makes this first come first served by thread, a short one processor sharing.

``sim.engine.thread_pool`` slows all jobs down in proportion instead, fixed at a job's start, which
is cheaper, and right where a job is short against the time in which the load changes. Here two
cores are nearly always taken, and waiting for a whole slice is what makes latencies vary.

Source: Linux EEVDF, kernel/sched/fair.c (base slice 0.7 ms x (1 + log2 of the CPUs); RUN_TO_PARITY:
no wake-up preemption among equals); Go runtime, proc.go (GOMAXPROCS, runnext, wakep).
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.engine.environment import Call, LeanEnv


class SharedCores:
    """The cores of one machine.

    Args:
        count: cores; hardware threads where costs were measured with all of them busy.
        slice_ns: how long a thread keeps a core that others wait for.
        wake_ns: how long an idle core needs until it runs a thread.
    """

    __slots__ = (
        "_busy_ns", "_env", "_fair_ns", "_idle", "_slice_ns", "_waiting", "_wake_ns", "count",
    )  # fmt: skip

    def __init__(self, env: LeanEnv, count: int, slice_ns: int, wake_ns: int = 0) -> None:
        self._env = env
        self._slice_ns = slice_ns
        self._wake_ns = wake_ns
        self._idle = [True] * count
        self._waiting: list[list[tuple[int, int, _Thread]]] = [[] for _ in range(count)]
        self._fair_ns = [0] * count
        """By core: virtual time, the used time of the thread that was taken last."""
        self.count = count
        self._busy_ns = 0

    @property
    def busy_ns(self) -> int:
        """Core time used so far, by pieces that have ended."""
        return self._busy_ns

    def enter(self, thread: _Thread) -> None:
        """Takes a thread that has work: to where it ran last, or to a core that is idle."""
        idle = self._idle
        core = thread.core
        if not idle[core] and True in idle:
            thread.used_ns -= self._fair_ns[core]
            core = thread.core = idle.index(True)
            thread.used_ns += self._fair_ns[core]
        # Who sleeps saves nothing up.
        thread.used_ns = max(thread.used_ns, self._fair_ns[core])
        if idle[core]:
            idle[core] = False
            self._env.at(self._env.now_ns + self._wake_ns, self._start, thread)
        else:
            self._wait(thread)

    def _wait(self, thread: _Thread) -> None:
        env = self._env
        env.pushed = order = env.pushed + 1
        heappush(self._waiting[thread.core], (thread.used_ns, order, thread))

    def _next(self, core: int) -> None:
        """Lets the thread run that has used the least."""
        waiting = self._waiting[core]
        if waiting:
            self._start(heappop(waiting)[2])
        else:
            self._idle[core] = True

    def _start(self, thread: _Thread) -> None:
        self._fair_ns[thread.core] = max(self._fair_ns[thread.core], thread.used_ns)
        thread.slice_ns = self._slice_ns
        self._run(thread)

    def _run(self, thread: _Thread) -> None:
        piece_ns = min(thread.left_ns, thread.slice_ns)
        thread.piece_ns = piece_ns
        self._env.at(self._env.now_ns + piece_ns, self._ended, thread)

    def _ended(self, thread: _Thread) -> None:
        """Goes on at the end of a job or of a slice."""
        piece_ns = thread.piece_ns
        self._busy_ns += piece_ns
        thread.left_ns -= piece_ns
        thread.slice_ns -= piece_ns
        thread.used_ns += piece_ns
        if not thread.left_ns and not thread.process.next_job(thread):
            self._next(thread.core)
        elif thread.slice_ns > 0:
            self._run(thread)
        else:
            self._wait(thread)
            self._next(thread.core)


class _Thread:
    """One running thread of a process, with the job it does."""

    __slots__ = ("arg", "core", "fn", "left_ns", "piece_ns", "process", "slice_ns", "used_ns")

    fn: Call
    arg: Any

    def __init__(self, process: Process, core: int) -> None:
        self.process = process
        self.core = core
        """Where it ran last."""
        self.left_ns = 0
        self.piece_ns = 0
        self.slice_ns = 0
        self.used_ns = 0
        """Its place in line: CPU time used, never less than its core's virtual time."""


class Process:
    """A program with a bounded number of running threads and one queue of ready work.

    Args:
        cores: those of its machine.
        threads: how many may run at a time.
    """

    __slots__ = ("_cores", "_handing_on", "_idle", "_next", "_queue", "busy_ns")

    def __init__(self, cores: SharedCores, threads: int) -> None:
        self._cores = cores
        self._idle = [_Thread(self, core % cores.count) for core in range(threads)]
        self._queue: deque[tuple[int, Call, Any]] = deque()
        self._handing_on = False
        """A thread is at the end of a job: it takes the last thing that comes of it itself."""
        self._next: tuple[int, Call, Any] | None = None
        self.busy_ns = 0
        """CPU time of the jobs begun so far."""

    @property
    def queue_len(self) -> int:
        """How many jobs are ready and have no thread."""
        return len(self._queue)

    def submit(self, service_ns: int, fn: Call, arg: Any) -> None:
        """Queues a job of ``service_ns`` of CPU, at least 1 ns; calls ``fn(arg)`` when done."""
        job = (max(1, service_ns), fn, arg)
        if not self._handing_on:
            self._queue.append(job)
            self._wake()
            return
        if self._next is not None:
            self._queue.append(self._next)
        self._next = job

    def next_job(self, thread: _Thread) -> bool:
        """Ends a thread's job and gives it another; returns whether there was one."""
        self._handing_on = True
        thread.fn(thread.arg)
        self._handing_on = False
        if self._next is not None:
            self._queue.appendleft(self._next)
            self._next = None
        if not self._queue:
            self._idle.append(thread)
            return False
        self._take(thread)
        self._wake()
        return True

    def _wake(self) -> None:
        while self._queue and self._idle:
            thread = self._idle.pop()
            self._take(thread)
            self._cores.enter(thread)

    def _take(self, thread: _Thread) -> None:
        thread.left_ns, thread.fn, thread.arg = self._queue.popleft()
        self.busy_ns += thread.left_ns


class Gatherer:
    """One goroutine that handles all that has come while it was busy: a reader or writer.

    Args:
        process: whose threads do the work.
        cost_ns: CPU of handling the given items at once.
        done: is called with them when that is done, before the next are taken.
    """

    __slots__ = ("_busy", "_cost_ns", "_done", "_process", "_waiting", "turns")

    def __init__(self, process: Process, cost_ns: Call, done: Call) -> None:
        self._process = process
        self._cost_ns = cost_ns
        self._done = done
        self._waiting: list[Any] = []
        self._busy = False
        self.turns = 0
        """How often it has handled something."""

    def add(self, items: list[Any]) -> None:
        """Brings items, to be handled now or with others as soon as it is free."""
        self._waiting += items
        if not self._busy:
            self._begin()

    def _begin(self) -> None:
        items, self._waiting = self._waiting, []
        self._busy = True
        self.turns += 1
        service_ns: Any = self._cost_ns(items)
        self._process.submit(service_ns, self._finish, items)

    def _finish(self, items: list[Any]) -> None:
        self._done(items)
        if self._waiting:
            self._begin()
        else:
            self._busy = False

    def forget(self) -> None:
        """Drops what waits: the process has died."""
        self._waiting = []
