"""A unit that follows some of its transactions, spread over the measured time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sim.scenario.resolved import ETCD
from sim.simulation import Unit, simulated_ns
from sim.tracing.notes import Notes
from sim.tracing.spans import TracedTransaction, traced_transaction
from sim.tracing.traced_session import TracedSession

if TYPE_CHECKING:
    from sim.client.session import Session, SessionParts
    from sim.record.facts import Columns, FactSink
    from sim.scenario.resolved import Scenario
    from sim.workload.statement import Transaction


def sampling_moments_ns(scenario: Scenario, count: int) -> list[int]:
    """Returns ``count`` evenly spaced moments of the measured time, from its beginning.

    With ``warmup: auto`` that is the time which is measured at least: after the longest warm-up.
    """
    measure_ns = scenario.run.measure_ns
    begin_ns = simulated_ns(scenario) - measure_ns
    return [begin_ns + measure_ns * number // count for number in range(count)]


class TracedUnit(Unit):
    """Follows the first transaction that begins at or after each of some moments."""

    def __init__(
        self, scenario: Scenario, replication: int, sink: FactSink, moments_ns: list[int]
    ) -> None:
        self._moments_ns = moments_ns
        self.followed: list[Notes] = []
        super().__init__(scenario, replication, sink)

    def traced(self) -> list[TracedTransaction]:
        """Returns the followed transactions that have ended, in the order of their beginning."""
        return [traced_transaction(notes) for notes in self.followed if notes.end_ns >= 0]

    def _session(self, parts: SessionParts) -> Session:
        return TracedSession(parts, self.scenario, self.cluster, self._follow)

    def _follow(self, transaction: Transaction, tidb: int, intended_ns: int) -> Notes | None:
        number = len(self.followed)
        if number == len(self._moments_ns) or intended_ns < self._moments_ns[number]:
            return None
        notes = Notes(
            number=number + 1,
            name=transaction.name,
            tidb=tidb,
            explicit=not transaction.autocommit,
            intended_ns=intended_ns,
        )
        self.followed.append(notes)
        return notes


class _NoSink:
    """Drops facts: the study has them already."""

    def write(self, table: str, columns: Columns) -> None:
        """Drops a batch."""


def trace_unit(scenario: Scenario, replication: int, count: int) -> list[TracedTransaction]:
    """Runs one replication and returns at most ``count`` of its transactions, span by span.

    The same scenario, replication and count give the same spans. A transaction that has not ended
    when the unit does is left out. Nothing is checked: checkers change nothing but the run time.
    etcd's puts are not followed.
    """
    if scenario.workload.kind == ETCD:
        return []
    unwatched = replace(scenario, run=replace(scenario.run, checks=False))
    unit = TracedUnit(unwatched, replication, _NoSink(), sampling_moments_ns(scenario, count))
    unit.run()
    return unit.traced()
