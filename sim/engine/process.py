"""A SimPy process that can also wait without an event.

Besides events, a process may yield

- an ``int``: it sleeps for so many nanoseconds, at the cost of one plain entry of the queue;
- ``UNTIL_WOKEN``: it waits until somebody calls ``wake``, which resumes it within the caller's own
  call. Only for a wait that exactly one party can end.

Everything else is SimPy's: events and conditions, return values, failures, interrupts. A
``Timeout`` and the resumption after it cost about 5 us, a sleep less than 1.
"""

from __future__ import annotations

from collections.abc import Generator
from heapq import heappush
from typing import TYPE_CHECKING, Any, Final

import simpy
from simpy.events import PENDING, Event, Interruption

if TYPE_CHECKING:
    from sim.engine.environment import LeanEnv

UNTIL_WOKEN: Final = None
"""What a process yields that waits for ``wake``."""

Wait = Event | int | None
"""What a process may yield."""

Story = Generator[Wait, Any, Any]
"""What a process runs."""


class Process(simpy.Process):
    """Runs a generator; the module says what it may yield."""

    def __init__(self, env: LeanEnv, story: Story) -> None:
        # SimPy's own three, declared here to be slots of a compiled process.
        self._target: Event | None = None  # type: ignore[assignment]
        self._value: Any = PENDING
        self._ok: bool = False
        super().__init__(env, story)  # type: ignore[arg-type]
        self._lean = env
        self._send = story.send

    def wake(self, value: Any = None) -> None:
        """Resumes a process that waits ``UNTIL_WOKEN``; returns when it waits again."""
        env = self._lean
        caller = env._active_proc
        env._active_proc = self
        send = self._send
        try:
            target = send(value)
        except BaseException as end:
            self._end(end)
        else:
            if target.__class__ is int:
                env.pushed = order = env.pushed + 1
                heappush(env.calls, (env.now_ns + target, order, self.wake, None))
            elif target is not None:
                happened = self._wait_for(target)
                if happened is not None:
                    self._resume(happened)
        env._active_proc = caller

    def interrupt(self, cause: Any = None) -> None:
        """Interrupts the process, whatever it waits for.

        Raises:
            RuntimeError: if it has ended, or is the one that runs.
        """
        _Interruption(self, cause)

    def _resume(self, event: Event) -> None:
        """Goes on after an event; SimPy's own way in."""
        env = self._lean
        caller = env._active_proc
        env._active_proc = self
        happened: Event | None = event
        while happened is not None:
            try:
                target = self._send(happened._value) if happened._ok else self._throw(happened)
            except BaseException as end:
                self._end(end)
                break
            if target.__class__ is int:  # As ``_wait_for`` does: the way of most.
                self._target = None
                env.pushed = order = env.pushed + 1
                heappush(env.calls, (env.now_ns + target, order, self.wake, None))
                break
            happened = self._wait_for(target)
        env._active_proc = caller

    def _wait_for(self, target: Wait) -> Event | None:
        """Prepares the next resumption; returns ``target`` if it is an event of the past."""
        self._target = None
        if isinstance(target, int):
            env = self._lean
            env.at(env.now_ns + target, self.wake, None)
        elif isinstance(target, Event):
            callbacks: list[Any] | None = target.callbacks
            if callbacks is None:
                return target
            callbacks.append(self._resume)
            self._target = target
        return None

    def _throw(self, event: Event) -> Any:
        """Raises an event's failure inside the process, as a copy of its own."""
        event._defused = True
        failure = event._value
        copy = type(failure)(*failure.args)
        copy.__cause__ = failure
        return self._generator.throw(copy)

    @property
    def waits_for_no_event(self) -> bool:
        """Whether it sleeps, or waits to be woken."""
        return self._value is PENDING and self._target is None

    def _end(self, end: BaseException) -> None:
        self._target = None
        self._ok = isinstance(end, StopIteration)
        if isinstance(end, StopIteration):
            self._value = end.value
        else:
            assert end.__traceback__ is not None, "it has been raised"
            end.__traceback__ = end.__traceback__.tb_next
            self._value = end
        self._lean.schedule(self)


class _Interruption(Interruption):
    """SimPy's interrupt, for a process that may wait without an event."""

    def _interrupt(self, event: Event) -> None:
        process = self.process
        assert isinstance(process, Process), "LeanEnv makes no others"
        if process.waits_for_no_event:
            process._lean.cancel(process.wake)
            process._resume(event)
        else:
            super()._interrupt(event)
