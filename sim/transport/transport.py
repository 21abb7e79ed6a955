"""Raft messages between stores: one network message for all that one poller round sends to a store.

Law: messages from one store to another arrive in the order in which they were sent (one TCP
stream), and everything that leaves in one flush arrives together.

Source: tikv/tikv src/server/raft_client.rs (batches per connection).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.protocol.raft import Append, AppendResponse
from sim.protocol.raft.messages import RaftMessage as PureRaftMessage
from sim.raftstore.msg import Dismissal, TransferLeaderAck, TransferLeaderRequest
from sim.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.engine import LeanEnv
    from sim.hardware.network import Link
    from sim.server.store import Store
    from sim.transport.message_filter import MessageFilters

RaftMessage = PureRaftMessage | TransferLeaderRequest | TransferLeaderAck | Dismissal

MESSAGE_BYTES: Final = 64
"""A RaftMessage without entries: region, peers, epoch, term, indexes (kvproto field sizes)."""

RESPONSE_BYTES: Final = 60
"""The answer to an append, likewise."""

KEEPALIVE_NS: Final = 13 * NS_PER_S
"""From a link's being cut until either end knows, clients and stores alike: gRPC sends a ping 10 s
after the last data and waits 3 s."""


class Outbox:
    """What one poller round sends, by destination store, in the order of first use."""

    __slots__ = ("_lanes", "_used")

    def __init__(self) -> None:
        self._lanes: dict[int, _Lane] = {}
        self._used: list[_Lane] = []

    def add_appends(self, appends: Sequence[tuple[int, Append]]) -> None:
        """Adds appends to several stores, which are mostly one and the same message."""
        sized: Append | None = None
        size = 0
        for store, message in appends:
            if message is not sized:
                sized = message
                size = MESSAGE_BYTES
                for entry in message.entries:
                    size += entry.size_bytes
            self._add(store, message, size)

    def add_response(self, store: int, message: AppendResponse) -> None:
        """Adds a follower's answer."""
        self._add(store, message, RESPONSE_BYTES)

    def add_message(self, store: int, message: RaftMessage) -> None:
        """Adds a message of another kind."""
        self._add(store, message, MESSAGE_BYTES)

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

    __slots__ = ("_env", "_filters", "_links", "_store_id", "_stores", "mute")

    def __init__(
        self,
        env: LeanEnv,
        store_id: int,
        links: dict[int, Link],
        stores: dict[int, Store],
        filters: MessageFilters,
    ) -> None:
        self._env = env
        self._store_id = store_id
        self._links = links
        self._stores = stores
        self._filters = filters
        self.mute = False
        """Whether the process that sends has died."""

    def send(self, store: int, messages: Sequence[RaftMessage], size_bytes: int) -> None:
        """Sends ``messages`` to ``store`` in one piece."""
        env = self._env
        link = self._links[store]
        if self._filters.rules:
            messages = self._filtered(store, messages)
        if not messages or link.cut or self.mute:
            return
        arrival = link.send_ordered(env.now_ns, size_bytes)
        env.at(arrival, self._stores[store].take_raft_messages, messages)

    def send_message(self, store: int, message: RaftMessage, more_bytes: int = 0) -> None:
        """Sends one message by itself, with ``more_bytes`` of data."""
        self.send(store, [message], MESSAGE_BYTES + more_bytes)

    def _filtered(self, store: int, messages: Sequence[RaftMessage]) -> list[RaftMessage]:
        """Returns what may leave now; what is delayed has been sent to arrive later."""
        passing = []
        for message in messages:
            rule = self._filters.find(self._store_id, store, message)
            if rule is None:
                passing.append(message)
            elif rule.delay_ns and not self._links[store].cut:
                arrival = self._links[store].send(self._env.now_ns, MESSAGE_BYTES) + rule.delay_ns
                self._env.at(arrival, self._stores[store].take_raft_messages, [message])
        return passing
