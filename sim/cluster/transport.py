"""Raft messages between stores: one network message for all that one poller round sends to a store.

Law: messages from one store to another arrive in the order in which they were sent (one TCP
stream), and everything that leaves in one flush arrives together.

Source: tikv/tikv src/server/raft_client.rs (batches per connection).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.protocol.raft import Append, AppendResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.cluster.store import Store
    from sim.engine import LeanEnv
    from sim.hardware.network import Link

RaftMessage = Append | AppendResponse

MESSAGE_BYTES: Final = 64
"""A RaftMessage without entries: region, peers, epoch, term, indexes (kvproto field sizes)."""

RESPONSE_BYTES: Final = 60


class Outbox:
    """What one poller round sends, by destination store, in the order of first use."""

    __slots__ = ("_lanes", "_used")

    def __init__(self) -> None:
        self._lanes: dict[int, _Lane] = {}
        self._used: list[_Lane] = []

    def add_append(self, store: int, message: Append) -> None:
        """Adds an append or heartbeat."""
        size = MESSAGE_BYTES
        for entry in message.entries:
            size += entry.size_bytes
        self._add(store, message, size)

    def add_response(self, store: int, message: AppendResponse) -> None:
        """Adds a follower's answer."""
        self._add(store, message, RESPONSE_BYTES)

    def _add(self, store: int, message: RaftMessage, size_bytes: int) -> None:
        lane = self._lanes.get(store)
        if lane is None:
            lane = self._lanes[store] = _Lane(store)
        if not lane.messages:
            self._used.append(lane)
        lane.messages.append(message)
        lane.size_bytes += size_bytes

    def flush(self, transport: Transport) -> None:
        """Sends everything, one network message a store."""
        if self._used:
            for lane in self._used:
                transport.send(lane.store, lane.messages, lane.size_bytes)
                lane.messages = []
                lane.size_bytes = 0
            self._used.clear()


class _Lane:
    """The messages to one store."""

    __slots__ = ("messages", "size_bytes", "store")

    def __init__(self, store: int) -> None:
        self.store = store
        self.messages: list[RaftMessage] = []
        self.size_bytes = 0


class Transport:
    """The raft connections of one store to the others."""

    __slots__ = ("_env", "_links", "_stores")

    def __init__(self, env: LeanEnv, links: dict[int, Link], stores: dict[int, Store]) -> None:
        self._env = env
        self._links = links
        self._stores = stores

    def send(self, store: int, messages: Sequence[RaftMessage], size_bytes: int) -> None:
        """Sends ``messages`` to ``store`` in one piece."""
        env = self._env
        arrival = self._links[store].send_ordered(env.now_ns, size_bytes)
        env.at(arrival, self._stores[store].take_raft_messages, messages)

    def send_beats(self, store: int, beats: Sequence[RaftMessage]) -> None:
        """Sends heartbeats to ``store`` in one piece."""
        self.send(store, beats, MESSAGE_BYTES * len(beats))
