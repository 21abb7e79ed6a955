"""A session, of which some transactions are followed."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from sim.client.locker import Locker
from sim.client.session import Session, SessionParts
from sim.client.tidb import TidbNode
from sim.probe import Probe
from sim.tracing.notes import PLAN, STATEMENT, TIMESTAMP, Notes, Sent, Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from simpy import Event

    from sim.client.client_stats import ClientStats
    from sim.scenario.resolved import Scenario
    from sim.server.cluster import Cluster
    from sim.storage.request import KvRequest
    from sim.workload.statement import Transaction


class TracedSession(Session):
    """One connection, of which some transactions are followed.

    ``follow`` takes a transaction, its TiDB node and when it was meant to begin, and returns where
    to write; None: it is not followed.
    """

    __slots__ = ("_cluster", "_follow", "_scenario")

    def __init__(
        self,
        parts: SessionParts,
        scenario: Scenario,
        cluster: Cluster,
        follow: Callable[[Transaction, int, int], Notes | None],
    ) -> None:
        super().__init__(parts)
        self._scenario = scenario
        self._cluster = cluster
        self._follow = follow

    def run(self, transaction: Transaction, intended_ns: int) -> Generator[Event, Any, None]:
        """Carries out one transaction, followed or not."""
        notes = self._follow(transaction, self._parts.node.node, intended_ns)
        if notes is None:
            yield from super().run(transaction, intended_ns)
            return
        parts = self._followed_parts(notes, self._parts.stats)
        yield from _write_down(Session(parts).run(transaction, intended_ns), parts.node, notes)

    def _followed_parts(self, notes: Notes, stats: ClientStats) -> SessionParts:
        """Returns parts whose requests pass a node that writes them down; the rest is shared."""
        own = self._parts
        node = _NotingNode(own.node, notes)
        parts = SessionParts(node, self._cluster, self._scenario, stats, own.backoffs)
        parts.keep_alive = own.keep_alive
        parts.locker = Locker(
            parts.kv,
            self._scenario.cluster.tidb,
            parts.background,
            own.keep_alive,
            parts.resolver,
        )
        parts.probe = _NotingProbe(own.probe, notes)  # type: ignore[assignment]
        return parts


def _write_down(
    steps: Generator[Event, Any, None], node: TidbNode, notes: Notes
) -> Generator[Event, Any, None]:
    """Passes every event on, with a note of when the session waited for it."""
    env = node.env
    value: object = None
    while True:
        try:
            event = steps.send(value)
        except StopIteration:
            notes.end_ns = env.now_ns
            return
        wait = Wait(event, env.now_ns)
        notes.waits.append(wait)
        value = yield event
        wait.end_ns = env.now_ns


class _NotingNode(TidbNode):
    """The same node (its CPU, its links, its draws), as one transaction uses it."""

    __slots__ = ("_notes",)

    def __init__(self, node: TidbNode, notes: Notes) -> None:
        for name in TidbNode.__slots__:
            setattr(self, name, getattr(node, name))
        self._notes = notes

    def statement(self) -> Event:
        """Notes a statement's way from the client, and its planning."""
        return self._notes.named(super().statement(), STATEMENT)

    def replan(self) -> Event:
        """Notes that a statement is planned once more."""
        return self._notes.named(super().replan(), PLAN)

    def timestamp(self, *, begin: bool = False) -> Event:
        """Notes a timestamp's way."""
        return self._notes.named(super().timestamp(begin=begin), TIMESTAMP)

    def send(self, request: KvRequest) -> None:
        """Notes a request."""
        for earlier in self._notes.sent:
            if earlier.request is request:
                earlier.request = copy(request)  # its stamps are about to be overwritten
        self._notes.sent.append(Sent(request, request.caller, self.env.now_ns))
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
