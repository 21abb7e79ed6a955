"""One goroutine that handles all that has come while it was busy: a reader or writer.

Law: its batches are nobody's decision; they are what came while it waited for a core or worked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from sim.engine.environment import Call


class Submits(Protocol):
    """A program that does jobs."""

    def submit(self, service_ns: int, fn: Call, arg: Any) -> None:
        """Queues a job of ``service_ns`` of CPU; calls ``fn(arg)`` when done."""


class Gatherer:
    """One goroutine that handles all that has come while it was busy: a reader or writer.

    Args:
        process: whose threads do the work.
        cost_ns: CPU of handling the given items at once.
        done: is called with them when that is done, before the next are taken.
    """

    __slots__ = ("_busy", "_cost_ns", "_done", "_process", "_waiting", "turns")

    def __init__(self, process: Submits, cost_ns: Call, done: Call) -> None:
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
