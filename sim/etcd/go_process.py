"""A Go program on shared cores: procs, threads, system calls, the monitor, garbage collection.

As many goroutines run at a time as there are *procs* (GOMAXPROCS; Go's P), each on a thread that
has to get a core. A proc has a run queue of its own; the newest job that its running goroutine made
ready runs next. A proc without work takes from the global queue, where timers and the network put
theirs, and then half of another proc's. When work comes while a proc is idle, one thread is woken
up to look for it.

A thread in a system call keeps its proc and goes on as soon as it gets a core, before everything in
the queue, unless the monitor has retaken the proc: it does so when it sees the same call a second
time and there is work for the proc. The thread then goes on with an idle proc, or its goroutine
goes to the global queue. A thread that lost its core while in the kernel counts as one in a call.

While the heap is marked, each proc spends a quarter of its time on that, and all time that it has
no other work for.

Source: golang/go release-branch.go1.19 src/runtime/proc.go (findRunnable, runqput, runqgrab, wakep,
entersyscall, exitsyscall, sysmon, retake, handoffp), mgcpacer.go (fractional workers).
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from sim.engine.environment import Call, LeanEnv
from sim.etcd.go_heap import MARK_PIECE_NS, Heap
from sim.etcd.go_monitor import IDLE, NOTHING, RETOOK, Monitor
from sim.etcd.shared_cores import SharedCores, Thread

Job = tuple[int, Call, Any]
"""CPU in ns, and what is called with which argument at its end."""

_GLOBAL_QUEUE_TURN: Final = 61
"""Every so many turns of a proc the global queue comes before its own."""

_IN_KERNEL: Final = 3
"""One in so many threads that lost their core was in a system call. Derived: etcd's share of system
time is 0.29 to 0.45."""


def _nothing(_: Any) -> None:
    """The job of a thread that only looks for work, returns from a call, or marks."""


class Proc:
    """Runs one goroutine at a time, and has a queue of those that are ready (Go's P)."""

    def __init__(self) -> None:
        self.queue: deque[Job] = deque()
        self._next: Job | None = None
        self.thread: GoThread | None = None
        """The thread that runs it; None if it is idle."""
        self.in_call = False
        """Its thread is in a system call."""
        self.calls = 0
        self.seen = (0, 0)
        """What the monitor saw last: number of the call, and turn of a thread without a core."""
        self.turns = 0
        """How often it has looked for work."""
        self.marked_ns = 0
        """Time spent on marking in this cycle."""

    @property
    def has_work(self) -> bool:
        """Whether something waits for it."""
        return self._next is not None or bool(self.queue)

    def put(self, job: Job) -> None:
        """Queues a job that its running goroutine has made ready, to run next."""
        if self._next is not None:
            self.queue.append(self._next)
        self._next = job

    def take(self) -> Job:
        """Returns the next job; there has to be one."""
        job, self._next = self._next, None
        return self.queue.popleft() if job is None else job

    def give_half_to(self, thief: Proc) -> Job:
        """Moves the older half of its queue, rounded up, to another; returns the first of it."""
        queue = self.queue
        if not queue:
            return self.take()
        for _ in range(len(queue) - len(queue) // 2 - 1):
            thief.queue.append(queue.popleft())
        return queue.popleft()


class GoThread(Thread):
    """A thread that runs goroutines while it has a proc."""

    def __init__(self, process: GoProcess, core: int) -> None:
        super().__init__(process, core)
        self.proc: Proc | None = None
        self.goes_on: Job | None = None
        """What comes after its system call."""
        self.enters_call = False
        self.searches = False


class GoProcess:
    """A Go program.

    Args:
        env: the clock.
        cores: those of its machine.
        procs: how many goroutines may run at a time.
        watch_ns: CPU of one look of the monitor.
        heap: its heap.
    """

    def __init__(
        self, env: LeanEnv, cores: SharedCores, procs: int, watch_ns: int, heap: Heap
    ) -> None:
        self._env = env
        self._cores = cores
        self._procs = [Proc() for _ in range(procs)]
        self._idle = list(self._procs)
        self._threads: list[GoThread] = []
        self._made = 0
        self._global_queue: deque[Job] = deque()
        self._searching = False
        self._now: Proc | None = None
        """Whose job is ending: what is submitted meanwhile goes to its queue."""
        self.heap = heap
        self.monitor = Monitor(env, cores, watch_ns, self._look)

    def submit(self, service_ns: int, fn: Call, arg: Any) -> None:
        """Queues a job of ``service_ns`` of CPU, at least 1 ns; calls ``fn(arg)`` when done."""
        job = (max(1, service_ns), fn, arg)
        proc = self._now
        if proc is None:
            self._global_queue.append(job)
        else:
            proc.put(job)
        self._wake()

    def enter_call(self) -> GoThread | None:
        """Sends the thread whose job is ending into a system call; returns it."""
        proc = self._now
        if proc is None:
            return None
        thread = proc.thread
        assert thread is not None, "who runs a job has a thread"
        thread.enters_call = proc.in_call = True
        proc.calls += 1
        return thread

    def leave_call(self, thread: GoThread | None, service_ns: int, fn: Call, arg: Any) -> None:
        """Ends a system call: its thread goes on with this job as soon as it can."""
        if thread is None:
            self.submit(service_ns, fn, arg)
        else:
            thread.goes_on = (max(1, service_ns), fn, arg)
            self._enter(thread)

    def allocate(self, size_bytes: int, kept_bytes: int = 0) -> None:
        """Notes an allocation, and begins a marking cycle if one is due."""
        if self.heap.allocate(size_bytes, kept_bytes):
            self.heap.begin(self._env.now_ns)
            for proc in self._procs:
                proc.marked_ns = 0
            while self._idle:
                self._run(self._idle.pop())

    def next_job(self, thread: GoThread) -> bool:
        """Ends a thread's job and gives it another; returns whether there was one."""
        if thread.goes_on is not None:
            return self._left_call(thread, thread.goes_on)
        proc = thread.proc
        assert proc is not None, "who runs a job has a proc"
        if thread.fn is not _nothing:
            self._now = proc
            thread.fn(thread.arg)
            self._now = None
            if thread.enters_call:
                thread.enters_call = False
                return False
        searched, thread.searches = thread.searches, False
        if searched:
            self._searching = False
        job = self._find(proc)
        if job is None:
            thread.proc = proc.thread = None
            self._idle.append(proc)
            self._threads.append(thread)
            return False
        thread.left_ns, thread.fn, thread.arg = job
        if searched:
            self._wake()
        return True

    def _left_call(self, thread: GoThread, job: Job) -> bool:
        thread.goes_on = None
        proc = thread.proc
        if proc is not None:
            proc.in_call = False
        elif self._idle:
            proc = thread.proc = self._idle.pop()
            proc.thread = thread
        else:
            self._global_queue.append(job)
            self._threads.append(thread)
            return False
        thread.left_ns, thread.fn, thread.arg = job
        return True

    def _wake(self) -> None:
        if self._idle and not self._searching:
            self._searching = True
            self._run(self._idle.pop()).searches = True

    def _run(self, proc: Proc) -> GoThread:
        """Gives a proc a thread, which will look for work when it has a core."""
        if self._threads:
            thread = self._threads.pop()
        else:
            thread = GoThread(self, self._made % self._cores.count)
            self._made += 1
        thread.proc = proc
        proc.thread = thread
        self._enter(thread)
        return thread

    def _enter(self, thread: GoThread) -> None:
        thread.left_ns, thread.fn, thread.arg = 1, _nothing, None
        self._cores.enter(thread)
        self.monitor.wake()

    def _find(self, proc: Proc) -> Job | None:
        proc.turns += 1
        if self.heap.left_ns:
            job = self._mark(proc, self.heap.take_share(proc.marked_ns, self._env.now_ns))
            if job is not None:
                return job
        waiting = self._global_queue
        if waiting and proc.turns % _GLOBAL_QUEUE_TURN == 0:
            return waiting.popleft()
        if proc.has_work:
            return proc.take()
        if waiting:
            share = min(len(waiting), len(waiting) // len(self._procs) + 1)
            job = waiting.popleft()
            for _ in range(share - 1):
                proc.queue.append(waiting.popleft())
            return job
        return self._steal(proc) or self._mark(proc, self.heap.take(MARK_PIECE_NS))

    def _steal(self, thief: Proc) -> Job | None:
        for proc in self._procs:
            if proc is not thief and proc.has_work:
                return proc.give_half_to(thief)
        return None

    @staticmethod
    def _mark(proc: Proc, piece_ns: int) -> Job | None:
        proc.marked_ns += piece_ns
        return (piece_ns, _nothing, None) if piece_ns else None

    def _look(self) -> int:
        seen = NOTHING
        for proc in self._procs:
            if self._may_retake(proc):
                seen = RETOOK
                self._retake(proc)
        return IDLE if len(self._idle) == len(self._procs) else seen

    def _may_retake(self, proc: Proc) -> bool:
        """Returns whether a proc's thread is in the same call as before, and is needed."""
        thread = proc.thread
        if proc.in_call:
            sight = (proc.calls, -1)
        elif thread is None or thread.has_core or thread.fn is _nothing or thread.turn % _IN_KERNEL:
            return False
        else:
            sight = (proc.calls, thread.turn)
        if proc.seen != sight:
            proc.seen = sight
            return False
        return proc.has_work or not (self._idle or self._searching)

    def _retake(self, proc: Proc) -> None:
        """Takes a proc from its thread, and gives it another thread if there is work."""
        thread = proc.thread
        assert thread is not None, "it has one"
        thread.proc = proc.thread = None
        if not proc.in_call:
            thread.goes_on = (thread.left_ns, thread.fn, thread.arg)
            thread.left_ns, thread.fn, thread.arg = 1, _nothing, None
        proc.in_call = False
        if proc.has_work or self._global_queue:
            self._run(proc)
        elif self._idle or self._searching:
            self._idle.append(proc)
        else:
            self._searching = True
            self._run(proc).searches = True
