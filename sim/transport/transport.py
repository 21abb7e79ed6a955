"""Raft messages between stores: one network message for all that one poller round sends to a store.

Invariant: messages from one store to another arrive in the order in which they were sent (one TCP
stream), and everything that leaves in one flush arrives together.

Source: tikv/tikv src/server/raft_client.rs (batches per connection).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sim.engine import UNTIL_WOKEN, Cores, LeanEnv, Story
from sim.hardware.network import Link
from sim.protocol.raft import Append, AppendResponse
from sim.transport.filters import MessageFilters
from sim.transport.messages import DiskUsage, DiskUsageReport, RaftMessage
from sim.units import NS_PER_S

MESSAGE_BYTES: Final = 64
"""A RaftMessage without entries: region, peers, epoch, term, indexes (kvproto field sizes)."""

RESPONSE_BYTES: Final = 60
"""The answer to an append, likewise."""

KEEPALIVE_NS: Final = 13 * NS_PER_S
"""How long after a link is cut its two ends notice, clients and stores alike: gRPC sends a ping
10 s after the last data and waits 3 s."""

Receive = Callable[[Sequence[RaftMessage]], None]


class Outbox:
    """What one poller round sends, by destination store, in the order of first use."""

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

    def __init__(self, store: int) -> None:
        self.store = store
        self.messages: list[RaftMessage] = []
        self.size_bytes = 0


class Connection:
    """One TCP stream from a store to another: what is sent arrives in its order.

    A cut link swallows what is sent from then on; what is under way still arrives.
    """

    def __init__(self, env: LeanEnv, link: Link, receive: Receive, cores: Cores) -> None:
        """Args: ``cores`` are the receiver's, who is woken."""
        self._env = env
        self._cores = cores
        self._receive = receive
        self._under_way: deque[tuple[int, Sequence[RaftMessage]]] = deque()
        self._idle = False
        self._last_ns = 0
        """When what was sent last is received."""
        self.link = link
        self._process = env.process(self._carry())

    def send(self, messages: Sequence[RaftMessage], size_bytes: int) -> None:
        """Sends ``messages`` in one piece."""
        if self.link.cut:
            return
        arrival_ns = self.link.send_ordered(self._env.now_ns, size_bytes)
        if arrival_ns > self._last_ns:  # Else whoever is being woken takes this as well.
            self._last_ns = arrival_ns + self._cores.wake()
        self._under_way.append((self._last_ns, messages))
        if self._idle:
            self._process.wake()

    def send_late(self, message: RaftMessage, delay_ns: int) -> None:
        """Sends a message that a filter delays: it may be overtaken."""
        if not self.link.cut:
            arrival_ns = self.link.send(self._env.now_ns, MESSAGE_BYTES) + delay_ns
            self._env.at(arrival_ns, self._receive, [message])

    def _carry(self) -> Story:
        under_way = self._under_way
        while True:
            if not under_way:
                self._idle = True
                yield UNTIL_WOKEN
                self._idle = False
            arrival_ns, messages = under_way.popleft()
            yield arrival_ns - self._env.now_ns
            self._receive(messages)


class Transport:
    """The connections of one store to the others."""

    def __init__(
        self,
        env: LeanEnv,
        store_id: int,
        links: Mapping[int, Link],
        filters: MessageFilters,
    ) -> None:
        self._env = env
        self._store_id = store_id
        self._links = links
        self._filters = filters
        self._connections: dict[int, Connection] = {}
        self.mute = False
        """Whether the process that sends has died."""
        self.disk_usage: DiskUsage | None = None
        """How full the sender's disk is; None: it has never been full, which needs no report."""

    def connect(self, store: int, receive: Receive, cores: Cores) -> None:
        """Opens the connection to ``store``, whose messages go to ``receive``."""
        self._connections[store] = Connection(self._env, self._links[store], receive, cores)

    def send(self, store: int, messages: Sequence[RaftMessage], size_bytes: int) -> None:
        """Sends ``messages`` to ``store`` in one piece."""
        if self.mute:
            return
        connection = self._connections[store]
        if self._filters.rules:
            messages = self._filtered(connection, store, messages)
        if messages:
            if self.disk_usage is not None:
                region_ids = tuple({message.region_id: None for message in messages})
                report = DiskUsageReport(self._store_id, self.disk_usage, region_ids)
                messages = [report, *messages]
            connection.send(messages, size_bytes)

    def send_message(self, store: int, message: RaftMessage, more_bytes: int = 0) -> None:
        """Sends one message by itself, with ``more_bytes`` of data."""
        self.send(store, [message], MESSAGE_BYTES + more_bytes)

    def _filtered(
        self, connection: Connection, store: int, messages: Sequence[RaftMessage]
    ) -> list[RaftMessage]:
        """Returns what is neither lost nor delayed by a filter."""
        passing = []
        for message in messages:
            rule = self._filters.find(self._store_id, store, message)
            if rule is None:
                passing.append(message)
            elif rule.delay_ns:
                connection.send_late(message, rule.delay_ns)
        return passing
