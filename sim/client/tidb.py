"""One TiDB node: CPU for statements, ways to the stores and to PD.

A statement costs a round trip to the client, CPU on the clients' machine and CPU on the node, by
what it does and how many rows it touches; each request to a store costs CPU besides. Statements and
requests wait for a hardware thread (``sim.hardware.go_cpu``), and are slowed down by those on
the other threads of the cores, as on a store (``sim.engine.thread_pool``).

Source: tikv/client-go tikv/kv.go (KVStore), internal/client/client.go (RPCClient).
"""

from collections.abc import Generator
from itertools import cycle
from typing import Any, Final

from sim.client.backoff import BUDGETS_NS, Backoffer
from sim.client.client_stats import ClientStats
from sim.client.connections import NOT_IN_FLIGHT, Connections
from sim.client.region_cache import RegionCache
from sim.distributions import LognormalMean, Sampler
from sim.engine import LeanEnv, Wait
from sim.hardware.go_cpu import GoCpu
from sim.protocol.region import Route
from sim.scenario.resolved import Scenario
from sim.server.cluster import Cluster, hardware_threads
from sim.storage.message_sizes import REQUEST_BYTES
from sim.storage.probe import Probe
from sim.storage.request import Kind, KvRequest
from sim.streams import Streams
from sim.transport.grpc import CONNECTIONS, connections_of
from sim.transport.nodes import CLIENT_NAME, PD_NAME, store_name, tidb_name
from sim.units import NS_PER_MS

PD_RETRY_NS: Final = 500 * NS_PER_MS
"""How long a node that is cut off from PD waits before it asks again (``pdRPC``'s base)."""

_STATEMENT_BYTES = 256
"""A statement from its client. ASSUMED."""

TSO_BYTES: Final = 48
_ROUTE_BYTES = 128
"""A question to PD or its answer: a timestamp, a region. ASSUMED; only their latency matters."""

CLIENT_WAKES: Final = 3
"""The proxy when a statement comes and when its answer comes, and the client. Source: TiDB docs,
performance tests: sysbench and go-tpc beside HAProxy on one machine."""


class TidbNode:
    """One TiDB process on its own machine."""

    def __init__(
        self,
        env: LeanEnv,
        number: int,
        scenario: Scenario,
        cluster: Cluster,
        streams: Streams,
        stats: ClientStats,
    ) -> None:
        self.env = env
        self.number = number
        self.settings = scenario.cluster.tidb
        self.stats = stats
        self.tso = cluster.tso
        self.probe: Probe = cluster.probe
        self._cluster = cluster
        here, network = tidb_name(number), cluster.network
        hardware, cpu = scenario.hardware, scenario.hardware.tidb_cpu
        draws = streams.stream(f"{here}/cpu")
        self._cpu = GoCpu(
            hardware_threads(hardware, hardware.goroutine_threads),
            Sampler(LognormalMean(1_000_000, cpu.cv), draws),
            draws,
        )
        self._costs = cpu
        self._request_ns = cpu.tidb_request_ns
        self._message_ns = cpu.grpc_message_ns
        self._client = cluster.client_machine
        self._client_ns = hardware.cpu.client_statement_ns
        self._grpc_ns = hardware.store_cpu.grpc_request_ns >> 1
        self._grpc_message_ns = hardware.store_cpu.grpc_message_ns
        self._next_connection = cycle(connections_of(number))
        self._leaves_ns = {store: [0] * CONNECTIONS for store in cluster.stores}
        """When the last message of each connection to a store leaves."""
        self._to_stores = {store: network.link(here, store_name(store)) for store in cluster.stores}
        self._to_pd = network.link(here, PD_NAME)
        self._from_pd = network.link(PD_NAME, here)
        self._from_client = network.link(f"{CLIENT_NAME}-{number}", here)
        self._region_backoffs = streams.stream(f"{here}/region-backoff")
        self.lock_backoffs = streams.stream(f"{here}/backoff")
        self.regions = RegionCache(cluster.bootstrap)
        self.connections = Connections(env, self._to_stores, self.send)
        cluster.listeners[number] = self.connections

    def busy_until(self, now_ns: int) -> int:
        """Returns for how long hardware threads have been busy until now, summed over them."""
        return self._cpu.busy_until(now_ns)

    def statement(self, rows: float = 0, *, writes: bool = False) -> int:
        """Returns how long a statement takes from its client until it is planned, in ns.

        The answer to the statement before travels on the same round trip. The times at the
        client's machine, on the way and here are drawn at once and added up: one follows the
        other, so their order changes no total.
        """
        now_ns = self.env.now_ns
        arrival = self._from_client.round_trip(now_ns, _STATEMENT_BYTES)
        there_ns = self._client.work_ns(now_ns, self._client_ns, CLIENT_WAKES)
        return arrival - now_ns + there_ns + self._plan(rows, writes)

    def replan(self, rows: float = 0, *, writes: bool = False) -> int:
        """Returns how long planning a statement once more takes, after a conflict, in ns."""
        return self._plan(rows, writes)

    def _plan(self, rows: float, writes: bool) -> int:  # noqa: FBT001 - of a statement
        costs = self._costs
        mean_ns = costs.tidb_statement_ns + costs.tidb_row_ns * rows
        if writes:
            mean_ns += costs.tidb_write_ns
        return self._cpu.work_ns(self.env.now_ns, mean_ns)

    def timestamp(self, *, begin: bool = False) -> Generator[Wait, Any, int]:
        """Fetches a timestamp from PD, and again until PD is reached.

        With ``begin`` it is a ``start_ts`` and counts as running until ``TimestampOracle.end``.
        """
        env = self.env
        while self._to_pd.cut:
            yield PD_RETRY_NS
        yield self._to_pd.send(env.now_ns, TSO_BYTES) - env.now_ns
        timestamp = self.tso.begin(env.now_ns) if begin else self.tso.next(env.now_ns)
        yield self._from_pd.send(env.now_ns, TSO_BYTES) - env.now_ns + self._costs.thread_hop_ns
        return timestamp

    def get_region(self, key: bytes) -> Generator[Wait, Any, Route]:
        """Asks PD which region holds a key, until PD is reached; returns what PD says."""
        env = self.env
        while self._to_pd.cut:
            yield PD_RETRY_NS
        yield self._to_pd.send(env.now_ns, _ROUTE_BYTES) - env.now_ns
        route = self._cluster.pd.routes.locate(key)
        yield self._from_pd.send(env.now_ns, _ROUTE_BYTES) - env.now_ns
        return route

    def new_request(self, kind: Kind, route: Route, start_ts: int) -> KvRequest:
        """Returns a request of this node, not yet sent."""
        return KvRequest(kind, route, NOT_IN_FLIGHT, self.number, start_ts)

    def backoffer(self, kind: Kind) -> Backoffer:
        """Returns the backoffs of requests of one kind, none of them used."""
        return Backoffer(BUDGETS_NS[kind], self._region_backoffs)

    def send(self, request: KvRequest) -> None:
        """Sends a request to its store."""
        env, cpu = self.env, self._cpu
        request.sent_ns = now_ns = env.now_ns
        if self.connections.broken and self.connections.intercepts(request):
            return
        size = REQUEST_BYTES + request.request_bytes
        store = self._cluster.stores[request.store]
        request.connection = connection = next(self._next_connection)
        leaves_ns, slot = self._leaves_ns[request.store], connection % CONNECTIONS
        handled_ns = self._grpc_ns
        ready_ns = now_ns + cpu.work_ns(now_ns, self._request_ns)
        request.opens_message = ready_ns >= leaves_ns[slot]
        if request.opens_message:
            message_ns = cpu.work_ns(now_ns, 2 * self._message_ns)
            leaves_ns[slot] = ready_ns + message_ns
            handled_ns += self._grpc_message_ns
        arrival = self._to_stores[request.store].send(now_ns, size)
        arrival += leaves_ns[slot] - now_ns
        arrival += store.grpc.handle(connection, now_ns, handled_ns)
        env.at(arrival, store.scheduler.receive, request)
