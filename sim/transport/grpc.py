"""TiKV's gRPC threads: each serves some of the connections, one request after the other.

Source: tikv/tikv src/server/server.rs (server.grpc-concurrency completion queues); a connection
stays with the queue that accepted it. tikv/client-go config/client.go (grpc-connection-count).
"""

from math import floor
from typing import Final

from sim.engine import Cores
from sim.engine.stations import booked_beyond

CONNECTIONS: Final = 4
"""``tikv-client.grpc-connection-count``: connections from a TiDB node to each store."""


def connections_of(tidb: int) -> list[int]:
    """Returns the numbers of a TiDB node's connections to a store, which requests take in turn."""
    return [CONNECTIONS * tidb + count for count in range(CONNECTIONS)]


class GrpcThreads:
    """The gRPC threads of one store."""

    def __init__(self, cores: Cores, threads: int) -> None:
        self._cores = cores
        self._free = [0] * threads
        self.threads = threads
        self._busy_ns = 0
        """Time that threads are busy with what has come, summed over them."""

    def busy_until(self, now_ns: int) -> int:
        """Returns for how long threads have been busy until now, summed over them."""
        return self._busy_ns - booked_beyond(self._free, now_ns)

    def handle(self, connection: int, now_ns: int, service_ns: int) -> int:
        """Returns how long a message takes here, its wait for its thread included, in ns."""
        cores, free = self._cores, self._free
        thread = connection % self.threads
        start_ns = free[thread]
        if now_ns > start_ns:
            start_ns = now_ns
        held_ns = floor(service_ns * cores.slowness())
        cores.background_ns += held_ns
        self._busy_ns += held_ns
        free[thread] = done_ns = start_ns + held_ns
        return done_ns - now_ns + cores.wait()
