"""A unit that follows some of its transactions, spread over the measured time."""

from collections.abc import Callable, Generator
from copy import copy
from dataclasses import replace
from typing import Any

from simpy import Event

from sim.client.region_request import RequestGroup
from sim.client.session import Session
from sim.client.tidb import TidbNode
from sim.engine import Wait
from sim.record import FactSink, NoSink
from sim.scenario.resolved import Scenario
from sim.scenario.schema.arrival import ETCD
from sim.simulation import SimulatedUnit, simulated_ns
from sim.storage.probe import Probe
from sim.storage.request import KvRequest
from sim.tracing.notes import PLAN, STATEMENT, TIMESTAMP, Notes, Sent
from sim.tracing.spans import TracedTransaction, traced_transaction
from sim.workload.statement import Transaction


class TracedSession(Session):
    """One connection, of which some transactions are followed.

    ``follow`` takes a transaction, the number of its TiDB node and when it was meant to begin, and
    returns where to write; None: it is not followed.
    """

    def __init__(
        self, node: TidbNode, follow: Callable[[Transaction, int, int], Notes | None]
    ) -> None:
        super().__init__(node)
        self._follow = follow

    def run(self, transaction: Transaction, intended_ns: int) -> Generator[Wait, Any, str]:
        """Carries out one transaction, followed or not."""
        notes = self._follow(transaction, self.node.number, intended_ns)
        if notes is None:
            return (yield from super().run(transaction, intended_ns))
        session = Session(_NotingNode(self.node, notes), self.ttl_manager)
        return (yield from _noted(session.run(transaction, intended_ns), self.node, notes))


def _noted(
    steps: Generator[Wait, Any, str], node: TidbNode, notes: Notes
) -> Generator[Wait, Any, str]:
    """Passes every wait on, with a note of when the session waited."""
    env = node.env
    value: object = None
    while True:
        try:
            awaited = steps.send(value)
        except StopIteration as end:
            notes.end_ns = env.now_ns
            return str(end.value)
        if notes.is_fetching_timestamp:
            value = yield awaited
            continue
        wait = notes.begin_wait(awaited if isinstance(awaited, Event) else None, env.now_ns)
        value = yield awaited
        wait.end_ns = env.now_ns


class _NotingNode(TidbNode):
    """The same node (its CPU, its links, its draws), as one transaction uses it."""

    def __init__(self, node: TidbNode, notes: Notes) -> None:
        vars(self).update(vars(node))
        self.probe = _NotingProbe(node.probe, notes)
        self._notes = notes

    def statement(self, rows: float = 0, *, writes: bool = False) -> int:
        """Notes a statement's way from the client, and its planning."""
        self._notes.next_name = STATEMENT
        return super().statement(rows, writes=writes)

    def replan(self, rows: float = 0, *, writes: bool = False) -> int:
        """Notes that a statement is planned once more."""
        self._notes.next_name = PLAN
        return super().replan(rows, writes=writes)

    def timestamp(self, *, begin: bool = False) -> Generator[Wait, Any, int]:
        """Notes a timestamp's way."""
        notes = self._notes
        notes.next_name = TIMESTAMP
        wait = notes.begin_wait(None, self.env.now_ns)
        notes.is_fetching_timestamp = True
        timestamp = yield from super().timestamp(begin=begin)
        notes.is_fetching_timestamp = False
        wait.end_ns = self.env.now_ns
        return timestamp

    def send(self, request: KvRequest) -> None:
        """Notes a request."""
        for earlier in self._notes.sent:
            if earlier.request is request:
                earlier.request = copy(request)  # its stamps are about to be overwritten
        caller = request.caller
        awaited = caller.event if isinstance(caller, RequestGroup) else None
        self._notes.sent.append(Sent(request, awaited, self.env.now_ns))
        super().send(request)


class _NotingProbe(Probe):
    """Notes how the transaction ended, and passes it on."""

    def __init__(self, probe: Probe, notes: Notes) -> None:
        self._probe = probe
        self._notes = notes

    def transaction_ended(self, start_ts: int, outcome: str, reason: str) -> None:
        self._notes.start_ts = start_ts
        self._notes.outcome = outcome
        self._notes.reason = reason
        self._probe.transaction_ended(start_ts, outcome, reason)


def sampling_moments_ns(scenario: Scenario, count: int) -> list[int]:
    """Returns ``count`` evenly spaced moments of the measured time, from its beginning.

    With ``warmup: auto`` that is the time which is measured at least: after the longest warm-up.
    """
    measure_ns = scenario.run.measure_ns
    begin_ns = simulated_ns(scenario) - measure_ns
    return [begin_ns + measure_ns * number // count for number in range(count)]


class TracedUnit(SimulatedUnit):
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

    def _session(self, node: TidbNode) -> Session:
        return TracedSession(node, self._follow)

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


def trace_unit(scenario: Scenario, replication: int, count: int) -> list[TracedTransaction]:
    """Runs one replication and returns at most ``count`` of its transactions, span by span.

    The same scenario, replication and count give the same spans. A transaction that has not ended
    when the unit does is left out. Nothing is checked: checkers change nothing but the run time.
    etcd's puts are not followed.
    """
    if scenario.workload.kind == ETCD:
        return []
    unwatched = replace(scenario, run=replace(scenario.run, checks=False))
    unit = TracedUnit(unwatched, replication, NoSink(), sampling_moments_ns(scenario, count))
    unit.run()
    return unit.traced()
