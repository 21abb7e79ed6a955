"""What a script waits for: the answer to a request, or something that the cluster is doing.

Looking at a job changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sim.storage.request import KvRequest


class Job:
    """Something under way."""

    within_ns = 0
    """How long it was given when it was put aside, 0: nothing was said."""
    until_ns = 0
    """When that is over."""

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

    def __init__(self, request: KvRequest, describe: Callable[[KvRequest], str]) -> None:
        self._request = request
        self._describe = describe
        self._answered = False
        request.caller = self

    def replied(self, request: KvRequest) -> None:
        """Takes the reply."""
        assert request is self._request, "a reply to another request"
        self._answered = True

    def done(self) -> bool:
        """Returns whether the reply has come."""
        return self._answered

    def text(self) -> str:
        """Returns the answer."""
        return self._describe(self._request)


@dataclass
class ClusterChange(Job):
    """Something that the cluster does by itself, seen from outside."""

    happened: Callable[[], bool]
    describe: Callable[[], str]
    order: Callable[[], object] | None
    """Starts it anew, as PD does with each heartbeat of the region; None: it is given once."""
    hindrance: Callable[[], str]
    """Returns who cannot reach whom, if that keeps it from happening; else nothing."""

    def done(self) -> bool:
        """Returns whether it has happened."""
        return self.happened()

    def text(self) -> str:
        """Returns what is there now."""
        return self.describe()

    def so_far(self) -> str:
        """Returns what is there instead."""
        return "".join(f"; {said}" for said in (self.describe(), self.hindrance()) if said)

    def repeat(self) -> None:
        """Gives the order again."""
        if self.order is not None:
            self.order()
