"""Raft streams: to and from every other member one connection, with a writer and a reader each.

Invariant: a writer sends all that has come while it was busy in one piece, a reader takes all that
has arrived; messages of a connection stay in order.

Source: etcd-io/etcd release-3.4 etcdserver/api/rafthttp/stream.go (streamWriter.run: flushes when
nothing more waits; streamReader.decodeLoop).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from sim.etcd.costs import Priced
from sim.etcd.goroutine import Goroutines, gather
from sim.etcd.put import Put
from sim.protocol.raft import Append, AppendResponse, RaftMessage

_MESSAGE_BYTES: Final = 64
"""A raft message without entries: ids, term, indexes, type (raftpb.Message)."""

_RESPONSE_BYTES: Final = 60
"""The answer to an append, likewise."""


@dataclass(slots=True, eq=False)
class ForwardedPut:
    """A follower's message to its leader: propose this (MsgProp)."""

    put: Put


Message = RaftMessage | ForwardedPut
Piece = tuple[list[Message], int]
"""Messages that are sent together, and their bytes."""


def size_of(message: Message) -> int:
    """Returns the bytes of a message."""
    match message:
        case Append():
            return _MESSAGE_BYTES + sum(entry.size_bytes for entry in message.entries)
        case AppendResponse():
            return _RESPONSE_BYTES
        case ForwardedPut():
            return _MESSAGE_BYTES + message.put.sizes.request_bytes
        case _:
            return _MESSAGE_BYTES


class RaftStreams:
    """The connections of one member's process to and from all others.

    Args:
        program: whose goroutines write and read.
        costs: what that takes of the CPU.
        others: the other members.
        send: sends messages of so many bytes to a member, over the network.
        deliver: takes each message that has been read.
    """

    def __init__(
        self,
        program: Goroutines,
        costs: Priced,
        others: Sequence[int],
        *,
        send: Callable[[int, list[Message], int], None],
        deliver: Callable[[Message], None],
    ) -> None:
        self._costs = costs
        self._send = send
        self._deliver = deliver
        self._writers = {
            to: program.go(gather(self._write_cost_ns, partial(self._write, to))) for to in others
        }
        self._readers = {
            sender: program.go(gather(self._read_cost_ns, self._read)) for sender in others
        }

    @property
    def turns(self) -> int:
        """How often a connection was written to or read from."""
        return sum(each.turns for each in (*self._writers.values(), *self._readers.values()))

    def send(self, messages: list[tuple[int, Message]]) -> None:
        """Gives (member, message) pairs to the writers, in one piece for each member."""
        pieces: dict[int, list[Message]] = {}
        for to, message in messages:
            pieces.setdefault(to, []).append(message)
        for to, piece in pieces.items():
            self._writers[to].deliver((piece, sum(map(size_of, piece))))

    def arrived(self, sender: int, messages: list[Message]) -> None:
        """Takes what another member has sent, to be read."""
        self._readers[sender].deliver(messages)

    def _write_cost_ns(self, pieces: list[Piece]) -> int:
        return self._costs.burst_ns(sum(size_bytes for _, size_bytes in pieces))

    def _write(self, to: int, pieces: list[Piece]) -> None:
        together = [message for piece, _ in pieces for message in piece]
        self._send(to, together, sum(size_bytes for _, size_bytes in pieces))

    def _read_cost_ns(self, arrived: list[list[Message]]) -> int:
        appends = [each for messages in arrived for each in messages if isinstance(each, Append)]
        return self._costs.burst_ns(sum(entry.size_bytes for a in appends for entry in a.entries))

    def _read(self, arrived: list[list[Message]]) -> None:
        for messages in arrived:
            for message in messages:
                self._deliver(message)
