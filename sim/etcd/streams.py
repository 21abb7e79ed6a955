"""Raft streams: to and from every other member one connection, with a writer and a reader each.

Law: a writer sends all that has come while it was busy in one piece, a reader takes all that has
arrived; order is kept on each connection.

Source: etcd-io/etcd release-3.4 etcdserver/api/rafthttp/stream.go (streamWriter.run: flushes when
nothing more waits; streamReader.decodeLoop).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sim.etcd.gatherer import Gatherer
from sim.transport.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sim.etcd.costs import Priced
    from sim.etcd.go_process import GoProcess
    from sim.etcd.shared_cores import Process
    from sim.storage.request import KvRequest
    from sim.transport.transport import RaftMessage


class ForwardedPut(NamedTuple):
    """A follower's message to its leader: propose this (MsgProp)."""

    region_id: int
    store: int
    request: KvRequest


class MemberTransport(Transport):
    """The writers of one member."""

    __slots__ = ("_costs", "_process", "_relays", "_writers")

    def runs_in(self, process: GoProcess, costs: Priced) -> None:
        """Says whose threads the writers use."""
        self._process = process
        self._costs = costs
        self._writers: dict[int, Gatherer] = {}
        self._relays: dict[int, Process] = {}

    @property
    def turns(self) -> int:
        """How often something was written to a connection."""
        return sum(writer.turns for writer in self._writers.values())

    def goes_through(self, relay: Process, stores: Sequence[int]) -> None:
        """Lets messages to some stores pass a process that forwards them."""
        self._relays = dict.fromkeys(stores, relay)

    def send(self, store: int, messages: Sequence[RaftMessage], size_bytes: int) -> None:
        """Gives messages to the writer of the connection to ``store``."""
        writer = self._writers.get(store)
        if writer is None:

            def write(items: list[Any]) -> None:
                together = [message for each, _ in items for message in each]
                size = sum(size for _, size in items)
                relay = self._relays.get(store)
                if relay is None:
                    Transport.send(self, store, together, size)
                else:
                    relay.submit(
                        self._costs.means.relay_ns,
                        lambda _: Transport.send(self, store, together, size),
                        None,
                    )

            writer = self._writers[store] = Gatherer(self._process, self._cost_ns, write)
        writer.add([(messages, size_bytes)])

    def _cost_ns(self, items: list[Any]) -> int:
        return self._costs.burst_ns(sum(size for _, size in items))


class Readers:
    """The readers of one member."""

    __slots__ = ("_costs", "_deliver", "_process", "_readers")

    def __init__(
        self, process: GoProcess, costs: Priced, deliver: Callable[[list[Any]], object]
    ) -> None:
        self._process = process
        self._costs = costs
        self._deliver = deliver
        self._readers: dict[int, Gatherer] = {}

    @property
    def turns(self) -> int:
        """How often something was read from a connection."""
        return sum(reader.turns for reader in self._readers.values())

    def take(self, messages: Sequence[Any]) -> None:
        """Takes what one member has sent in one piece."""
        sender: int = messages[0].store
        reader = self._readers.get(sender)
        if reader is None:
            reader = Gatherer(self._process, self._cost_ns, self._deliver)
            self._readers[sender] = reader
        reader.add(list(messages))

    def _cost_ns(self, messages: list[Any]) -> int:
        size = 0
        for message in messages:
            for entry in getattr(message, "entries", ()):
                size += entry.size_bytes
        return self._costs.burst_ns(size)

    def forget(self) -> None:
        """Drops what has been read and not handled: the process has died."""
        for reader in self._readers.values():
            reader.forget()
