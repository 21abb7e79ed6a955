"""A SimPy environment whose queue holds plain calls, in integer nanoseconds.

Law: an entry is ``(time_ns, order, fn, arg)`` and runs as ``fn(arg)``. Entries run by time, then by
SimPy's priority, then by insertion; ``order`` folds the last two into one integer. Everything of
SimPy (processes, timeouts, interrupts, conditions, resources) goes through ``schedule`` and keeps
its order to the event. Hot paths call ``at``, which makes no ``Event``.

A timeout of SimPy costs about 2.3 us, a resumed process 2.8 more; an ``at`` entry 0.5.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any

from simpy import Environment, Event
from simpy.core import EmptySchedule, SimTime, StopSimulation
from simpy.events import NORMAL, PENDING, EventPriority

from sim.engine.process import Process, Story

_PRIORITY_STRIDE = 1 << 62
"""Distance in ``order`` between two priorities: more entries than any run makes."""

_BEFORE_ALL = -4 * _PRIORITY_STRIDE
"""The ``order`` of the end of a run: before every other entry of its instant."""

Call = Callable[[Any], object]
"""What an entry calls, with its one argument."""


_Entry = tuple[int, int, Call, Any]


class _EndOfRunError(Exception):
    """Leaves the loop of ``run_until``, which then needs no test per entry."""


def _end_run(_: None) -> None:
    raise _EndOfRunError


class LeanEnv(Environment):
    """Runs calls and SimPy events in one order."""

    def __init__(self, initial_time_ns: int = 0) -> None:
        self.now_ns = initial_time_ns
        """The simulated time in nanoseconds; an attribute, since hot code reads it all the time."""
        self.calls: list[_Entry] = []
        """The queue, a heap; for stations of this package, which push by themselves."""
        self.pushed = 0
        """How many entries were ever pushed, and the order of the newest."""
        self._ends = 0
        self._active_proc: Process | None = None
        super().__init__(initial_time_ns)

    @property
    def now(self) -> int:
        """The simulated time in nanoseconds, under SimPy's name."""
        return self.now_ns

    def process(self, generator: Story) -> Process:
        """Starts a process, at this instant but after the current call."""
        return Process(self, generator)

    @property
    def this_process(self) -> Process:
        """The process that runs now; only to be asked by one."""
        assert isinstance(self._active_proc, Process), "no process runs"
        return self._active_proc

    @property
    def events(self) -> int:
        """How many queue entries were executed so far: an exact measure of the work done."""
        return self.pushed - len(self.calls) + self._ends

    def at(self, time_ns: int, fn: Call, arg: Any) -> None:
        """Calls ``fn(arg)`` at ``time_ns``, after everything that was put there before.

        Args:
            time_ns: absolute simulated time, not before now.
            fn: the call; its result is dropped.
            arg: its only argument.
        """
        assert time_ns >= self.now_ns, f"{time_ns} ns is before now, {self.now_ns} ns"
        self.pushed = order = self.pushed + 1
        heappush(self.calls, (time_ns, order, fn, arg))

    def cancel(self, fn: Call) -> None:
        """Takes the entries that would call ``fn`` out of the queue; for what happens rarely."""
        self.calls[:] = [entry for entry in self.calls if entry[2] != fn]
        heapify(self.calls)

    def schedule(self, event: Event, priority: EventPriority = NORMAL, delay: SimTime = 0) -> None:
        """Schedules a SimPy event ``delay`` nanoseconds from now.

        Raises:
            TypeError: if the delay is not an ``int``; a float would spoil the exact clock.
        """
        if delay.__class__ is not int:
            raise TypeError(f"time is whole nanoseconds; a delay of {delay!r} is not an int")
        self.pushed = order = self.pushed + 1
        order += (priority - NORMAL) * _PRIORITY_STRIDE
        heappush(self.calls, (self.now_ns + delay, order, self._process, event))

    def run_until(self, time_ns: int) -> None:
        """Executes everything before ``time_ns`` and moves the clock there.

        As with SimPy's ``run(until)``, entries at ``time_ns`` itself are left for the next run.
        """
        assert time_ns >= self.now_ns, f"{time_ns} ns is before now, {self.now_ns} ns"
        calls = self.calls
        end: _Entry = (time_ns, _BEFORE_ALL, _end_run, None)
        heappush(calls, end)
        self._ends = 1
        try:
            while True:
                # No name may hold the entry: freed at once, its memory serves the next one, which
                # makes an event 15 % cheaper.
                self.now_ns, _, fn, arg = heappop(calls)
                fn(arg)
        except _EndOfRunError:
            pass
        finally:
            self._ends = 0
            if end in calls:
                calls.remove(end)
                heapify(calls)

    def fire(self, event: Event, value: Any = None) -> None:
        """Makes ``event`` happen now, inside the current call, without passing the queue.

        Whoever waits for it runs before this returns. It saves a queue entry where the order among
        things of the same instant does not matter.

        Raises:
            RuntimeError: if the event has been triggered before.
        """
        if event._value is not PENDING:
            raise RuntimeError(f"{event} has already been triggered")
        event._ok = True
        event._value = value
        caller = self._active_proc
        callbacks = event.callbacks
        if len(callbacks) == 1:  # As nearly always; there is nobody whose turn could be lost.
            event.callbacks = None  # type: ignore[assignment]
            callbacks[0](event)
        else:
            self._process(event)
        self._active_proc = caller

    def peek(self) -> SimTime:
        """Returns the time of the next entry in nanoseconds, infinity if there is none."""
        return self.calls[0][0] if self.calls else inf

    def step(self) -> None:
        """Executes the next entry.

        Raises:
            EmptySchedule: if there is none.
        """
        if not self.calls:
            raise EmptySchedule
        self.now_ns, _, fn, arg = heappop(self.calls)
        fn(arg)

    def _process(self, event: Event) -> None:
        """Runs the callbacks of a SimPy event, as ``simpy.Environment.step`` does."""
        callbacks, event.callbacks = event.callbacks, None  # type: ignore[assignment]
        done = 0
        try:
            for callback in callbacks:
                done += 1
                callback(event)
        except StopSimulation:
            # SimPy's rule: whoever else waits for this event runs first when the run resumes.
            event.callbacks = callbacks[done:]
            self.schedule(event, EventPriority(-1))
            raise
        if not event._ok and not hasattr(event, "_defused"):
            failure = event._value
            raise type(failure)(*failure.args) from failure
