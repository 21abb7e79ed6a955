"""What a leader knows of one follower, and how much it may send it.

A follower whose log is not known to agree gets one append at a time (probe); one whose log agrees
gets appends without waiting for answers (replicate); one that lacks compacted entries gets none
until it has installed a snapshot. ``window`` is how many appends may be unanswered; outside of
replicate it is 0, so that one comparison finds every unusual case.

Source: etcd-io/raft ``tracker/progress.go``, ``tracker/state.go``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class ProgressState(IntEnum):
    """How a leader sends to a follower."""

    REPLICATE = 0
    PROBE = 1
    SNAPSHOT = 2


PROBE: Final = ProgressState.PROBE
SNAPSHOT: Final = ProgressState.SNAPSHOT


class Progress:
    """What a leader has sent to one follower."""

    __slots__ = (
        "active",
        "inflight",
        "next_index",
        "paused",
        "sent_before",
        "sent_long_before",
        "snapshot_ticks",
        "state",
        "store",
        "window",
    )

    def __init__(self, store: int, next_index: int, window: int = 0) -> None:
        """Begins in replicate if there is a ``window``, else in probe."""
        self.store = store
        self.next_index = next_index
        """First index that it has not been sent."""
        self.inflight: list[int] = []
        """Last index of each append that it has not answered yet."""
        self.window = window
        self.state = ProgressState.REPLICATE if window else ProgressState.PROBE
        self.active = False
        """Whether it has answered anything since the last check of the quorum."""
        self.paused = False
        """Whether a probe is on its way."""
        self.snapshot_ticks = 0
        """Ticks since it was found to need a snapshot."""
        self.sent_before = 0
        """The last index that it had been sent when the last regular heartbeat left."""
        self.sent_long_before = 0
        """The same one heartbeat earlier: it should hold this much when it answers the last."""

    def probe(self, next_index: int) -> None:
        """Sends one append at a time from ``next_index`` on."""
        self.state = ProgressState.PROBE
        self.window = 0
        self.next_index = next_index
        self.paused = False
        self.inflight.clear()

    def replicate(self, next_index: int, window: int) -> None:
        """Sends without waiting for answers from ``next_index`` on."""
        self.probe(next_index)
        self.state = ProgressState.REPLICATE
        self.window = window
        self.sent_before = self.sent_long_before = 0

    def await_snapshot(self) -> None:
        """Sends nothing until it has installed a snapshot."""
        self.probe(self.next_index)
        self.state = ProgressState.SNAPSHOT
        self.snapshot_ticks = 0

    def on_heartbeat_sent(self) -> None:
        """Notes what has been sent by now: an answer to the next heartbeat must cover it."""
        self.sent_long_before = self.sent_before
        self.sent_before = self.next_index - 1

    def has_lost_something(self, matched: int) -> bool:
        """Returns whether what was sent more than a heartbeat ago is still not held."""
        return self.state is ProgressState.REPLICATE and matched < self.sent_long_before

    def __str__(self) -> str:
        paused = " paused" if self.paused else ""
        inflight = f" inflight {len(self.inflight)}" if self.inflight else ""
        return f"{self.state.name.lower()} next {self.next_index}{inflight}{paused}"
