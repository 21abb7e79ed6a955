"""One TiDB node: CPU for statements, ways to the stores and to PD.

Law: a statement costs a round trip to the client and CPU on the node; a request leaves when it is
sent. CPU that goes into building requests and commits is part of the statement's. Statements wait
for a hardware thread in one queue, and are slowed down by those on the other threads of the cores,
as on a store (``sim.engine.thread_pool``). A fixed delay is added that keeps no thread busy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpy import Event

from sim.client.connection import Connections
from sim.client.region_cache import RegionCache
from sim.distributions import LognormalMean, Sampler
from sim.engine import FifoServers, LeanEnv, smt_slowness
from sim.server.cluster import Cluster
from sim.transport.nodes import CLIENT_NAME, PD_NAME, store_name, tidb_name
from sim.units import NS_PER_MS

if TYPE_CHECKING:
    from sim.protocol.region import Route
    from sim.scenario.resolved import Scenario
    from sim.storage.request import KvRequest
    from sim.streams import Streams

PD_RETRY_NS: Final = 500 * NS_PER_MS
"""How long a node that is cut off from PD waits before it asks again (``pdRPC``'s base)."""

_STATEMENT_BYTES = 256
"""A statement from its client. ASSUMED."""

_TSO_BYTES = 48
_ROUTE_BYTES = 128
"""A question to PD or its answer: a timestamp, a region. ASSUMED; only their latency matters."""

_REQUEST_BYTES = 150
"""A KV request without its keys and values: context, timestamps, primary (kvproto field sizes)."""


class TimestampRequest:
    """One timestamp on its way from PD."""

    __slots__ = ("begin", "event", "timestamp")

    def __init__(self, event: Event, *, begin: bool) -> None:
        self.event = event
        self.begin = begin
        self.timestamp = 0


class _RouteRequest:
    """A question to PD: where is the region of this key?"""

    __slots__ = ("event", "key", "route")

    def __init__(self, event: Event, key: bytes) -> None:
        self.event = event
        self.key = key
        self.route: Route | None = None


class TidbNode:
    """One TiDB process on its own machine."""

    __slots__ = (
        "_cluster",
        "_cpu",
        "_delay_ns",
        "_draw",
        "_from_client",
        "_from_pd",
        "_statement_ns",
        "_to_pd",
        "_to_stores",
        "_units",
        "backoffs",
        "connections",
        "env",
        "node",
        "regions",
    )

    def __init__(
        self, env: LeanEnv, node: int, scenario: Scenario, cluster: Cluster, streams: Streams
    ) -> None:
        self.env = env
        self.node = node
        self._cluster = cluster
        here, network = tidb_name(node), cluster.network
        hardware, cpu = scenario.hardware, scenario.hardware.cpu
        threads = hardware.tidb_cores
        slowness = smt_slowness(threads, hardware.threads_per_core, cpu.smt_gain)
        self._cpu = FifoServers(threads, slowness)
        self._statement_ns = cpu.tidb_statement_ns
        self._delay_ns = cpu.statement_delay_ns
        self._draw = Sampler(LognormalMean(1_000_000, cpu.cv), streams.stream(f"{here}/cpu"))
        self._units: list[float] = []
        self._to_stores = {store: network.link(here, store_name(store)) for store in cluster.stores}
        self._to_pd = network.link(here, PD_NAME)
        self._from_pd = network.link(PD_NAME, here)
        self._from_client = network.link(f"{CLIENT_NAME}-{node}", here)
        self.backoffs = streams.stream(f"{here}/region-backoff")
        self.regions = RegionCache(cluster.bootstrap)
        self.connections = Connections(env, self._to_stores, self.send)
        cluster.listeners[node] = self.connections

    @property
    def busy_ns(self) -> int:
        """Time that hardware threads were busy so far, summed over them."""
        return self._cpu.busy_ns

    def statement(self) -> Event:
        """Returns the event of a statement having come from the client and been planned.

        The answer to the statement before travels on the same round trip.
        """
        arrival = self._from_client.round_trip(self.env.now_ns, _STATEMENT_BYTES)
        return self._compute(arrival + self._delay_ns)

    def replan(self) -> Event:
        """Returns the event of a statement having been planned once more, after a conflict."""
        return self._compute(self.env.now_ns)

    def timestamp(self, *, begin: bool = False) -> Event:
        """Returns the event of a timestamp having come from PD; its value is the timestamp.

        With ``begin`` it is a ``start_ts`` and counts as running until ``TimestampOracle.end``.
        """
        request = TimestampRequest(Event(self.env), begin=begin)
        self._ask_tso(request)
        return request.event

    def route_of(self, key: bytes) -> Event:
        """Returns the event of PD having said where a key is; its value is the route."""
        question = _RouteRequest(Event(self.env), key)
        self._ask_route(question)
        return question.event

    def send(self, request: KvRequest) -> None:
        """Sends a request to its store."""
        env = self.env
        request.sent_ns = env.now_ns
        if self.connections.broken and self.connections.takes(request):
            return
        size = _REQUEST_BYTES + request.request_bytes
        store = request.store
        arrival = self._to_stores[store].send(env.now_ns, size)
        env.at(arrival, self._cluster.stores[store].scheduler.receive, request)

    def _compute(self, from_ns: int) -> Event:
        event = Event(self.env)
        units = self._units
        if not units:
            units.extend(self._draw.unit_block())
        service = int(self._statement_ns * units.pop())
        self.env.at(self._cpu.reserve(from_ns, service), self.env.fire, event)
        return event

    def _ask_tso(self, request: TimestampRequest) -> None:
        now = self.env.now_ns
        if self._to_pd.cut:
            self.env.at(now + PD_RETRY_NS, self._ask_tso, request)
            return
        self.env.at(self._to_pd.send(now, _TSO_BYTES), self._at_pd, request)

    def _at_pd(self, request: TimestampRequest) -> None:
        now = self.env.now_ns
        tso = self._cluster.tso
        request.timestamp = tso.begin(now) if request.begin else tso.next(now)
        self.env.at(self._from_pd.send(now, _TSO_BYTES), self._from_tso, request)

    def _from_tso(self, request: TimestampRequest) -> None:
        self.env.fire(request.event, request.timestamp)

    def _ask_route(self, question: _RouteRequest) -> None:
        now = self.env.now_ns
        if self._to_pd.cut:
            self.env.at(now + PD_RETRY_NS, self._ask_route, question)
            return
        self.env.at(self._to_pd.send(now, _ROUTE_BYTES), self._route_at_pd, question)

    def _route_at_pd(self, question: _RouteRequest) -> None:
        question.route = self._cluster.pd.routes.locate(question.key)
        arrival = self._from_pd.send(self.env.now_ns, _ROUTE_BYTES)
        self.env.at(arrival, self._route_from_pd, question)

    def _route_from_pd(self, question: _RouteRequest) -> None:
        self.env.fire(question.event, question.route)
