"""What each of sysbench's scripts asks for, run and on paper, against arithmetic (its figures)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from sim.client.tidb import TidbNode
from sim.estimate import estimate, footprint_of
from sim.pd.tso import TimestampOracle
from sim.record.facts import MemorySink
from sim.scenario import Scenario
from sim.scenario.schema.arrival import SCRIPTS
from sim.simulation import SimulatedUnit
from sim.storage.request import Kind, KvRequest
from sim.streams import Streams
from sim.units import NS_PER_MS, NS_PER_S
from sim.workload.statement import Statement, Transaction
from sim.workload.sysbench import SysbenchWorkload
from tests.scenes import PIPELINED, scenario, script
from tests.sysbench_figures import COMMAND, EXPECTED

CLIENTS = 8
REPLICAS = 3


def test_every_script_is_expected_to_do_something() -> None:
    assert set(EXPECTED) == set(SCRIPTS)


BEGIN_NS = {"oltp_read_only": 600 * NS_PER_MS, "oltp_read_write": 600 * NS_PER_MS}
"""How long transactions are begun, by script; 200 ms else."""
END_NS = 100 * NS_PER_MS
"""How long a run then waits for what was begun."""


def of_script(kind: str, **workload: Any) -> Scenario:
    return scenario(
        "sysbench_write_only",
        run={"warmup_ns": 0, "measure_ns": BEGIN_NS.get(kind, 200 * NS_PER_MS) + END_NS},
        tikv=PIPELINED | {"behaviour": "v6.0", "cmd_batch": False},
        workload={"kind": kind, "threads": CLIENTS} | workload,
    )


@dataclass(frozen=True)
class Run:
    """A run that has ended all it began, with what was sent."""

    unit: SimulatedUnit
    sent: Counter[str]
    timestamps: int

    @property
    def transactions(self) -> int:
        return self.unit.stats.total_committed()

    def counted(self, metric: str, class_: str = "all") -> float:
        return self.unit.recorder.counter(metric, class_).value / self.transactions


@cache
def run(kind: str) -> Run:
    """Runs a script until what was begun has ended."""
    return run_of(of_script(kind))


def run_of(of: Scenario) -> Run:
    unit = SimulatedUnit(of, 0, MemorySink())
    sent, handed_out = Counter[str](), Counter[str]()
    draw, send, hand_out = SysbenchWorkload.transaction, TidbNode.send, TimestampOracle.next

    def draw_or_sleep(workload: SysbenchWorkload, client: int) -> Transaction:
        if unit.env.now_ns < of.run.measure_ns - END_NS:
            return draw(workload, client)
        return script(Statement("SELECT SLEEP", pause_ns=NS_PER_S), name="sleep")

    def count_request(node: TidbNode, request: KvRequest) -> None:
        sent[Kind(request.kind).name.lower()] += 1
        send(node, request)

    def count_timestamp(oracle: TimestampOracle, now_ns: int) -> int:
        handed_out["all"] += 1
        return hand_out(oracle, now_ns)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SysbenchWorkload, "transaction", draw_or_sleep)
        patch.setattr(TidbNode, "send", count_request)
        patch.setattr(TimestampOracle, "next", count_timestamp)
        unit.run()
    return Run(unit, sent, handed_out["all"] - CLIENTS)  # Each client ends with a sleep.


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_run_sends_the_requests(kind: str) -> None:
    found, expected = run(kind), EXPECTED[kind]
    assert found.transactions > 100
    each = {name: count / found.transactions for name, count in found.sent.items()}
    assert each == pytest.approx(dict(expected.requests), rel=0.03)
    assert found.counted("mutations") == pytest.approx(expected.mutations, rel=0.005)
    assert found.counted("lock_rpcs") == pytest.approx(expected.requests.get("lock", 0), rel=0.005)


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_run_fetches_the_timestamps(kind: str) -> None:
    found = run(kind)
    assert found.timestamps == EXPECTED[kind].timestamps * found.transactions


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_run_proposes_every_command_and_its_bytes(kind: str) -> None:
    found, expected = run(kind), EXPECTED[kind]
    # A prewrite that commits in one phase writes what a commit writes, and counts as one.
    one_phase = kind == "oltp_update_non_index"
    causes = {"lock": "lock", "prewrite": "commit" if one_phase else "prewrite", "commit": "commit"}
    for command, asked in expected.requests.items():
        if command in causes:
            assert found.counted("proposals", causes[command]) == pytest.approx(asked, rel=0.03)
    for command, size in (expected.raft or {}).items():
        written = found.counted("raft_entry_bytes", causes[command]) / REPLICAS
        # Two rows that happen to be in one region are committed in one phase, by one request.
        made = found.counted("proposals", causes[command]) / expected.requests[command]
        assert written == pytest.approx(size * made, rel=0.005)
    reads_only = not expected.mutations
    assert (sum_of(found, "disk_write_bytes") == 0) == reads_only


def sum_of(found: Run, metric: str) -> float:
    return sum(each.value for each in found.unit.recorder.counters() if each.metric == metric)


@pytest.mark.parametrize("kind", SCRIPTS)
def test_paper_agrees(kind: str) -> None:
    made, expected = footprint_of(of_script(kind)), EXPECTED[kind]
    assert (made.statements, made.timestamps) == pytest.approx(
        (expected.statements, expected.timestamps)
    )
    each = {name: requests.count for name, requests in made.requests.items()}
    assert each == pytest.approx(dict(expected.requests), rel=0.03)
    for command, size in (expected.raft or {}).items():
        requests = next(of for name, of in made.requests.items() if name == command)
        # A sample of 300; a row and its entry may share the region in which the index ends.
        assert requests.raft + COMMAND * requests.count == pytest.approx(size, rel=0.01)


def numbers_of(value: Any) -> Iterator[float]:
    """Yields every number in a tree of tables and tuples."""
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, int | float):
        yield value
    elif not isinstance(value, str | None):
        for part in value:
            yield from numbers_of(part)


@pytest.mark.parametrize("kind", ["oltp_point_select", "oltp_read_only"])
@pytest.mark.parametrize("load", [{"threads": 100}, {"threads": None, "rate_per_s": 500.0}])
def test_what_only_reads_has_an_estimate(kind: str, load: dict[str, Any]) -> None:
    found = estimate(of_script(kind, **load))
    assert found.txn_per_s > 0
    assert found.lock_latency_ms is None
    assert found.bytes_per_txn == found.proposals_per_txn == found.fsyncs_per_s == 0
    stations = [(each.utilisation, each.service_ms, each.queue) for each in found.stations]
    assert all(0 <= number < 1e6 for number in numbers_of(stations))


def test_inserts_go_to_the_last_region_of_each_table() -> None:
    made = footprint_of(of_script("oltp_insert", tables=2))
    rows = [group for group in made.region_groups if group.regions == 1 and group.visits > 0.3]
    assert len(rows) == 2


def test_a_small_table_is_one_region_and_commits_in_one_phase() -> None:
    for kind in ("oltp_insert", "oltp_delete", "oltp_update_index"):
        made = footprint_of(of_script(kind, table_rows=10_000))
        assert "commit" not in made.requests
        assert made.requests["prewrite"].count == pytest.approx(1)


def test_a_row_is_deleted_once() -> None:
    """With 40 rows, a delete soon finds its row gone: it reads and writes nothing."""
    found = run_of(of_script("oltp_delete", tables=1, table_rows=40))
    assert found.transactions > 200
    assert found.sent["get"] >= found.transactions
    # A row and an entry of each, and once more where two clients met.
    assert 40 * 2 <= found.counted("mutations") * found.transactions < 60 * 2


def test_point_gets_read_the_newest_version_among_writers() -> None:
    """Half of the clients write 20 rows, half read them without a timestamp: checkers watch."""
    of = of_script("oltp_update_index", tables=1, table_rows=20)
    unit = SimulatedUnit(of, 0, MemorySink())
    readers = SysbenchWorkload("oltp_point_select", Streams(1, 0), tables=1, rows=20)
    draw = SysbenchWorkload.transaction

    def read_or_write(workload: SysbenchWorkload, client: int) -> Transaction:
        return draw(readers if client % 2 else workload, client)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SysbenchWorkload, "transaction", read_or_write)
        unit.run()
    assert of.run.checks
    assert not unit.result().violations
    for kind in ("oltp_point_select", "oltp_update_index"):
        assert unit.recorder.counter("txns", kind).value > 100
