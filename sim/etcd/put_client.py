"""Clients of an etcd cluster: each puts a key, waits for the answer, and puts the next.

Law: the clients of a node share at most so many connections; one process does their work. All are
connected to the member that led at the start. Who loses its connection goes on with the next
member that is there; what was under way then has failed, and a put that is not answered in time has
failed, too: writes are not repeated.

Source: etcd-io/etcd release-3.4 clientv3/balancer (round robin over endpoints), clientv3/retry.go
(writes are not retried).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simpy import Event

from sim.distributions import LognormalMean, Sampler
from sim.etcd.allocations import CONNECTION_LIVE_BYTES, of_client
from sim.etcd.costs import Priced
from sim.etcd.gatherer import Gatherer
from sim.etcd.go_heap import Heap
from sim.protocol.region_errors import RegionError
from sim.storage.request import Kind, KvRequest
from sim.transport.nodes import CLIENT_NAME, store_name, tidb_name
from sim.units import NS_PER_MS
from sim.workload.etcd import CLASS

if TYPE_CHECKING:
    from collections.abc import Generator

    from sim.client.client_stats import ClientStats
    from sim.engine import LeanEnv
    from sim.scenario.resolved import Scenario
    from sim.server.cluster import Cluster
    from sim.streams import Streams
    from sim.workload.etcd import EtcdWorkload

RAMP_NS: Final = 50 * NS_PER_MS
"""Clients start spread over this time. ASSUMED."""

_LOOK_EVERY_NS: Final = 100 * NS_PER_MS
"""How often they look for puts that ran into their timeout. ASSUMED."""

_REQUEST_BYTES: Final = 40
"""A PutRequest with its HTTP/2 and gRPC frames, without key and value."""


class PutClient:
    """The clients, all on one node."""

    __slots__ = (
        "_cluster", "_costs", "_env", "_in_flight", "_links", "_node", "_put_bytes", "_readers",
        "_stats", "_timeout_ns", "_workload", "_writers", "acknowledged", "member", "process",
    )  # fmt: skip

    def __init__(
        self,
        env: LeanEnv,
        scenario: Scenario,
        cluster: Cluster,
        workload: EtcdWorkload,
        stats: ClientStats,
        streams: Streams,
    ) -> None:
        node = 0
        load = scenario.workload
        self._env = env
        self._cluster = cluster
        self._workload = workload
        self._stats = stats
        self._node = node
        machine = cluster.machines.of_client(f"{CLIENT_NAME}-{node}")
        connections = min(load.connections, load.threads or load.connections)
        self.process = machine.process(Heap(connections * CONNECTION_LIVE_BYTES))
        unit = LognormalMean(1_000_000, scenario.hardware.cpu.cv)
        draw = Sampler(unit, streams.stream(f"{tidb_name(node)}/cpu"))
        self._costs = Priced(scenario.hardware.etcd, draw)
        self._timeout_ns = load.timeout_ns
        self._put_bytes = _REQUEST_BYTES + load.key_bytes + load.value_bytes
        self.member = cluster.bootstrap.routes[0].leader_store
        """The member that all are connected to."""
        self._links = {
            store: cluster.network.link(tidb_name(node), store_name(store))
            for store in cluster.stores
        }
        self._writers = [
            Gatherer(self.process, self._write_ns, self._write) for _ in range(load.connections)
        ]
        self._readers = [
            Gatherer(self.process, self._read_ns, self._read) for _ in range(load.connections)
        ]
        self._in_flight: dict[KvRequest, Event] = {}
        """Whose answers are awaited, in the order of their sending."""
        self.acknowledged: dict[bytes, int] = {}
        """By key: the latest version whose put has been acknowledged."""
        cluster.listeners[node] = self
        env.process(self._lose_patience())

    def closed_loop(
        self, client_id: int, start_ns: int, think: Sampler | None = None
    ) -> Generator[Event, Any, None]:
        """One client, for ever."""
        env, stats, tso = self._env, self._stats, self._cluster.tso
        yield env.timeout(start_ns)
        while True:
            began_ns = env.now_ns
            stats.started.value += 1
            ticket = stats.population.enter(began_ns)
            number = tso.begin(began_ns)
            request = self._make(client_id, number)
            key = request.keys[0]
            answer = yield self._send(request)
            tso.end(number)
            stay_ns = env.now_ns - began_ns
            stats.population.leave(env.now_ns, ticket)
            if answer is None:
                stats.committed(CLASS, stay_ns)
                self.acknowledged[key] = max(number, self.acknowledged.get(key, 0))
            else:
                stats.aborted(answer, stay_ns)
            if think is not None:
                yield env.timeout(think.draw())

    @property
    def turns(self) -> int:
        """How often a connection was read from or written to."""
        return sum(each.turns for each in (*self._readers, *self._writers))

    def replied(self, request: KvRequest) -> None:
        """Takes an answer that has arrived; its connection's reader reads it."""
        self._readers[request.cid].add([request])

    def store_crashed(self, store: int) -> None:
        """The connections to a member are reset: what was under way has failed."""
        if store == self.member:
            reset_ns = self._links[store].send(self._env.now_ns, 0)
            self._env.at(reset_ns, self._reconnect, store)

    def store_started(self, store: int) -> None:
        """A member takes connections again; nobody waits for it unless all were gone."""
        if not self._cluster.stores[self.member].up:
            self.member = store

    def link_cut(self, store: int) -> None:
        """Nothing gets through any more; patience will tell."""

    def link_healed(self, store: int) -> None:
        """Messages get through again."""

    def _reconnect(self, lost: int) -> None:
        members = sorted(self._cluster.stores)
        place = members.index(lost)
        for member in members[place + 1 :] + members[:place]:
            if self._cluster.stores[member].up:
                self.member = member
                break
        for request in [each for each in self._in_flight if each.store == lost]:
            self._fail(request, "unavailable")

    def _make(self, client_id: int, number: int) -> KvRequest:
        route = self._cluster.bootstrap.routes[0]
        request = KvRequest(Kind.COMMIT, route, self, self._node, number)
        request.cid = client_id % len(self._writers)
        request.request_bytes = self._put_bytes
        key, request.batch = self._workload.put(client_id, number)
        request.keys = (key,)
        self.process.allocate(of_client(request.batch.raft_bytes))
        return request

    def _send(self, request: KvRequest) -> Event:
        event = self._in_flight[request] = Event(self._env)
        request.sent_ns = self._env.now_ns
        self._writers[request.cid].add([request])
        return event

    def _write_ns(self, requests: list[KvRequest]) -> int:
        return self._costs.client_ns(len(requests), len(requests) * self._put_bytes)

    def _write(self, requests: list[KvRequest]) -> None:
        member = self._cluster.stores[self.member]
        link = self._links[self.member]
        for request in requests:
            request.store = self.member
            if not member.up:
                self._env.at(self._env.now_ns + _LOOK_EVERY_NS, self._refused, request)
            elif not link.cut:
                arrival_ns = link.send_ordered(self._env.now_ns, self._put_bytes)
                self._env.at(arrival_ns, member.scheduler.receive, request)

    def _read_ns(self, requests: list[KvRequest]) -> int:
        return self._costs.client_ns(len(requests), 0)

    def _read(self, requests: list[KvRequest]) -> None:
        for request in requests:
            event = self._in_flight.pop(request, None)
            if event is None:
                continue  # Its client has given it up.
            request.done_ns = self._env.now_ns
            result = request.result
            name = result.__class__.__name__ if isinstance(result, RegionError) else None
            self._env.fire(event, name)

    def _refused(self, request: KvRequest) -> None:
        self._fail(request, "unavailable")

    def _fail(self, request: KvRequest, reason: str) -> None:
        event = self._in_flight.pop(request, None)
        if event is not None:
            self._env.fire(event, reason)

    def _lose_patience(self) -> Generator[Event, Any, None]:
        while True:
            yield self._env.timeout(_LOOK_EVERY_NS)
            too_old_ns = self._env.now_ns - self._timeout_ns
            for request in list(self._in_flight):
                if request.sent_ns > too_old_ns:
                    break
                self._fail(request, "timeout")


def start_put_clients(
    env: LeanEnv,
    scenario: Scenario,
    cluster: Cluster,
    workload: EtcdWorkload,
    stats: ClientStats,
    streams: Streams,
) -> PutClient:
    """Starts a scenario's clients, all on one node."""
    node = PutClient(env, scenario, cluster, workload, stats, streams)
    threads = scenario.workload.threads
    assert threads is not None, "etcd's clients run in a closed loop; the schema sees to it"
    for client in range(threads):
        start_ns = streams.stream(f"client-{client}/start").randint(0, RAMP_NS)
        pauses = scenario.workload.think_time
        think = Sampler(pauses, streams.stream(f"client-{client}/think")) if pauses else None
        env.process(node.closed_loop(client, start_ns, think))
    return node
