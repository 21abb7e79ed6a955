"""One run: a recipe's cluster under its clients and faults, then healed, then judged.

Law: while faults go on only safety is asked for. Then nothing new begins, everything is healed, and
within a bounded time every transaction must end, every region have a leader, every lock be resolved
by those who meet it, and all replicas be equal.
"""

from __future__ import annotations

from collections.abc import Generator
from hashlib import sha256
from typing import Any, Final

from simpy import Event

from sim.client.session import Session
from sim.probe import Probe
from sim.record.facts import Columns
from sim.simulation import Unit
from sim.swarm.cluster_of import scenario_of
from sim.swarm.coverage import Coverage
from sim.swarm.faults import Faults
from sim.swarm.liveness import sweep, unrest
from sim.swarm.recipe import Recipe
from sim.swarm.workload import SwarmWorkload
from sim.units import NS_PER_MS, NS_PER_S
from sim.workload.statement import Workload

THINK_NS: Final = 8 * NS_PER_MS
"""Mean pause of a client between two transactions."""

PATIENCE_NS: Final = 120 * NS_PER_S
"""How long everything may take to come to rest: several lives of a lock (20 s)."""

_STEP_NS: Final = 250 * NS_PER_MS
MOST_EVENTS: Final = 2_000_000
"""A run that needs more is going round in circles."""


class DigestSink:
    """A sink that keeps a digest of all facts."""

    def __init__(self) -> None:
        self.digest = sha256()

    def write(self, table: str, columns: Columns) -> None:
        """Takes facts."""
        self.digest.update(repr((table, columns)).encode())


class Undetermined(Probe):
    """Counts transactions of which their clients do not know whether they are committed."""

    def __init__(self) -> None:
        self.count = 0

    def transaction_ended(self, start_ts: int, outcome: str, reason: str) -> None:
        """Notes an end."""
        del start_ts, reason
        self.count += outcome == "undetermined"


class SwarmUnit(Unit):
    """A unit whose clients stop, and whose cluster has faults."""

    workload: SwarmWorkload

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.clients = 0
        """Clients that still have something to do."""
        self.sink = DigestSink()
        super().__init__(scenario_of(recipe), 0, self.sink)
        self.coverage = Coverage()
        self.undetermined = Undetermined()
        for probe in (self.coverage, self.undetermined):
            self.cluster.probe.add(probe)
        self.faults = Faults(self.cluster, recipe)
        self.faults.schedule()

    def run(self) -> None:
        """Runs the faults, heals everything, and waits for rest; says so if it does not come."""
        self._run_until(self.recipe.busy_ns)
        self.faults.heal_all()
        end_ns = self.env.now_ns + PATIENCE_NS
        if not self._wait(end_ns, lambda: self.clients == 0):
            self._tell(f"{self.clients} clients have not ended their transactions")
            return
        self.clients += 1
        self.env.process(self._sweep())
        if not self._wait(end_ns, lambda: self.clients == 0):
            self._tell("a sweep over all rows has not ended: a lock is not resolved")
        elif not self._wait(end_ns, lambda: not unrest(self.cluster)):
            for line in unrest(self.cluster):
                self._tell(line)

    def _make_workload(self) -> Workload:
        return SwarmWorkload(self.recipe, self.streams)

    def _begin_load(self, sessions: list[Session]) -> None:
        self.sessions = sessions
        for client in range(self.recipe.clients):
            self.clients += 1
            self.env.process(self._client(self.sessions[client % len(self.sessions)], client))

    def _client(self, session: Session, client: int) -> Generator[Event, Any, None]:
        env = self.env
        stream = self.streams.stream(f"swarm/think-{client}")
        yield env.timeout(stream.exponential(THINK_NS))
        while env.now_ns < self.recipe.busy_ns:
            yield from session.run(self.workload.transaction(client), env.now_ns)
            yield env.timeout(stream.exponential(THINK_NS))
        self.clients -= 1

    def _sweep(self) -> Generator[Event, Any, None]:
        yield from sweep(self.env, self.sessions[0], self.cluster)
        self.clients -= 1

    def _wait(self, end_ns: int, done: Any) -> bool:
        while not done():
            if self.env.now_ns >= end_ns:
                return False
            self._run_until(self.env.now_ns + _STEP_NS)
        return True

    def _run_until(self, time_ns: int) -> None:
        self.env.run_until(time_ns)
        if self.env.events > MOST_EVENTS:
            raise RuntimeError(f"more than {MOST_EVENTS} events: something goes round in circles")

    def _tell(self, what: str) -> None:
        assert self.checkers is not None, "a swarm's run has its checkers"
        self.checkers.report.add("liveness", what)
