"""Losing and delaying messages between stores, by kind.

A filter sees a message when it is sent. A dropped message is lost; a delayed one
arrives later, and may be overtaken.

Source of the idea: tikv/tikv components/test_raftstore transport_simulate.rs (RegionPacketFilter).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sim.transport.messages import RaftMessage

KINDS: Final = (
    "Append", "AppendResponse", "Heartbeat", "HeartbeatResponse", "RequestVote", "VoteResponse",
    "TimeoutNow", "Snapshot", "TransferLeaderRequest", "TransferLeaderAck",
)  # fmt: skip
"""What can be named; ``any`` names them all."""

ANY: Final = "any"


@dataclass(eq=False)
class MessageFilter:
    """One rule. 0 and ``any`` fit everything; without ``delay_ns`` what fits is dropped."""

    kind: str
    src: int
    dst: int
    region: int
    delay_ns: int
    hits: int = 0
    """Messages that fitted."""

    def fits(self, src: int, dst: int, message: RaftMessage) -> bool:
        """Returns whether this rule is about ``message``."""
        return (
            self.src in {0, src}
            and self.dst in {0, dst}
            and self.region in {0, message.region_id}
            and self.kind in {ANY, type(message).__name__}
        )


class MessageFilters:
    """All rules of a cluster; the first that fits decides."""

    def __init__(self) -> None:
        self.rules: list[MessageFilter] = []

    def drop(
        self, kind: str = ANY, *, src: int = 0, dst: int = 0, region: int = 0
    ) -> MessageFilter:
        """Drops what fits; returns the rule, for ``remove``."""
        return self.delay(kind, 0, src=src, dst=dst, region=region)

    def delay(
        self, kind: str, delay_ns: int, *, src: int = 0, dst: int = 0, region: int = 0
    ) -> MessageFilter:
        """Delays what fits by ``delay_ns``; returns the rule.

        Raises:
            ValueError: if there is no such kind of message.
        """
        if kind != ANY and kind not in KINDS:
            raise ValueError(f"no message is called {kind}; there are {', '.join(KINDS)} and {ANY}")
        rule = MessageFilter(kind, src, dst, region, delay_ns)
        self.rules.append(rule)
        return rule

    def remove(self, rule: MessageFilter) -> None:
        """Takes a rule back; one that is gone already is no error."""
        if rule in self.rules:
            self.rules.remove(rule)

    def clear(self) -> None:
        """Takes all rules back."""
        self.rules.clear()

    def find(self, src: int, dst: int, message: RaftMessage) -> MessageFilter | None:
        """Returns the rule that decides about ``message``, None if it may pass."""
        for rule in self.rules:
            if rule.fits(src, dst, message):
                rule.hits += 1
                return rule
        return None
