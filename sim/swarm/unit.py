"""One run: a recipe's cluster under its clients and faults, then healed, then judged.

While faults go on only safety is asked for. Then nothing new begins, everything is healed, and
within a bounded time every transaction must end, every region have a leader, every lock be resolved
by those who meet it, and all replicas be equal. An exception in the model is a violation like any
other.
"""

import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from sim.client.session import Session
from sim.engine import Wait
from sim.protocol.marks import MARKS
from sim.record.facts import Columns
from sim.simulation import SimulatedUnit
from sim.storage.probe import Probe
from sim.swarm.faults import Faults
from sim.swarm.liveness import payloads, sweep, unrest
from sim.swarm.recipe import Recipe
from sim.swarm.scenario import scenario_of
from sim.swarm.workload import ACCOUNT_PREFIX, SwarmWorkload, account_key
from sim.unit_result import no_cycle_search
from sim.units import NS_PER_MS, NS_PER_S
from sim.workload.statement import TransactionSource

_FRAMES_SHOWN: Final = 2

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

    def reached(self, now_ns: int) -> None:
        """Does nothing."""


class Coverage(Probe):
    """Counts marks."""

    def __init__(self) -> None:
        self.hits: dict[str, int] = {}

    def mark(self, name: str) -> None:
        """Notes a mark.

        Raises:
            KeyError: if no mark is called so.
        """
        _ = MARKS[name]
        self.hits[name] = self.hits.get(name, 0) + 1


class SwarmUnit(SimulatedUnit):
    """A unit whose clients stop, and whose cluster has faults."""

    workload: SwarmWorkload

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.clients = 0
        """Clients that still have something to do."""
        self.undetermined = 0
        """Transactions of which their clients do not know whether they are committed."""
        self.sink = DigestSink()
        super().__init__(scenario_of(recipe), 0, self.sink)
        self.coverage = Coverage()
        self.cluster.probe.add(self.coverage)
        self.faults = Faults(self.cluster, self.nodes, recipe)
        self.faults.schedule()

    def run(self) -> None:
        """Runs the faults, heals everything, and waits for rest; says so if it does not come."""
        self._run_until(self.recipe.busy_ns)
        self.faults.heal_all()
        end_ns = self.env.now_ns + PATIENCE_NS
        if not self._wait(end_ns, lambda: self.clients == 0):
            self._report(f"{self.clients} clients have not ended their transactions")
            return
        self.clients += 1
        self.env.process(self._sweep())
        if not self._wait(end_ns, lambda: self.clients == 0):
            self._report("a sweep over all rows has not ended: a lock is not resolved")
        elif not self._wait(end_ns, lambda: not unrest(self.cluster)):
            for line in unrest(self.cluster):
                self._report(line)

    def _make_workload(self) -> TransactionSource:
        return SwarmWorkload(self.recipe, self.streams)

    def _begin_load(self, sessions: list[Session]) -> None:
        self.sessions = sessions
        for client in range(self.recipe.clients):
            self.clients += 1
            self.env.process(self._client(self.sessions[client % len(self.sessions)], client))

    def _client(self, session: Session, client: int) -> Generator[Wait, Any, None]:
        env = self.env
        stream = self.streams.stream(f"swarm/think-{client}")
        if self.recipe.staggered:
            yield env.timeout(client * self.recipe.busy_ns // self.recipe.clients)
        yield env.timeout(stream.exponential(THINK_NS))
        while env.now_ns < self.recipe.busy_ns:
            outcome = yield from session.run(self.workload.transaction(client), env.now_ns)
            self.undetermined += outcome == "aborted: undetermined"
            yield env.timeout(stream.exponential(THINK_NS))
        self.clients -= 1

    def _sweep(self) -> Generator[Wait, Any, None]:
        yield from sweep(self.env, self.sessions[0], self.cluster)
        self.clients -= 1

    def _wait(self, end_ns: int, done: Callable[[], bool]) -> bool:
        while not done():
            if self.env.now_ns >= end_ns:
                return False
            self._run_until(self.env.now_ns + _STEP_NS)
        return True

    def _run_until(self, time_ns: int) -> None:
        self.env.run_until(time_ns)
        if self.env.events > MOST_EVENTS:
            raise RuntimeError(f"more than {MOST_EVENTS} events: something goes round in circles")

    def _report(self, what: str) -> None:
        assert self.checkers is not None, "a swarm's run has its checkers"
        self.checkers.report.add("liveness", what)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one run."""

    seed: int
    violations: tuple[str, ...]
    digest: str
    """Equal for equal runs."""
    marks: dict[str, int]
    committed: int
    aborted: int
    simulated_ns: int
    events: int


def outcome_of(recipe: Recipe) -> Outcome:
    """Runs a recipe to its end and judges it; an outcome is small, to travel between processes."""
    with no_cycle_search():
        unit = SwarmUnit(recipe)
        crashed: list[str] = []
        try:
            unit.run()
        except Exception as error:
            crashed.append(_show_error(error))
        return _judged(unit, crashed)


def _judged(unit: SwarmUnit, crashed: list[str]) -> Outcome:
    violations = list(crashed)
    if not crashed:
        violations += unit.result().violations
        violations += _wrong_sums(unit)
    elif unit.checkers is not None:
        violations += unit.checkers.report.lines()
    unit.recorder.close(unit.env.now_ns)
    unit.sink.digest.update(repr((unit.env.now_ns, unit.env.events, violations)).encode())
    return Outcome(
        unit.recipe.seed,
        tuple(violations),
        unit.sink.digest.hexdigest()[:16],
        unit.coverage.hits,
        unit.stats.total_committed(),
        unit.stats.total_aborted(),
        unit.env.now_ns,
        unit.env.events,
    )


def _wrong_sums(unit: SwarmUnit) -> list[str]:
    """Returns what the rows themselves say about lost updates."""
    rows_now = payloads(unit.cluster, ACCOUNT_PREFIX)
    rows, tally = unit.recipe.rows, unit.workload.tally
    lines = []
    total = sum(_number(rows_now, row) for row in range(rows))
    if total:
        lines.append(f"lost update: the accounts sum to {total}, not 0")
    for row, known, what in (
        (rows, tally.increments, "increments"),
        (rows + 1, tally.orders, "orders"),
    ):
        counted = _number(rows_now, row)
        if not known <= counted <= known + unit.undetermined:
            lines.append(f"lost update: {known} {what} were committed, but the row says {counted}")
    return lines


def _number(rows: dict[bytes, object], row: int) -> int:
    number = rows.get(account_key(row), 0)
    assert isinstance(number, int), "accounts hold numbers"
    return number


def _show_error(error: Exception) -> str:
    """Returns an exception with the places it came from, without paths."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES_SHOWN:]
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames]
    return f"{type(error).__name__}: {error} ({' < '.join(reversed(places))})"
