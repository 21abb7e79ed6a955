"""Goroutines of a Go program, each a generator that yields what it waits for.

::

    items = yield RECEIVE               until something has been delivered; takes all of it
    yield 10_000                        until it has had 10 us of CPU
    yield SystemCall(start, cost_ns)    until the call returns and its thread has a core again
    yield Sleep(ns)
    yield mutex                         until it holds the lock

Invariant: a goroutine goes on inside the call that ends its wait. What it brings about at the end
of a job therefore counts as that job's, which decides the queue in which it waits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sim.engine.environment import Call, LeanEnv
from sim.etcd.go_process import GoProcess


class WaitReason(Protocol):
    """Something that a goroutine waits for."""

    def begin(self, goroutine: Goroutine) -> None:
        """Sees to it that the goroutine goes on some time later, or at once."""


Body = Generator[WaitReason | int, Any, None]
"""What a goroutine does; an integer is CPU in ns."""


class _Receive:
    def begin(self, goroutine: Goroutine) -> None:
        goroutine.receive()


RECEIVE: Final = _Receive()
"""Waits until something is delivered; yields a list of all that has been."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Waits for a time."""

    duration_ns: int

    def begin(self, goroutine: Goroutine) -> None:
        """Sets a timer."""
        env = goroutine.env
        env.at(env.now_ns + self.duration_ns, goroutine.resume, None)


@dataclass(frozen=True, slots=True)
class SystemCall:
    """Waits in a system call.

    Attributes:
        start: begins it; calls the given function, with any argument, when the device is done.
        cost_ns: draws its CPU, which the thread pays when it has a core again.
    """

    start: Callable[[Call], object]
    cost_ns: Callable[[], int]

    def begin(self, goroutine: Goroutine) -> None:
        """Enters the call."""
        process = goroutine.process
        thread = process.enter_call()
        self.start(lambda _: process.leave_call(thread, self.cost_ns(), goroutine.resume, None))


class Mutex:
    """A lock that one goroutine holds at a time."""

    def __init__(self) -> None:
        self._locked = False
        self._waiting: list[Goroutine] = []

    def begin(self, goroutine: Goroutine) -> None:
        """Locks, now or when it is the goroutine's turn."""
        if self._locked:
            self._waiting.append(goroutine)
        else:
            self._locked = True
            goroutine.resume(None)

    def unlock(self) -> None:
        """Hands the lock to whoever has waited longest."""
        if self._waiting:
            self._waiting.pop(0).resume(None)
        else:
            self._locked = False


class Goroutine:
    """One goroutine and what has been delivered to it."""

    def __init__(self, env: LeanEnv, process: GoProcess, body: Body) -> None:
        self.env = env
        self.process = process
        self.dead = False
        """Its process has been killed: it never goes on."""
        self.turns = 0
        """How often it has received something."""
        self._body = body
        self._mailbox: list[Any] = []
        self._parked = False
        self.resume(None)

    def deliver(self, item: object) -> None:
        """Adds something to what it will receive; it goes on at once if it waits for that."""
        self._mailbox.append(item)
        if self._parked:
            self._parked = False
            self.receive()

    def resume(self, value: Any) -> None:
        """Goes on until it has to wait."""
        if self.dead:
            return
        wait = self._body.send(value)
        if wait.__class__ is int:
            self.process.submit(wait, self.resume, None)
        else:
            wait.begin(self)  # type: ignore[union-attr]

    def receive(self) -> None:
        """Goes on with all that has been delivered, or parks."""
        if self._mailbox:
            items, self._mailbox = self._mailbox, []
            self.turns += 1
            self.resume(items)
        else:
            self._parked = True


class Goroutines:
    """The goroutines of one run of a program; they die together."""

    def __init__(self, env: LeanEnv, process: GoProcess) -> None:
        self.env = env
        self.process = process
        self._goroutines: list[Goroutine] = []

    def go(self, body: Body) -> Goroutine:
        """Starts a goroutine."""
        goroutine = Goroutine(self.env, self.process, body)
        self._goroutines.append(goroutine)
        return goroutine

    def kill(self) -> None:
        """Ends them all, at whatever they do."""
        for goroutine in self._goroutines:
            goroutine.dead = True


def gather(cost_ns: Callable[[list[Any]], int], handle: Callable[[list[Any]], object]) -> Body:
    """Handles together all that has come while it was busy: a connection's reader or writer.

    How much that is follows from how long it waited for a core and worked.
    """
    while True:
        items = yield RECEIVE
        yield cost_ns(items)
        handle(items)
