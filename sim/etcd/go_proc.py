"""What a Go program runs goroutines with: procs with their queues, and threads.

Source: golang/go release-branch.go1.19 src/runtime/proc.go (runqput, runqget, runqgrab).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from sim.etcd.shared_cores import Thread

if TYPE_CHECKING:
    from sim.engine.environment import Call
    from sim.etcd.shared_cores import Runs

    Job = tuple[int, Call, Any]


class Proc:
    """The right to run a goroutine at a time, with those that wait for it."""

    __slots__ = ("_next", "_queue", "calls", "in_call", "marked_ns", "seen", "thread", "turns")

    def __init__(self) -> None:
        self._queue: deque[Job] = deque()
        self._next: Job | None = None
        self.thread: GoThread | None = None
        """Who has it; nobody if it is idle."""
        self.in_call = False
        """Its thread is in a system call."""
        self.calls = 0
        self.seen = (0, 0)
        """What the monitor saw last: the call's number, and the turn of a thread without a core."""
        self.turns = 0
        """How often it looked for work."""
        self.marked_ns = 0
        """For the heap, in this cycle."""

    @property
    def has_work(self) -> bool:
        """Whether something waits for it."""
        return self._next is not None or bool(self._queue)

    def put(self, job: Job) -> None:
        """Takes what its own goroutine has brought about: the last comes next."""
        if self._next is not None:
            self._queue.append(self._next)
        self._next = job

    def queue(self, job: Job) -> None:
        """Takes a job for later."""
        self._queue.append(job)

    def take(self) -> Job:
        """Returns what comes next; there has to be something."""
        job, self._next = self._next, None
        return self._queue.popleft() if job is None else job

    def lose_half(self, thief: Proc) -> Job:
        """Gives away the older half, the greater one; returns what the thief is to do first."""
        queue = self._queue
        if not queue:
            return self.take()
        for _ in range(len(queue) - len(queue) // 2 - 1):
            thief.queue(queue.popleft())
        return queue.popleft()


class GoThread(Thread):
    """A thread; it runs goroutines while it has a proc."""

    __slots__ = ("enters_call", "goes_on", "proc", "searches")

    def __init__(self, process: Runs, core: int) -> None:
        super().__init__(process, core)
        self.proc: Proc | None = None
        self.goes_on: Job | None = None
        """What comes after its system call."""
        self.enters_call = False
        self.searches = False
