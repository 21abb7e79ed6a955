"""What a script waits for: the answer to a request, or something that the cluster is doing.

Looking at a job changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from sim.storage.request import KvRequest


@dataclass
class Job:
    """Something under way."""

    done: Callable[[], bool]
    """Whether it is over."""
    text: Callable[[], str]
    """How it ended; asked once it is done."""
    within_ns: int = field(default=0, init=False)
    """How long it was given when it was put aside, 0: nothing was said."""
    until_ns: int = field(default=0, init=False)
    """When that is over."""

    def so_far(self) -> str:
        """Returns what to add when it has not ended."""
        return ""

    def repeat(self) -> None:
        """Gives the order again, if it was given to PD and has come to nothing so far."""


class Answer:
    """Whether the reply to a request has arrived at the client, which is this."""

    def __init__(self, request: KvRequest) -> None:
        self.has_come = False
        request.caller = self

    def replied(self, request: KvRequest) -> None:
        """Takes the reply."""
        del request
        self.has_come = True


@dataclass
class ClusterChange(Job):
    """Something that the cluster does by itself, seen from outside; ``text`` is what is there."""

    order: Callable[[], object] | None
    """Starts it anew, as PD does with each heartbeat of the region; None: it is given once."""
    hindrance: Callable[[], str]
    """Returns who cannot reach whom, if that keeps it from happening; else nothing."""

    def so_far(self) -> str:
        """Returns what is there instead."""
        return "".join(f"; {said}" for said in (self.text(), self.hindrance()) if said)

    def repeat(self) -> None:
        """Gives the order again."""
        if self.order is not None:
            self.order()
