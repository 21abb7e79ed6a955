"""From notes to nested spans: transaction, statement, what it waits for, stations of a request.

Invariant: children lie within their parent and do not overlap. What runs beside the request that a
session waited for longest is in ``beside``, what nobody waited for in ``after``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sim.storage.request import Kind
from sim.tracing.notes import BACKOFF, STATEMENT, TIMESTAMP, NotedWait, Notes, Sent
from sim.tracing.stations import Span, after_reply, stations, words

PAUSE: Final = "pause"


@dataclass(frozen=True, slots=True)
class TracedTransaction:
    """One transaction that was followed to its end."""

    number: int
    """From 1, by beginning."""
    name: str
    outcome: str
    root: Span
    beside: tuple[Span, ...]
    """Requests that were under way while the session waited for another one."""
    after: tuple[Span, ...]
    """What went on without the session: secondaries' commits, replication of pipelined locks."""

    @property
    def latency_ns(self) -> int:
        """As the facts count it."""
        return self.root.length_ns


def traced_transaction(notes: Notes) -> TracedTransaction:
    """Returns the spans of a transaction that has ended."""
    beside: list[Span] = []
    known = {
        "start_ts": notes.start_ts,
        "outcome": notes.outcome,
        "tidb": notes.tidb,
        "latency_ms": (notes.end_ns - notes.intended_ns) / 1e6,
    }
    if notes.reason:
        known["reason"] = notes.reason
    root = Span(
        notes.name,
        "transaction",
        notes.intended_ns,
        notes.end_ns,
        known,
        tuple(_statements(notes, beside)),
    )
    after = tuple(_after(notes))
    return TracedTransaction(notes.number, notes.name, notes.outcome, root, tuple(beside), after)


def _statements(notes: Notes, beside: list[Span]) -> Iterator[Span]:
    """Yields the statements and the pauses between them."""
    parts = list(_cut_at_statements(notes))
    last = len(parts) - 1
    for place, (name, waits) in enumerate(parts):
        spans = [span for wait in waits if (span := _wait(notes, wait, beside)) is not None]
        if name == PAUSE:
            yield Span(PAUSE, "wait", waits[0].begin_ns, waits[0].end_ns)
        elif spans:
            title = _title(notes, spans, "first" if not place else "last" if place == last else "")
            yield Span(title, "statement", spans[0].begin_ns, spans[-1].end_ns, {}, tuple(spans))


def _title(notes: Notes, spans: list[Span], place: str) -> str:
    """Returns a statement's name; what auto-commit does before its statement is its BEGIN."""
    if place == "first" and (notes.explicit or spans[0].name == TIMESTAMP):
        return "BEGIN"
    if place == "last" and notes.explicit and notes.outcome == "committed":
        return "COMMIT"
    if place == "last" and notes.reason == "rollback":
        return "ROLLBACK"
    return f"statement: {_does(spans)}"


def _cut_at_statements(notes: Notes) -> Iterator[tuple[str, list[NotedWait]]]:
    """Yields (name, waits) of each statement; a pause of the client is between two."""
    current: list[NotedWait] = []
    for wait in notes.waits:
        if wait.name == STATEMENT and current:
            if len(current) > 1 and _is_timeout(notes, current[-1]):
                yield STATEMENT, current[:-1]
                yield PAUSE, current[-1:]
            else:
                yield STATEMENT, current
            current = []
        current.append(wait)
    if current:
        yield STATEMENT, current


def _is_timeout(notes: Notes, wait: NotedWait) -> bool:
    return not wait.name and not notes.sent_for(wait)


def _does(spans: list[Span]) -> str:
    """Returns what a statement asks of the stores: ``get, lock``."""
    kinds = [span.name.partition(" ×")[0] for span in spans if "asks" in span.words]
    return ", ".join(dict.fromkeys(kinds)) or "buffered"


def _wait(notes: Notes, wait: NotedWait, beside: list[Span]) -> Span | None:
    """Returns the span of one wait; None if it took no time."""
    if wait.end_ns <= wait.begin_ns:
        return None
    sent = notes.sent_for(wait)
    if not sent:
        name = wait.name or BACKOFF
        return Span(name, "wait", wait.begin_ns, wait.end_ns)
    name = _KIND_NAMES[sent[0].request.kind]
    spans = [_request(each, wait.end_ns) for each in sent]
    if len(spans) == 1 and spans[0].begin_ns == wait.begin_ns:
        only = spans[0]
        known = {"asks": 1, **only.words}
        return Span(name, "wait", wait.begin_ns, wait.end_ns, known, only.children)
    shown = _place(spans, beside)
    title = f"{name} × {len(spans)}" if len(spans) > 1 else name
    return Span(title, "wait", wait.begin_ns, wait.end_ns, {"asks": len(spans)}, shown)


def _place(spans: list[Span], beside: list[Span]) -> tuple[Span, ...]:
    """Returns the request answered last, and others that do not overlap; the rest is beside."""
    critical = max(spans, key=lambda span: (span.end_ns, span.length_ns))
    shown = [critical]
    for span in spans:
        if span is critical:
            continue
        if all(span.end_ns <= other.begin_ns or span.begin_ns >= other.end_ns for other in shown):
            shown.append(span)
        else:
            beside.append(span)
    return tuple(sorted(shown, key=lambda span: span.begin_ns))


def _request(sent: Sent, until_ns: int) -> Span:
    request = sent.request
    passed = stations(sent, until_ns)
    end_ns = passed[-1].end_ns if passed else sent.at_ns
    name = f"{_KIND_NAMES[request.kind]}, store {request.store}"
    return Span(name, "request", sent.at_ns, end_ns, words(request), tuple(passed))


def _after(notes: Notes) -> Iterator[Span]:
    for sent in notes.sent:
        passed = after_reply(sent.request)
        if passed:
            ends = (passed[0].begin_ns, passed[-1].end_ns)
            yield Span("lock, after its answer", "background", *ends, {}, tuple(passed))
    for sent in notes.sent_aside():
        request = sent.request
        if request.done_ns >= sent.at_ns:
            span = _request(sent, request.done_ns)
            name = f"{span.name}, nobody waits"
            ends = (span.begin_ns, span.end_ns)
            yield Span(name, "background", *ends, span.words, span.children)


_KIND_NAMES: Final = {
    **{kind: kind.name.lower().replace("_", " ") for kind in Kind},
    Kind.COP: "coprocessor",
}
"""``Kind.BATCH_GET`` is "batch get"."""
