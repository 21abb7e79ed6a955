"""Clients of an etcd cluster: each puts a key, waits for the answer, and puts the next.

All are goroutines of one process and share its connections, all to the member that led at the
start. When that is lost they go on with the next member that is there; what was under way then has
failed, and so has a put that is not answered in time: writes are not repeated.

Source: etcd-io/etcd release-3.4 clientv3/balancer (round robin over endpoints), clientv3/retry.go
(writes are not retried).
"""

from typing import Final

from sim.client.client_stats import Population
from sim.distributions import LognormalMean, Sampler
from sim.engine.environment import LeanEnv
from sim.etcd.allocations import CONNECTION_LIVE_BYTES, of_client
from sim.etcd.cluster import CLIENT, EtcdCluster, member_name
from sim.etcd.costs import Priced
from sim.etcd.go_heap import Heap
from sim.etcd.goroutine import RECEIVE, Body, Goroutines, Sleep, gather
from sim.etcd.put import CLASS, Put, PutWorkload
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.streams import Streams
from sim.units import NS_PER_MS

RAMP_NS: Final = 50 * NS_PER_MS
"""Clients start spread over this time. ASSUMED."""

_LOOK_EVERY_NS: Final = 100 * NS_PER_MS
"""How often they look for puts that ran into their timeout. ASSUMED."""

UNAVAILABLE: Final = "unavailable"
TIMEOUT: Final = "timeout"


class PutStats:
    """What the clients count."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._latency = recorder.series("txn_latency", CLASS)
        self.started = recorder.counter("txns_started")
        self.done = recorder.counter("txns", CLASS)
        self.failed = 0
        self.population = Population()
        self.stays_ns = 0
        """Latencies of all puts that have ended, however they did."""

    def total_ended(self) -> int:
        """Returns how many puts have ended so far, however they did."""
        return self.done.value + self.failed

    def ended(self, error: str, stay_ns: int) -> None:
        """Counts a put that has failed for a reason, or is done."""
        self.stays_ns += stay_ns
        if error:
            self.failed += 1
            self._recorder.counter("txn_aborts", error).value += 1
        else:
            self.done.value += 1
            self._latency.add(stay_ns)


class PutClients:
    """The clients, all in one process on one node."""

    def __init__(
        self, env: LeanEnv, scenario: Scenario, cluster: EtcdCluster, streams: Streams,
        stats: PutStats,
    ) -> None:  # fmt: skip
        load = scenario.workload
        assert load.threads is not None, (
            "etcd's clients run in a closed loop; the schema sees to it"
        )
        self._env = env
        self._cluster = cluster
        self._workload = PutWorkload(load, streams)
        self._stats = stats
        self._timeout_ns = load.timeout_ns
        machine = cluster.machines.of("client-0", scenario.hardware.tidb_cores)
        connections = min(load.connections, load.threads)
        self.process = machine.process(Heap(connections * CONNECTION_LIVE_BYTES))
        unit = LognormalMean(1_000_000, scenario.hardware.etcd.cv)
        draw = Sampler(unit, streams.stream(f"{CLIENT}/cpu"))
        self._costs = Priced(scenario.hardware.etcd, draw)
        self.member = min(cluster.members)
        """The member that all are connected to."""
        self._in_flight: dict[Put, None] = {}
        """Puts whose answers are awaited, in the order of their sending."""
        self.acknowledged: dict[bytes, int] = {}
        """By key: the latest version whose put has been acknowledged."""
        program = Goroutines(env, self.process)
        every = range(load.connections)
        self._writers = [program.go(gather(self._write_cost_ns, self._write)) for _ in every]
        self._readers = [program.go(gather(self._read_cost_ns, self._read)) for _ in every]
        program.go(self._give_up_late_puts())
        self._clients = []
        for client in range(load.threads):
            start_ns = streams.stream(f"client-{client}/start").randint(0, RAMP_NS)
            pauses = load.think_time
            think = Sampler(pauses, streams.stream(f"client-{client}/think")) if pauses else None
            self._clients.append(program.go(self._closed_loop(client, start_ns, think)))
        cluster.client = self

    @property
    def turns(self) -> int:
        """How often a connection was read from or written to."""
        return sum(each.turns for each in (*self._readers, *self._writers))

    def answered(self, put: Put) -> None:
        """Takes an answer that has arrived; its connection's reader reads it."""
        self._readers[put.connection].deliver(put)

    def member_crashed(self, member: int) -> None:
        """The connections to a member are reset: what was under way has failed."""
        if member == self.member:
            link = self._cluster.network.link(CLIENT, member_name(member))
            self._env.at(link.send(self._env.now_ns, 0), self._reconnect, member)

    def member_started(self, member: int) -> None:
        """A member takes connections again; nobody waits for it unless all were gone."""
        if not self._cluster.members[self.member].up:
            self.member = member

    def _closed_loop(self, client: int, start_ns: int, think: Sampler | None) -> Body:
        """One client, for ever."""
        env, stats = self._env, self._stats
        yield Sleep(start_ns)
        while True:
            began_ns = env.now_ns
            stats.started.value += 1
            ticket = stats.population.enter(began_ns, CLASS)
            put = self._workload.put(client)
            self.process.allocate(of_client(put.raft_bytes))
            self._send(put)
            (error,) = yield RECEIVE
            stats.population.leave(env.now_ns, ticket)
            stats.ended(error, env.now_ns - began_ns)
            if not error:
                self.acknowledged[put.key] = max(put.version, self.acknowledged.get(put.key, 0))
            if think is not None:
                yield Sleep(think.draw())

    def _send(self, put: Put) -> None:
        put.connection = put.client % len(self._writers)
        put.sent_ns = self._env.now_ns
        self._in_flight[put] = None
        self._writers[put.connection].deliver(put)

    def _write_cost_ns(self, puts: list[Put]) -> int:
        size_bytes = sum(put.sizes.request_bytes for put in puts)
        return self._costs.burst_ns(size_bytes, len(puts), self._costs.means.client_ns)

    def _write(self, puts: list[Put]) -> None:
        env, member = self._env, self._cluster.members[self.member]
        link = self._cluster.network.link(CLIENT, member_name(self.member))
        for put in puts:
            put.member = self.member
            if not member.up:
                env.at(env.now_ns + _LOOK_EVERY_NS, self._refused, put)
            elif not link.cut:
                arrival_ns = link.send_ordered(env.now_ns, put.sizes.request_bytes)
                env.at(arrival_ns, member.put_arrived, put)

    def _read_cost_ns(self, puts: list[Put]) -> int:
        return self._costs.burst_ns(0, len(puts), self._costs.means.client_ns)

    def _read(self, puts: list[Put]) -> None:
        for put in puts:
            self._end(put, put.error)

    def _refused(self, put: Put) -> None:
        self._end(put, UNAVAILABLE)

    def _end(self, put: Put, error: str) -> None:
        """Tells a put's client how it went, unless it has given the put up."""
        if put in self._in_flight:
            del self._in_flight[put]
            self._clients[put.client].deliver(error)

    def _reconnect(self, lost: int) -> None:
        members = sorted(self._cluster.members)
        place = members.index(lost)
        for member in members[place + 1 :] + members[:place]:
            if self._cluster.members[member].up:
                self.member = member
                break
        for put in [each for each in self._in_flight if each.member == lost]:
            self._end(put, UNAVAILABLE)

    def _give_up_late_puts(self) -> Body:
        while True:
            yield Sleep(_LOOK_EVERY_NS)
            too_old_ns = self._env.now_ns - self._timeout_ns
            for put in list(self._in_flight):
                if put.sent_ns > too_old_ns:
                    break
                self._end(put, TIMEOUT)
