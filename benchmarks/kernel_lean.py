"""Model M as a study plays it: sessions are processes, what they ask for travels as calls.

Everything here is a part that every unit of a study runs on: ``LeanEnv``, ``Link`` and ``Port`` of
the network, ``ThreadPool`` as in the scheduler, ``FifoServers`` as in TiDB, samplers that draw in
blocks. The log joins writers in groups as ``sim.raftstore.log_engine`` does, and a session waits
for the last answer of a group of requests as ``sim.client.region_request`` does.

A moment that nobody can observe has no event: leaving a port, the apply of a lock that was answered
before, an answer for which nobody waits. The naive twin proves that nobody could observe them.
"""

from collections.abc import Generator
from itertools import permutations

from simpy import Event

from benchmarks import kernel_model as m
from sim.distributions import Constant, Sampler
from sim.engine import Cores, FifoServers, LeanEnv, ThreadPool, Wait
from sim.engine.environment import Call
from sim.hardware.network import Link, Port
from sim.units import NS_PER_S

LOCK, WRITE = range(2)


class Wire:
    """One direction between two nodes: a link of the network, and the sizes of its messages."""

    __slots__ = ("_draws", "_env", "_link", "_sizes")

    def __init__(self, env: LeanEnv, draws: m.Draws, name: str) -> None:
        self._env = env
        self._sizes = draws.times(name, m.TRANSMISSION_MEAN)
        self._draws: list[int] = []
        round_trip = Sampler(Constant(2 * m.PROPAGATION), draws.stream(f"{name}/round-trip"))
        # A tick a byte: a drawn transmission time is a size.
        self._link = Link(Port(), round_trip, NS_PER_S)

    def carry(self) -> int:
        """Sends a message and returns when it will have arrived."""
        draws = self._draws
        if not draws:
            draws.extend(self._sizes.block())
        return self._link.send(self._env.now_ns, draws.pop())

    def send(self, fn: Call, arg: object) -> None:
        """Sends a message and calls ``fn(arg)`` on its arrival."""
        env, draws = self._env, self._draws
        if not draws:
            draws.extend(self._sizes.block())
        env.at(self._link.send(env.now_ns, draws.pop()), fn, arg)


class RequestGroup:
    """Requests sent together; ``event`` fires when the last answer has come."""

    __slots__ = ("_env", "_last", "_pending", "event")

    def __init__(self, env: LeanEnv, requests: int) -> None:
        self._env = env
        self._pending = requests
        self._last = 0
        self.event = Event(env)

    def replied(self, arrival: int) -> None:
        """Takes an answer that is on its way and will be here at ``arrival``."""
        if arrival > self._last:
            self._last = arrival
        self._pending -= 1
        if not self._pending:
            self._env.at(self._last, self._env.fire, self.event)


class Request:
    """One request of a session to a region, and the log entry it makes."""

    __slots__ = ("caller", "copies", "kind", "leader", "sql")

    def __init__(self, kind: int, sql: int, leader: "Store", caller: RequestGroup | None) -> None:
        self.kind = kind
        self.sql = sql
        self.leader = leader
        self.caller = caller
        self.copies = 0
        """Logs in which the leader knows the entry to be durable."""


class Log:
    """A store's log: one sync at a time, for everything that waits."""

    __slots__ = ("_env", "_in_flight", "_times", "_waiting")

    def __init__(self, env: LeanEnv, times: Sampler) -> None:
        self._env = env
        self._times = times
        self._waiting: list[tuple[Call, Request]] = []
        self._in_flight: list[tuple[Call, Request]] = []

    def write(self, fn: Call, entry: Request) -> None:
        """Joins the next group and calls ``fn(entry)`` when it is durable."""
        self._waiting.append((fn, entry))
        if not self._in_flight:
            self._write_group()

    def _write_group(self) -> None:
        self._in_flight = group = self._waiting
        self._waiting = []
        sync = m.SYNC_LEAST + self._times.draw() + len(group) * m.SYNC_PER_ENTRY
        self._env.at(self._env.now_ns + sync, self._durable, None)

    def _durable(self, _: None) -> None:
        group, self._in_flight = self._in_flight, []
        if self._waiting:
            self._write_group()
        for fn, entry in group:
            fn(entry)


class Store:
    """A store: scheduler pool, log, apply thread, and the wires that leave it."""

    def __init__(self, env: LeanEnv, draws: m.Draws, number: int, mode: str) -> None:
        name = f"store-{number}"
        self.name = name
        self._env = env
        self._early_answer = mode != "sync"
        self._lock_proposals = mode != "in_memory"
        self._scheduler_times = draws.times(f"{name}/scheduler", m.SCHEDULER_MEAN)
        self._scheduler = ThreadPool(env, Cores(m.SCHEDULER_THREADS), m.SCHEDULER_THREADS)
        self._log = Log(env, draws.times(f"{name}/log", m.SYNC_MEAN))
        self._apply_times = draws.times(f"{name}/apply", m.APPLY_MEAN)
        self._apply = FifoServers(1)
        self._followers: list[tuple[Wire, Store]] = []
        self._to_leaders: dict[Store, Wire] = {}
        self._to_sql = [Wire(env, draws, f"{name}->sql-{i}") for i in range(m.SQL_NODES)]

    def connect(self, other: "Store", wire: Wire) -> None:
        """Leads ``wire`` to another store, for entries there and acknowledgements back."""
        self._followers.append((wire, other))
        self._to_leaders[other] = wire

    def take(self, request: Request) -> None:
        """Queues a request that has arrived for a thread of the scheduler's."""
        self._scheduler.submit(self._scheduler_times.draw(), self._execute, request)

    def _execute(self, request: Request) -> None:
        """Proposes what has to be proposed, and answers a lock unless it waits for apply."""
        if request.kind == LOCK and self._early_answer:
            self._answer(request)
            if not self._lock_proposals:
                return
        self._log.write(self._acknowledge, request)
        for wire, follower in self._followers:
            wire.send(follower.append, request)

    def append(self, entry: Request) -> None:
        """Takes a leader's entry."""
        self._log.write(self._appended, entry)

    def _appended(self, entry: Request) -> None:
        leader = entry.leader
        wire = self._to_leaders[leader]
        if entry.copies < m.QUORUM:
            wire.send(leader._acknowledge, entry)
        else:
            wire.carry()

    def _acknowledge(self, entry: Request) -> None:
        """Counts one more durable copy; an entry that two of three have is applied."""
        entry.copies += 1
        if entry.copies == m.QUORUM:
            applied = self._apply.reserve(self._env.now_ns, self._apply_times.draw())
            if entry.kind != LOCK or not self._early_answer:
                self._env.at(applied, self._answer, entry)

    def _answer(self, request: Request) -> None:
        arrival = self._to_sql[request.sql].carry()
        if request.caller is not None:
            request.caller.replied(arrival)


class Session:
    """One client's connection: thinks, runs a transaction, and begins again."""

    def __init__(self, env: LeanEnv, sql: int, wires: list[tuple[Wire, Store]]) -> None:
        self._env = env
        self._sql = sql
        self._wires = wires

    def run(self, draws: m.Draws, number: int, outcome: m.Outcome) -> Generator[Wait, None, None]:
        """Plays client ``number`` for ever."""
        env = self._env
        choices = draws.choices(number)
        thinking = draws.times(f"client-{number}/think", m.THINK_MEAN)
        lock_latencies = outcome.lock_latencies[number]
        while True:
            yield thinking.draw()
            began = env.now_ns
            regions = m.choose_regions(number, choices)
            for region in regions:
                asked = env.now_ns
                yield self._send(LOCK, [region])
                lock_latencies.append(env.now_ns - asked)
            touched = list(dict.fromkeys(regions))
            yield self._send(WRITE, touched)
            yield self._send(WRITE, touched[:1])
            outcome.txn_latencies[number].append(env.now_ns - began)
            for region in touched[1:]:
                self._ask(WRITE, region, None)

    def _send(self, kind: int, regions: list[int]) -> Event:
        """Sends a request to each region; returns the event of all having been answered."""
        group = RequestGroup(self._env, len(regions))
        for region in regions:
            self._ask(kind, region, group)
        return group.event

    def _ask(self, kind: int, region: int, caller: RequestGroup | None) -> None:
        wire, store = self._wires[m.leader_of(region)]
        wire.send(store.take, Request(kind, self._sql, store, caller))


def run(mode: str, seed: int, until: int) -> m.Outcome:
    """Plays the model from 0 to ``until`` ticks."""
    env = LeanEnv()
    draws = m.Draws(seed)
    outcome = m.Outcome()
    stores = [Store(env, draws, number, mode) for number in range(m.STORES)]
    for a, b in permutations(stores, 2):
        a.connect(b, Wire(env, draws, f"{a.name}->{b.name}"))
    for sql in range(m.SQL_NODES):
        wires = [(Wire(env, draws, f"sql-{sql}->{store.name}"), store) for store in stores]
        session = Session(env, sql, wires)
        for number in range(sql, m.CLIENTS, m.SQL_NODES):
            env.process(session.run(draws, number, outcome))
    env.run_until(until)
    outcome.events = env.events
    return outcome
