"""Cores that several processes share: Linux's fair scheduler, EEVDF.

Of the threads that have not had more than their share, a core runs the one with the earliest
deadline: a slice after the CPU time that it has used. A thread runs until its slice is used up, or
until a thread wakes up that is the one to run while the running one has had more than its share. A
sleeping thread keeps what it is owed (two slices at most) and, in part, what it has had too much. A
thread wakes up where it ran last, or on an idle core; cores do not steal.

``sim.engine.thread_pool`` slows all jobs down in proportion instead, fixed at a job's start, which
is cheaper, and right where a job is short against the time in which the load changes. Here two
cores are nearly always busy, and which thread waits for which is what makes latencies vary.

Left out: threads that sleep with a debt stay in the mean that shares are measured by until it is
paid; slices end on the dot, not at the next tick (4 ms) or wake-up (50 us here).

Source: Linux 6.18 kernel/sched/fair.c (pick_eevdf, place_entity, wakeup_preempt_fair; base slice
0.7 ms x (1 + log2 of the CPUs)); Stoica and Abdel-Wahab, Earliest Eligible Virtual Deadline First,
1995. Wake-ups preempt: without that a core would switch 700 times a second; with three etcd members
and a client under 16 clients it did so some 3,800 times (measured).
"""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

from sim.engine.environment import Call, LeanEnv


class Runs(Protocol):
    """A program with threads."""

    def next_job(self, thread: Any) -> bool:
        """Ends a thread's job and gives it another; returns whether there was one."""


class SharedCores:
    """The cores of one machine.

    Args:
        count: cores; hardware threads where costs were measured with all of them busy.
        slice_ns: how much CPU a thread asks for at a time.
        wake_ns: how long an idle core needs until it runs a thread.
    """

    def __init__(self, env: LeanEnv, count: int, slice_ns: int, wake_ns: int = 0) -> None:
        self._env = env
        self._slice_ns = slice_ns
        self._wake_ns = wake_ns
        self._cores = [_Core() for _ in range(count)]
        self.count = count
        self._busy_ns = 0

    @property
    def busy_ns(self) -> int:
        """Core time used so far, by pieces that have ended."""
        return self._busy_ns

    def enter(self, thread: Thread) -> None:
        """Takes a thread that has work: to where it ran last, or to a core that is idle."""
        core = self._core_for(thread)
        running = core.running
        if running is None:
            thread.used_ns = core.fair_ns
            thread.deadline_ns = thread.used_ns + self._slice_ns
            self._start(core, thread, self._wake_ns)
            return
        self._count(running)
        fair_ns = core.fair()
        if thread.used_ns <= fair_ns:
            owed_ns = thread.owed_ns
            if owed_ns:
                owed_ns += owed_ns // (len(core.waiting) + 1)  # Its arrival moves the mean.
            thread.used_ns = fair_ns - owed_ns
            thread.deadline_ns = thread.used_ns + self._slice_ns
        elif thread.used_ns >= thread.deadline_ns:
            thread.deadline_ns = thread.used_ns + self._slice_ns
        core.waiting.append(thread)
        core.woken = thread
        if running.end_ns >= 0:  # Else a job is ending, and looks then.
            self._look(core, running)

    def _look(self, core: _Core, running: Thread) -> None:
        """Decides whether the thread that woke up last preempts the running one."""
        woken, core.woken = core.woken, None
        if running.used_ns >= running.deadline_ns:
            running.deadline_ns += self._slice_ns
            self._switch(core)
            return
        if woken is not None:
            fair_ns = core.fair()
            if running.used_ns > fair_ns and core.best(fair_ns) is woken:
                self._switch(core)
                return
        self._go_on(running)

    def _core_for(self, thread: Thread) -> _Core:
        cores = self._cores
        core = cores[thread.core]
        if core.running is not None and thread.used_ns <= core.fair_ns:
            for index, other in enumerate(cores):
                if other.running is None:
                    thread.core = index
                    thread.used_ns = other.fair_ns
                    return other
        return core

    def _count(self, thread: Thread) -> None:
        """Adds to a running thread's account what it has run since the last time."""
        now_ns = self._env.now_ns
        ran_ns = now_ns - thread.since_ns
        if ran_ns > 0:
            thread.since_ns = now_ns
            thread.used_ns += ran_ns
            thread.left_ns -= ran_ns
            self._busy_ns += ran_ns

    def _switch(self, core: _Core) -> None:
        """Runs the best thread, which may be the one that runs already."""
        running = core.running
        assert running is not None, "a thread runs"
        core.waiting.append(running)
        best = core.best(core.waiting_fair())
        core.waiting.remove(best)
        if best is running:
            self._go_on(running)
            return
        running.turn += 1  # It does not end as planned.
        running.end_ns = -1
        self._start(core, best, 0)

    def _start(self, core: _Core, thread: Thread, delay_ns: int) -> None:
        core.running = thread
        thread.since_ns = self._env.now_ns + delay_ns
        self._go_on(thread)

    def _go_on(self, thread: Thread) -> None:
        piece_ns = thread.left_ns
        if self._cores[thread.core].waiting:
            piece_ns = min(piece_ns, max(0, thread.deadline_ns - thread.used_ns))
        end_ns = thread.since_ns + piece_ns
        if end_ns == thread.end_ns:
            return
        thread.end_ns = end_ns
        thread.turn += 1
        self._env.at(end_ns, self._ended, (thread, thread.turn))

    def _ended(self, what: tuple[Thread, int]) -> None:
        """Goes on at the end of a job or of a slice."""
        thread, turn = what
        if turn != thread.turn:
            return  # It was taken off its core meanwhile.
        thread.end_ns = -1
        self._count(thread)
        core = self._cores[thread.core]
        if not thread.left_ns and not thread.process.next_job(thread):
            self._leave(core, thread)
        else:
            self._look(core, thread)

    def _leave(self, core: _Core, thread: Thread) -> None:
        thread.turn += 1
        fair_ns = core.fair()
        thread.owed_ns = max(0, min(fair_ns - thread.used_ns, 2 * self._slice_ns))
        core.running = core.woken = None
        if core.waiting:
            best = core.best(core.waiting_fair())
            core.waiting.remove(best)
            self._start(core, best, 0)


class _Core:
    """The thread that runs on one core, and those that wait for it."""

    def __init__(self) -> None:
        self.running: Thread | None = None
        self.woken: Thread | None = None
        self.waiting: list[Thread] = []
        self.fair_ns = 0
        """Virtual time at the last question: the mean of what its threads have used."""

    def fair(self) -> int:
        """Returns the virtual time."""
        running = self.running
        assert running is not None, "a thread runs"
        used_ns = running.used_ns
        for thread in self.waiting:
            used_ns += thread.used_ns
        self.fair_ns = used_ns // (len(self.waiting) + 1)
        return self.fair_ns

    def waiting_fair(self) -> int:
        """Returns the virtual time of the waiting threads."""
        used_ns = 0
        for thread in self.waiting:
            used_ns += thread.used_ns
        self.fair_ns = used_ns // len(self.waiting)
        return self.fair_ns

    def best(self, fair_ns: int) -> Thread:
        """Returns the waiting thread with the earliest deadline that has not had its share."""
        best = None
        for thread in self.waiting:
            if thread.used_ns <= fair_ns and (
                best is None or thread.deadline_ns < best.deadline_ns
            ):
                best = thread
        assert best is not None, "some thread is not above the mean"
        return best


class Thread:
    """One running thread of a process, with the job it does."""

    fn: Call
    arg: Any

    def __init__(self, process: Runs, core: int) -> None:
        self.process = process
        self.core = core
        """Where it ran last."""
        self.left_ns = 0
        self.since_ns = 0
        self.end_ns = -1
        self.turn = 0
        self.used_ns = 0
        """Virtual: CPU time used, shifted to that of the core it runs on."""
        self.deadline_ns = 0
        self.owed_ns = 0
        """Its lag when it went to sleep."""

    @property
    def has_core(self) -> bool:
        """Whether it runs."""
        return self.end_ns >= 0


class Program:
    """A program with a bounded number of threads and one queue of work.

    Args:
        cores: those of its machine.
        threads: how many may run at a time.
    """

    def __init__(self, cores: SharedCores, threads: int) -> None:
        self._cores = cores
        self._idle = [Thread(self, core % cores.count) for core in range(threads)]
        self._queue: deque[tuple[int, Call, Any]] = deque()

    def submit(self, service_ns: int, fn: Call, arg: Any) -> None:
        """Queues a job of ``service_ns`` of CPU, at least 1 ns; calls ``fn(arg)`` when done."""
        self._queue.append((max(1, service_ns), fn, arg))
        if self._idle:
            thread = self._idle.pop()
            self._take(thread)
            self._cores.enter(thread)

    def next_job(self, thread: Thread) -> bool:
        """Ends a thread's job and gives it another; returns whether there was one."""
        thread.fn(thread.arg)
        if not self._queue:
            self._idle.append(thread)
            return False
        self._take(thread)
        return True

    def _take(self, thread: Thread) -> None:
        thread.left_ns, thread.fn, thread.arg = self._queue.popleft()
