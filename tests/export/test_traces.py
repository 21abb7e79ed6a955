"""Traces: spans nest and add up, the file is the format's, and nobody notices being followed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from analysis.export.traces import chrome_trace, in_lanes, microseconds, write_traces
from analysis.study.finished_study import FinishedStudy
from analysis.study.load import load_study
from sim.client.client_stats import ClientStats
from sim.client.connections import NOT_IN_FLIGHT
from sim.client.tidb import TidbNode
from sim.engine import LeanEnv
from sim.protocol.region import Region, RegionId, Route, StoreId
from sim.record.facts import MemorySink
from sim.scenario import Scenario
from sim.simulation import SimulatedUnit
from sim.storage.request import Kind, KvRequest
from sim.tracing import (
    Span,
    TracedTransaction,
    TracedUnit,
    sampling_moments_ns,
    trace_unit,
)
from sim.tracing.notes import Notes
from sim.tracing.traced_unit import _NotingNode
from tests.export.small_study import SCENARIO

pytestmark = pytest.mark.slow

COUNT = 8
BRIEF = SCENARIO.replace("warmup: 200ms, measure: 600ms", "warmup: 100ms, measure: 300ms")
HOT = """
about: Do transactions that wait for each other leave whole traces?
run: {seed: 5, warmup: 100ms, measure: 500ms}
hardware: {profile: i3.4xlarge}
workload: {kind: tpcc, warehouses: 1, threads: 30}
operations: [{every: 50ms, do: transfer_leader, region: hottest}]
compare:
  fair: {cluster.tidb.tidb_pessimistic_txn_fair_locking: true}
  sync: {tikv.pessimistic-txn.pipelined: false}
"""


@cache
def scenarios(text: str) -> dict[str, Scenario]:
    """Returns the variants of a scenario's text."""
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        study = load_study(Path(file.name))
    return {name: study.scenario({}, name) for name in study.variants}


@cache
def followed(text: str, variant: str) -> tuple[list[TracedTransaction], list[tuple[str, int]]]:
    """Returns traces of a unit, and name and latency of every transaction that it has counted."""
    seen: list[tuple[str, int]] = []
    count = ClientStats.committed

    def committed(stats: ClientStats, name: str, latency_ns: int) -> None:
        seen.append((name, latency_ns))
        count(stats, name, latency_ns)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientStats, "committed", committed)
        return trace_unit(scenarios(text)[variant], 0, COUNT), seen


def traced_of(text: str, variant: str) -> list[TracedTransaction]:
    return followed(text, variant)[0]


LONG = """
about: Does a followed transaction send heartbeats?
run: {seed: 5, warmup: 0s, measure: 12s}
hardware: {profile: i3.4xlarge}
workload:
  kind: custom
  threads: 1
  tables: {rows_of: {rows: 50}}
  transactions:
    slow: {weight: 1, statements: [{lock: rows_of, rows: 1}, {update: rows_of, pause: 11s}]}
compare:
  in_memory: {tikv.pessimistic-txn.in-memory: true}
"""

CASES = [(BRIEF, "pipelined"), (BRIEF, "in_memory"), (HOT, "fair"), (HOT, "sync")]
everywhere: Callable[..., Any] = pytest.mark.parametrize(
    ("text", "variant"), CASES, ids=[variant for _, variant in CASES]
)


@everywhere
def test_spans_nest_and_do_not_overlap(text: str, variant: str) -> None:
    traced = traced_of(text, variant)
    assert len(traced) >= COUNT // 2, "where each waits for each, some do not end"
    for transaction in traced:
        for top in (transaction.root, *transaction.beside, *transaction.after):
            for span in top.within():
                assert span.begin_ns <= span.end_ns
                ends = [span.begin_ns]
                for child in span.children:
                    assert ends[-1] <= child.begin_ns < child.end_ns <= span.end_ns
                    ends.append(child.end_ns)


@everywhere
def test_statements_and_waits_explain_the_whole_latency(text: str, variant: str) -> None:
    for transaction in traced_of(text, variant):
        root = transaction.root
        assert sum(span.length_ns for span in root.children) == transaction.latency_ns
        for statement in root.children:
            waits = sum(span.length_ns for span in statement.children)
            assert waits == statement.length_ns or statement.name == "pause"


def requests_of(transaction: TracedTransaction) -> list[Span]:
    spans = [span for span in transaction.root.within() if span.words.get("asks") == 1]
    return [span for span in spans if all(child.kind == "station" for child in span.children)]


@pytest.mark.parametrize("variant", ["pipelined", "in_memory"])
def test_stations_explain_the_whole_of_a_request(variant: str) -> None:
    requests = [span for each in traced_of(BRIEF, variant) for span in requests_of(each)]
    assert len(requests) > COUNT
    for request in requests:
        assert sum(station.length_ns for station in request.children) == request.length_ns


def test_a_lock_passes_the_stations_of_its_path() -> None:
    def stations(variant: str) -> set[str]:
        locks = [span for each in traced_of(BRIEF, variant) for span in requests_of(each)
                 if span.words.get("path") == variant]  # fmt: skip
        assert locks
        return {station.name for lock in locks for station in lock.children}

    assert "raftstore: wait, propose" in stations("pipelined")
    assert "raftstore: wait, propose" not in stations("in_memory")
    logged = "raft log: append, fsync, replicate, commit"
    assert logged not in stations("pipelined") | stations("in_memory")
    after = [span for each in traced_of(BRIEF, "pipelined") for span in each.after]
    assert any(span.name == "lock, after its answer" for span in after)


def test_waiting_for_another_transaction_is_shown() -> None:
    names = {span.name for variant in ("fair", "sync") for each in traced_of(HOT, variant)
             for top in (each.root, *each.beside) for span in top.within()}  # fmt: skip
    assert "wait for another's lock" in names
    assert "raft log: append, fsync, replicate, commit" in names


@everywhere
def test_latencies_are_those_of_the_facts(text: str, variant: str) -> None:
    traced, seen = followed(text, variant)
    done = [each for each in traced if each.outcome == "committed"]
    assert done
    for transaction in done:
        assert (transaction.name, transaction.latency_ns) in seen


@everywhere
def test_facts_are_the_same_with_and_without_followers(text: str, variant: str) -> None:
    scenario = scenarios(text)[variant]
    moments_ns = sampling_moments_ns(scenario, 50)

    def facts(unit: Callable[[MemorySink], SimulatedUnit]) -> str:
        sink = MemorySink()
        made = unit(sink)
        made.run()
        assert made.result().violations == ()
        return hashlib.sha256(repr(sink.tables).encode()).hexdigest()

    plain = facts(partial(SimulatedUnit, scenario, 0))
    followed = facts(lambda sink: TracedUnit(scenario, 0, sink, moments_ns))
    assert plain == followed


def test_a_followed_transaction_keeps_its_locks_alive() -> None:
    scenario = scenarios(LONG)["in_memory"]
    sink = MemorySink()
    TracedUnit(scenario, 0, sink, sampling_moments_ns(scenario, 4)).run()
    beats = [row for row in sink.rows("counter") if row[1:3] == ("proposals", "heartbeat")]
    assert beats, "TxnHeartBeat is sent after ten seconds"


def test_a_request_sent_again_keeps_its_first_stamps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TidbNode, "send", lambda *_: None)
    notes = Notes(1, "t", 0, explicit=True, intended_ns=0)
    node = object.__new__(_NotingNode)
    node._notes, node.env = notes, LeanEnv()
    request = KvRequest(
        Kind.GET, Route(Region(RegionId(1), b"", b"", (StoreId(1),)), 1), NOT_IN_FLIGHT, 0, 1
    )
    request.replied_ns = 5
    node.send(request)
    node.send(request)
    request.replied_ns = 9
    assert [sent.request.replied_ns for sent in notes.sent] == [5, 9]


def test_moments_spread_over_the_measured_time() -> None:
    moments_ns = sampling_moments_ns(scenarios(BRIEF)["in_memory"], 3)
    assert moments_ns == [100_000_000, 200_000_000, 300_000_000]
    begun = [each.root.begin_ns for each in trace_unit(scenarios(BRIEF)["in_memory"], 0, 3)]
    assert all(begin >= moment for begin, moment in zip(begun, moments_ns, strict=True))
    assert all(begin < moment + 20_000_000 for begin, moment in zip(begun, moments_ns, strict=True))


def test_a_file_is_in_the_trace_event_format(
    finished: Path, study: FinishedStudy, tmp_path: Path
) -> None:
    paths = list(write_traces(tmp_path, study, 3))
    assert [path.name for path in paths] == ["pipelined.json", "in_memory.json"]
    first = [path.read_bytes() for path in paths]
    content = json.loads(first[1])
    assert content["otherData"]["variant"] == "in_memory"
    named = set()
    for event in content["traceEvents"]:
        assert event["ph"] in {"X", "M"}
        assert event["pid"] == 1
        assert isinstance(event["tid"], int)
        if event["ph"] == "M":
            named.add(event["tid"])
            continue
        assert event["tid"] in named
        assert event["name"]
        assert event["dur"] >= 0
        assert event["ts"] >= 200_000
    assert next(write_traces(tmp_path, study, 3)).read_bytes() == first[0]


def test_names_of_a_scenario_stay_data() -> None:
    span = Span('</script>"\n', "transaction", 0, 1_500)
    text = chrome_trace([TracedTransaction(1, 'a"b', "committed", span, (), ())], "v", {"s": '"'})
    events = json.loads(text)["traceEvents"]
    assert [event["name"] for event in events if event["ph"] == "X"] == ['</script>"\n']
    assert [event["dur"] for event in events if event["ph"] == "X"] == [1.5]


def test_overlapping_spans_get_rows_of_their_own() -> None:
    spans = [Span(str(begin), "request", begin, end) for begin, end in ((0, 5), (3, 4), (5, 6))]
    assert [[span.name for span in lane] for lane in in_lanes(spans)] == [["0", "5"], ["3"]]


def test_a_reader_gets_the_nanoseconds_back() -> None:
    for time_ns in [*range(1, 3_000, 7), *range(10**9, 10**13, 10**9 + 123_457)]:
        assert int(microseconds(time_ns) * 1000) == time_ns
        assert microseconds(time_ns) == pytest.approx(time_ns / 1000, rel=1e-15)
