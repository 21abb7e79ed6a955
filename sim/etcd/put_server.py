"""A member's connections to clients: puts are read, handed to the raft loop, and answered.

Source: etcd-io/etcd release-3.4 etcdserver/v3_server.go (processInternalRaftRequestOnce).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sim.etcd.allocations import of_requests
from sim.etcd.costs import Priced
from sim.etcd.goroutine import Body, Goroutine, Goroutines, gather
from sim.etcd.put import Put


class PutServer:
    """The connections of one member's process, with a reader and a writer each.

    Args:
        program: whose goroutines read and write.
        costs: what that takes of the CPU.
        propose: takes each put that has been read.
        answer: sends an answer, over the network.
    """

    def __init__(
        self,
        program: Goroutines,
        costs: Priced,
        propose: Callable[[Put], None],
        answer: Callable[[Put], None],
    ) -> None:
        self._program = program
        self._costs = costs
        self._propose = propose
        self._answer = answer
        self._readers: dict[int, Goroutine] = {}
        self._writers: dict[int, Goroutine] = {}

    @property
    def turns(self) -> int:
        """How often a connection was read from or written to."""
        return sum(each.turns for each in (*self._readers.values(), *self._writers.values()))

    def arrived(self, put: Put) -> None:
        """Takes a put, to be read."""
        self._of(put, self._readers, partial(gather, self._read_cost_ns, self._read)).deliver(put)

    def answer(self, put: Put, error: str = "") -> None:
        """Answers a put, if it came to this process."""
        if put.serves is self:
            put.error = error
            writer = self._of(put, self._writers, partial(gather, self._cost_ns, self._write))
            writer.deliver(put)

    def _of(
        self, put: Put, goroutines: dict[int, Goroutine], body: Callable[[], Body]
    ) -> Goroutine:
        """Returns the goroutine of a put's connection; it begins with the connection."""
        found = goroutines.get(put.connection)
        if found is None:
            found = goroutines[put.connection] = self._program.go(body())
        return found

    def _read_cost_ns(self, puts: list[Put]) -> int:
        size_bytes = sum(put.sizes.request_bytes for put in puts)
        return self._costs.requests_ns(len(puts), size_bytes)

    def _read(self, puts: list[Put]) -> None:
        for put in puts:
            put.serves = self
            self._program.process.allocate(of_requests(1, put.sizes.request_bytes))
            self._propose(put)

    def _cost_ns(self, puts: list[Put]) -> int:
        return self._costs.requests_ns(len(puts), 0)

    def _write(self, puts: list[Put]) -> None:
        for put in puts:
            self._answer(put)
