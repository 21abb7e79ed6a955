"""What a script waits for: the answer to a request, or something that the cluster is doing.

Law: a job is looked at, never told; looking changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from sim.storage.request import KvRequest


class Job:
    """Something under way."""

    def done(self) -> bool:
        """Returns whether it is over."""
        raise NotImplementedError

    def text(self) -> str:
        """Returns how it ended; asked once it is done."""
        raise NotImplementedError

    def so_far(self) -> str:
        """Returns what to add when it has not ended."""
        return ""

    def repeat(self) -> None:
        """Gives the order again, if it was given to PD and has come to nothing so far."""


class RequestJob(Job):
    """A request that is answered when the reply has arrived at the client."""

    __slots__ = ("_describe", "answered", "request")

    def __init__(self, request: KvRequest, describe: Callable[[KvRequest], str]) -> None:
        self.request = request
        self.answered = False
        self._describe = describe
        request.caller = self

    def replied(self, request: KvRequest) -> None:
        """Takes the reply."""
        assert request is self.request, "a reply to somebody else's request"
        self.answered = True

    def done(self) -> bool:
        """Returns whether the reply has come."""
        return self.answered

    def text(self) -> str:
        """Returns the answer."""
        return self._describe(self.request)


class Awaited(Job):
    """Something that the cluster does by itself, seen from outside."""

    __slots__ = ("_happened", "_order", "_tell")

    def __init__(
        self,
        happened: Callable[[], bool],
        tell: Callable[[], str],
        order: Callable[[], object] | None = None,
    ) -> None:
        """Args: ``order`` starts it anew; None: it is given only once."""
        self._happened = happened
        self._tell = tell
        self._order = order

    def done(self) -> bool:
        """Returns whether it has happened."""
        return self._happened()

    def text(self) -> str:
        """Returns what is there now."""
        return self._tell()

    def so_far(self) -> str:
        """Returns what is there instead."""
        return f"; {self._tell()}"

    def repeat(self) -> None:
        """Gives the order again, as PD does with each heartbeat of the region."""
        if self._order is not None:
            self._order()
