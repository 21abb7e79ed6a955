"""What a replica asks of its driver: what to write, what to send, what to apply, in which order.

Invariant: ``appends`` may leave at once; ``response`` and ``messages`` leave when this ready's
``hard_state`` and ``entries``, and those of every ready before it, are durable. Only a leader's
``Heartbeat`` and ``TimeoutNow`` may leave earlier: the votes that made it leader are durable.

Most readies carry the five fields of ``Ready`` only; the others are class attributes there, which
cost nothing, and slots of ``EventfulReady``.

Source: etcd-io/raft ``node.go`` (Ready), ``doc.go`` (order of writing and sending).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sim.protocol.raft.log import NO_ENTRIES, Entry
from sim.protocol.raft.messages import Append, AppendResponse, RaftMessage, Snapshot

NO_APPENDS: Final[list[tuple[int, Append]]] = []
"""Stands for "nothing to send"; never filled."""

_NO_MESSAGES: Final[list[tuple[int, RaftMessage]]] = []
_NO_INTEGERS: Final[list[int]] = []


class HardState(NamedTuple):
    """What a replica must keep through a crash besides its log. ``vote`` 0: none in this term."""

    term: int
    vote: int


class Ready:
    """What the driver has to do, in the order of the fields."""

    __slots__ = ("appends", "committed", "entries", "last_index", "response")

    messages: list[tuple[int, RaftMessage]] = _NO_MESSAGES
    """(store, message) to be sent when everything above is durable."""
    hard_state: HardState | None = None
    """To be written with ``entries``; report it by ``on_hard_state_persisted`` once durable."""
    role_changed: bool = False
    """Whether role, leader or term have changed."""
    read_states: list[int] = _NO_INTEGERS
    """Contexts of ``read_index`` that a majority has confirmed."""
    needs_snapshot: list[int] = _NO_INTEGERS
    """Stores that need compacted entries: send them ``make_snapshot``."""
    snapshot: Snapshot | None = None
    """A leader's snapshot: make it durable, then call ``install_snapshot``."""

    def __init__(
        self,
        appends: list[tuple[int, Append]],
        entries: list[Entry],
        last_index: int,
        response: AppendResponse | None,
        committed: list[Entry],
    ) -> None:
        self.appends = appends
        """(store, message) that may be sent before anything is persisted."""
        self.entries = entries
        """Entries to persist."""
        self.last_index = last_index
        """What to report by ``on_persisted`` once ``entries`` are durable; 0: there are none."""
        self.response = response
        """To be sent to the leader after ``entries`` are durable."""
        self.committed = committed
        """Entries to apply."""


class EventfulReady(Ready):
    """A ready with more than replication in it; a replica collects it until ``ready`` is called."""

    __slots__ = (
        "hard_state",
        "messages",
        "needs_snapshot",
        "read_states",
        "role_changed",
        "snapshot",
    )

    def __init__(self) -> None:
        super().__init__(NO_APPENDS, NO_ENTRIES, 0, None, NO_ENTRIES)
        self.messages: list[tuple[int, RaftMessage]] = []
        self.hard_state: HardState | None = None
        self.role_changed = False
        self.read_states: list[int] = []
        self.needs_snapshot: list[int] = []
        self.snapshot: Snapshot | None = None


NOTHING_READY: Final = Ready(NO_APPENDS, NO_ENTRIES, 0, None, NO_ENTRIES)
"""The ready after most answers of followers: a majority had agreed before."""
