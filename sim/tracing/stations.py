"""From a request's time stamps to the stations it has passed, without a gap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from sim.client.client_stats import PATH_NAMES
from sim.protocol.percolator import Acquired
from sim.storage.request import LAST_READ, Kind, KvRequest
from sim.tracing.notes import Sent


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when something took, in simulated ns."""

    name: str
    kind: str
    """``transaction``, ``statement``, ``wait``, ``request``, ``station`` or ``background``."""
    begin_ns: int
    end_ns: int
    words: dict[str, object] = field(default_factory=dict)
    children: tuple[Span, ...] = ()

    @property
    def length_ns(self) -> int:
        """How long it took."""
        return self.end_ns - self.begin_ns

    def within(self) -> Iterator[Span]:
        """Yields itself and all spans below, parents first."""
        yield self
        for child in self.children:
            yield from child.within()


REQUEST: Final = "network: request"
REPLY: Final = "network: reply"
LATCH: Final = "wait for latches"
FIRST_TRY: Final = "latches, scheduler: first try"
LOCK_WAIT: Final = "wait for another's lock"
SCHEDULER: Final = "scheduler: queue, execute"
READ_POOL: Final = "read pool: queue, read"
PROPOSE: Final = "raftstore: wait, propose"
COMMIT: Final = "raft log: append, fsync, replicate, commit"
APPLY: Final = "apply: wait, apply"
ANSWER: Final = "answer"


def stations(sent: Sent, until_ns: int) -> list[Span]:
    """Returns where a request has been from its sending to its answer's arrival.

    Args:
        sent: the request.
        until_ns: when its client went on; the end of a request that got no answer.
    """
    request = sent.request
    done_ns = request.done_ns if sent.at_ns <= request.done_ns <= until_ns else until_ns
    if not sent.at_ns <= request.replied_ns <= done_ns:
        return _cut(sent.at_ns, [("no answer", done_ns)])
    ends = [(REQUEST, request.arrived_ns), *_inside(request)]
    ends += [(_last_name(request), request.replied_ns), (REPLY, done_ns)]
    return _cut(sent.at_ns, ends)


def after_reply(request: KvRequest) -> list[Span]:
    """Returns how a lock that was answered when proposed went on, if it did."""
    if not request.reply_at_proposed or not request.applied_ns:
        return []
    ends = [(COMMIT, request.committed_ns), (APPLY, request.applied_ns)]
    return _cut(request.replied_ns, ends)


def words(request: KvRequest) -> dict[str, object]:
    """Returns what is worth knowing of a request beside its times."""
    known: dict[str, object] = {
        "region": request.region.region_id,
        "store": request.store,
        "keys": len(request.keys),
        "answer": type(request.result).__name__,
    }
    if request.kind is Kind.LOCK and isinstance(request.result, Acquired):
        known["path"] = PATH_NAMES[request.path]
    if request.fallback:
        known["fallback"] = request.fallback
    if request.waited_ns:
        known["waited_ms"] = request.waited_ns / 1e6
    return known


def _inside(request: KvRequest) -> list[tuple[str, int]]:
    """Returns the stations within the store, with the end of each."""
    if request.kind <= LAST_READ:
        return [(READ_POOL, request.executed_ns)]
    ends = [(LATCH, request.latched_ns)]
    if request.waited_ns and request.result.__class__ is Acquired:
        # It was carried out again in place: latched_ns is of the second time.
        waits_from_ns = request.latched_ns - request.waited_ns
        ends = [(FIRST_TRY, waits_from_ns), (LOCK_WAIT, request.latched_ns)]
    ends += [(SCHEDULER, request.executed_ns), (PROPOSE, request.proposed_ns)]
    if not request.reply_at_proposed:
        ends += [(COMMIT, request.committed_ns), (APPLY, request.applied_ns)]
    return ends


def _last_name(request: KvRequest) -> str:
    refused = request.kind is Kind.LOCK and request.result.__class__ is not Acquired
    return LOCK_WAIT if refused and request.waited_ns else ANSWER


def _cut(begin_ns: int, ends: list[tuple[str, int]]) -> list[Span]:
    """Returns a station for each stamp that is later than the one before."""
    found = []
    for name, end_ns in ends:
        if end_ns > begin_ns:
            found.append(Span(name, "station", begin_ns, end_ns))
            begin_ns = end_ns
    return found
