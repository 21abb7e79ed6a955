"""A Go program on shared cores: goroutines, threads, system calls, the monitor, garbage.

Law: as many goroutines run as there are *procs* (GOMAXPROCS), each on a thread that has to get a
core. A proc has a queue of its own; what a job brings about last comes next there. A proc without
work takes from everybody's queue, then half of another's. What comes from outside waits in
everybody's queue. When work comes and a proc is idle, one thread is woken up to look for it.

A thread in a system call keeps its proc and goes on as soon as it gets a core, before all that
waits, unless the monitor has taken the proc away: it does at its second look at the same call if
there is work for the proc. The thread then goes on with an idle proc, or its goroutine queues with
the others. A thread that lost its core while in the kernel is taken for one in a call, too.

While the heap is marked, a proc gives a quarter of the time to that, and all that it has no
other work for.

Source: golang/go release-branch.go1.19 src/runtime/proc.go (findRunnable, runqput, runqgrab, wakep,
entersyscall, exitsyscall, sysmon, retake, handoffp), mgcpacer.go (fractional workers).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from sim.etcd.go_monitor import DULL, FOUND, IDLE, Monitor
from sim.etcd.go_proc import GoThread, Proc
from sim.units import NS_PER_US

if TYPE_CHECKING:
    from sim.engine.environment import Call, LeanEnv
    from sim.etcd.go_heap import Heap
    from sim.etcd.go_proc import Job
    from sim.etcd.shared_cores import SharedCores

_EVERYBODYS_TURN: Final = 61
"""How often everybody's queue comes before a proc's own."""

_IN_KERNEL: Final = 3
"""One in so many threads that lost their core was in a system call: etcd's share of system time is
0.29 to 0.45."""

_MARK_PIECE_NS: Final = 100 * NS_PER_US
"""How long who marks does not look for other work (``drainCheckThreshold``). Derived: 100,000 units
of scanning, at a byte or so a nanosecond."""

_MARK_SHARE: Final = 0.25
"""Of each proc's time, while the heap is marked (``gcBackgroundUtilization``)."""

_MARK_LEEWAY: Final = 1.2
"""Who marks stops at so much more than its share (``pollFractionalWorkerExit``)."""


def _nothing(_: Any) -> None:
    """Is the job of a thread that only looks for work, returns from a call, or marks."""


class GoProcess:
    """A Go program.

    Args:
        env: the clock.
        cores: those of its machine.
        procs: how many goroutines may run at a time.
        watch_ns: CPU of one look of the monitor.
        heap: its heap.
    """

    __slots__ = (
        "_cores", "_env", "_everybodys", "_idle", "_made", "_now", "_procs", "_searching",
        "_threads", "heap", "monitor",
    )  # fmt: skip

    def __init__(
        self, env: LeanEnv, cores: SharedCores, procs: int, watch_ns: int, heap: Heap
    ) -> None:
        self._env = env
        self._cores = cores
        self._procs = [Proc() for _ in range(procs)]
        self._idle = list(self._procs)
        self._threads: list[GoThread] = []
        self._made = 0
        self._everybodys: deque[Job] = deque()
        self._searching = False
        self._now: Proc | None = None
        """Whose job is at its end: what it brings about comes from inside."""
        self.heap = heap
        self.monitor = Monitor(env, cores, watch_ns, self._look)

    def submit(self, service_ns: int, fn: Call, arg: Any) -> None:
        """Queues a job of ``service_ns`` of CPU, at least 1 ns; calls ``fn(arg)`` when done."""
        job = (max(1, service_ns), fn, arg)
        proc = self._now
        if proc is None:
            self._everybodys.append(job)
        else:
            proc.put(job)
        self._wake()

    def enter_call(self) -> GoThread | None:
        """Lets the thread whose job is at its end wait in a system call; returns it."""
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
        """Notes an allocation, and has the heap marked if it is time."""
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
            self._everybodys.append(job)
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
        self.monitor.call()

    def _find(self, proc: Proc) -> Job | None:
        proc.turns += 1
        if self.heap.left_ns:
            job = self._mark_share(proc)
            if job is not None:
                return job
        everybodys = self._everybodys
        if everybodys and proc.turns % _EVERYBODYS_TURN == 0:
            return everybodys.popleft()
        if proc.has_work:
            return proc.take()
        if everybodys:
            share = min(len(everybodys), len(everybodys) // len(self._procs) + 1)
            job = everybodys.popleft()
            for _ in range(share - 1):
                proc.queue(everybodys.popleft())
            return job
        return self._steal(proc) or self._mark(proc, _MARK_PIECE_NS)

    def _steal(self, thief: Proc) -> Job | None:
        for proc in self._procs:
            if proc is not thief and proc.has_work:
                return proc.lose_half(thief)
        return None

    def _mark_share(self, proc: Proc) -> Job | None:
        """Returns marking if the proc owes some."""
        since_ns = self._env.now_ns - self.heap.began_ns
        if proc.marked_ns >= _MARK_SHARE * since_ns:
            return None
        most = _MARK_LEEWAY * _MARK_SHARE
        until_ns = int((most * since_ns - proc.marked_ns) / (1 - most))
        return self._mark(proc, max(_MARK_PIECE_NS, until_ns))

    def _mark(self, proc: Proc, most_ns: int) -> Job | None:
        piece_ns = self.heap.take(most_ns)
        if not piece_ns:
            return None
        proc.marked_ns += piece_ns
        return (piece_ns, _nothing, None)

    def _look(self) -> int:
        taken = DULL
        for proc in self._procs:
            if self._may_take(proc):
                taken = FOUND
                self._take(proc)
        return IDLE if len(self._idle) == len(self._procs) else taken

    def _may_take(self, proc: Proc) -> bool:
        """Returns whether a proc's thread is in the same call as at the last look, and missed."""
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

    def _take(self, proc: Proc) -> None:
        """Takes a proc from its thread, and gives it another if there is work."""
        thread = proc.thread
        assert thread is not None, "it has one"
        thread.proc = proc.thread = None
        if not proc.in_call:
            thread.goes_on = (thread.left_ns, thread.fn, thread.arg)
            thread.left_ns, thread.fn, thread.arg = 1, _nothing, None
        proc.in_call = False
        if proc.has_work or self._everybodys:
            self._run(proc)
        elif self._idle or self._searching:
            self._idle.append(proc)
        else:
            self._searching = True
            self._run(proc).searches = True
