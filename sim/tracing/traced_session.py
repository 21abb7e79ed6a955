"""A session, of which some transactions are followed."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from sim.client.session import Session
from sim.client.tidb import TidbNode
from sim.probe import Probe
from sim.tracing.notes import PLAN, STATEMENT, TIMESTAMP, Notes, Sent, Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from simpy import Event

    from sim.storage.request import KvRequest
    from sim.workload.statement import Transaction


class TracedSession(Session):
    """One connection, of which some transactions are followed.

    ``follow`` takes a transaction, its TiDB node and when it was meant to begin, and returns where
    to write; None: it is not followed.
    """

    def __init__(
        self, node: TidbNode, follow: Callable[[Transaction, int, int], Notes | None]
    ) -> None:
        super().__init__(node)
        self._follow = follow

    def run(self, transaction: Transaction, intended_ns: int) -> Generator[Event, Any, str]:
        """Carries out one transaction, followed or not."""
        notes = self._follow(transaction, self.node.number, intended_ns)
        if notes is None:
            return (yield from super().run(transaction, intended_ns))
        session = Session(_NotingNode(self.node, notes), self.ttl_manager)
        return (yield from _write_down(session.run(transaction, intended_ns), self.node, notes))


def _write_down(
    steps: Generator[Event, Any, str], node: TidbNode, notes: Notes
) -> Generator[Event, Any, str]:
    """Passes every event on, with a note of when the session waited for it."""
    env = node.env
    value: object = None
    while True:
        try:
            event = steps.send(value)
        except StopIteration as end:
            notes.end_ns = env.now_ns
            return str(end.value)
        wait = Wait(event, env.now_ns)
        notes.waits.append(wait)
        value = yield event
        wait.end_ns = env.now_ns


class _NotingNode(TidbNode):
    """The same node (its CPU, its links, its draws), as one transaction uses it."""

    def __init__(self, node: TidbNode, notes: Notes) -> None:
        vars(self).update(vars(node))
        self.probe = _NotingProbe(node.probe, notes)
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
