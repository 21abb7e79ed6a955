"""A member's connections to clients: puts are read, handed to the raft loop, and answered.

Source: etcd-io/etcd release-3.4 etcdserver/v3_server.go (processInternalRaftRequestOnce).
"""

from collections.abc import Callable

from sim.etcd.allocations import of_requests
from sim.etcd.costs import Priced
from sim.etcd.goroutine import Goroutine, Goroutines, gather
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
        self._connections: dict[int, tuple[Goroutine, Goroutine]] = {}
        """Reader and writer of each; they begin with the connection."""

    @property
    def turns(self) -> int:
        """How often a connection was read from or written to."""
        return sum(each.turns for pair in self._connections.values() for each in pair)

    def arrived(self, put: Put) -> None:
        """Takes a put, to be read."""
        if put.connection not in self._connections:
            reader = self._program.go(gather(self._read_cost_ns, self._read))
            writer = self._program.go(gather(self._write_cost_ns, self._write))
            self._connections[put.connection] = reader, writer
        self._connections[put.connection][0].deliver(put)

    def answer(self, put: Put, error: str = "") -> None:
        """Answers a put, if it came to this process."""
        if put.serves is self:
            put.error = error
            self._connections[put.connection][1].deliver(put)

    def _read_cost_ns(self, puts: list[Put]) -> int:
        size_bytes = sum(put.sizes.request_bytes for put in puts)
        return self._costs.burst_ns(size_bytes, len(puts), self._costs.means.request_ns)

    def _read(self, puts: list[Put]) -> None:
        for put in puts:
            put.serves = self
            self._program.process.allocate(of_requests(1, put.sizes.request_bytes))
            self._propose(put)

    def _write_cost_ns(self, puts: list[Put]) -> int:
        return self._costs.burst_ns(0, len(puts), self._costs.means.request_ns)

    def _write(self, puts: list[Put]) -> None:
        for put in puts:
            self._answer(put)
