"""What is written down while a transaction runs: each wait of its session, each request sent.

A session does nothing between two waits that takes simulated time, so its waits, one after the
other, are its whole life.
"""

from dataclasses import dataclass, field
from typing import Final

from simpy import Event

from sim.storage.request import KvRequest

STATEMENT: Final = "client round trip, plan"
PLAN: Final = "plan again"
TIMESTAMP: Final = "timestamp"
BACKOFF: Final = "back off"


@dataclass(slots=True)
class Sent:
    """One request on its way."""

    request: KvRequest
    awaited: Event | None
    """Fires when the request's group is answered; None: no session waits for it."""
    at_ns: int


@dataclass(slots=True)
class NotedWait:
    """From when to when a session waited."""

    event: Event | None
    """What for; None: for time to pass."""
    name: str
    """What it stands for, unless it is the end of requests."""
    begin_ns: int
    end_ns: int = -1


@dataclass(slots=True)
class Notes:
    """All that is known of one transaction.

    Attributes:
        intended_ns: when it was meant to begin; its latency counts from here.
        end_ns: when its client knew the outcome; -1 before that.
        outcome: ``committed``, ``aborted`` or ``undetermined``, of its last attempt.
        next_name: what the session's next wait stands for.
    """

    number: int
    name: str
    tidb: int
    explicit: bool
    intended_ns: int
    end_ns: int = -1
    start_ts: int = 0
    outcome: str = ""
    reason: str = ""
    waits: list[NotedWait] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    next_name: str = ""
    is_fetching_timestamp: bool = False
    """Whether the session's waits are parts of a timestamp's way, which is noted as one."""

    def begin_wait(self, event: Event | None, now_ns: int) -> NotedWait:
        """Notes the beginning of a wait; ``event`` is None where time passes."""
        wait = NotedWait(event, self.next_name, now_ns)
        self.next_name = ""
        self.waits.append(wait)
        return wait

    def sent_for(self, wait: NotedWait) -> list[Sent]:
        """Returns the requests for whose answers a session waited, in the order of sending."""
        if wait.event is None:
            return []
        return [sent for sent in self.sent if sent.awaited is wait.event]

    def sent_aside(self) -> list[Sent]:
        """Returns the requests that no session waited for."""
        awaited = {wait.event for wait in self.waits if wait.event is not None}
        return [sent for sent in self.sent if sent.awaited not in awaited]
