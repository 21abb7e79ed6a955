"""``traces/*.json``: what some transactions of a unit went through, in Chrome's trace event format.

A case's first replication is run again for it. In a file, which Perfetto reads, a process is a
variant, a thread a transaction; requests that overlap, and what went on without the session, lie on
threads of their own below it. Times are simulated microseconds, to the nanosecond.

Source: "Trace Event Format" (catapult project): complete events ``X``, metadata events ``M``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, nextafter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from analysis.export.openmetrics import MOST_POINTS, case_name
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import write_text_whole
from analysis.study.units import Unit, point_words

if TYPE_CHECKING:
    from sim.tracing import Span, TracedTransaction

RULE: Final = "the first transaction to begin after each of N evenly spaced moments"


def write_traces(out: Path, run: FinishedStudy, count: int) -> Iterator[Path]:
    """Writes one file for each variant and point, and yields it; nothing beyond six points.

    Args:
        out: where the folder ``traces`` is made.
        run: the study; units of the first replication are run again, in this process.
        count: transactions to follow in each.
    """
    points = len(run.plan.points)
    if points > MOST_POINTS:
        return
    for unit in run.done:
        if unit.replication == 0:
            name = case_name(unit.variant, unit.point_index, points)
            yield write_trace(out / FOLDER / f"{name}.json", run, unit, count)


def write_trace(path: Path, run: FinishedStudy, unit: Unit, count: int) -> Path:
    """Runs one unit again and writes its file; returns its path."""
    from sim.tracing import trace_unit

    point = run.plan.points[unit.point_index]
    scenario: Any = run.study.scenario(point, unit.variant)
    traced = trace_unit(scenario, unit.replication, count)
    told = {
        "study": run.name,
        "point": dict(point),
        "variant": unit.variant,
        "replication": unit.replication,
        "seed": scenario.run.seed,
        "unit": unit.unit_hash,
        "sampled": RULE,
        "asked": count,
        "ended": len(traced),
        "time": "simulated; 0 is the beginning of the unit",
    }
    words = point_words(point)
    title = f"{unit.variant}{', ' if words else ''}{words}, replication {unit.replication}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_whole(path, chrome_trace(traced, title, told))
    return path


FOLDER: Final = "traces"
PROCESS: Final = 1
LANES: Final = 100
"""Threads a transaction may have: its number times this, and so many more."""


def chrome_trace(
    transactions: Sequence[TracedTransaction], title: str, told: Mapping[str, Any]
) -> str:
    """Returns the file's text, the same for the same transactions.

    Args:
        transactions: what was followed.
        title: the process' name.
        told: what a reader of the file should know beside it: study, variant, replication.
    """
    events = [_named("process_name", title, 0)]
    for transaction in transactions:
        events += _events_of(transaction)
    content = {"displayTimeUnit": "ms", "otherData": dict(told), "traceEvents": events}
    lines = ",\n".join(_compact(event) for event in events)
    content["traceEvents"] = []
    head = _compact(content).removesuffix("[]}")
    return f"{head}[\n{lines}\n]}}\n"


def _compact(content: Mapping[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def _events_of(transaction: TracedTransaction) -> Iterator[dict[str, Any]]:
    thread = transaction.number * LANES
    name = f"{transaction.number} {transaction.name}"
    lanes = [("", [transaction.root])]
    lanes += [(", beside", lane) for lane in in_lanes(transaction.beside)]
    lanes += [(", nobody waits", lane) for lane in in_lanes(transaction.after)]
    for place, (suffix, spans) in enumerate(lanes[:LANES]):
        yield _named("thread_name", f"{name}{suffix}", thread + place)
        sort = {"sort_index": thread + place}
        yield {"ph": "M", "name": "thread_sort_index", "pid": PROCESS, "tid": thread + place,
               "args": sort}  # fmt: skip
        for span in spans:
            yield from (_complete(each, thread + place) for each in span.within())


def in_lanes(spans: Iterable[Span]) -> list[list[Span]]:
    """Returns the spans in as few rows as it takes for none to overlap within one."""
    lanes: list[list[Span]] = []
    for span in sorted(spans, key=lambda span: (span.begin_ns, -span.end_ns)):
        for lane in lanes:
            if lane[-1].end_ns <= span.begin_ns:
                lane.append(span)
                break
        else:
            lanes.append([span])
    return lanes


def _named(what: str, name: str, thread: int) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": PROCESS, "tid": thread, "args": {"name": name}}


def _complete(span: Span, thread: int) -> dict[str, Any]:
    event = {
        "ph": "X",
        "name": span.name,
        "cat": span.kind,
        "pid": PROCESS,
        "tid": thread,
        "ts": microseconds(span.begin_ns),
        "dur": microseconds(span.length_ns),
    }
    told = {key: value for key, value in span.words.items() if key != "asks"}
    return {**event, "args": told} if told else event


def microseconds(time_ns: int) -> float:
    """Returns the time in us, as a double of which a reader gets the same nanoseconds back.

    Perfetto multiplies by 1,000 and drops what is behind the point: 1 ns less, and a span would
    begin before the one beside it has ended.
    """
    time_us = time_ns / 1000
    while int(time_us * 1000) < time_ns:
        time_us = nextafter(time_us, inf)
    return time_us
