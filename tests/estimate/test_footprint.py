"""A transaction on paper asks for what a simulated one asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.study.load import load_study
from sim.estimate import Footprint, draw, footprint_of, mean_of
from sim.estimate.planned_request import RequestKind
from sim.record.facts import MemorySink
from sim.scenario import Scenario
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_S
from tests.scenes import FOLDER


def scenario_of(name: str, *overrides: str) -> Scenario:
    return next(iter(load_study(FOLDER / f"{name}.yaml", list(overrides)).variants.values()))


def simulated(scenario: Scenario, seconds: float) -> dict[tuple[str, str], float]:
    """Returns every counter of a run, per transaction begun."""
    run = replace(scenario.run, warmup_ns=0, measure_ns=int(seconds * NS_PER_S), checks=False)
    unit = SimulatedUnit(replace(scenario, run=run), 0, MemorySink())
    unit.run()
    begun = unit.stats.started.value
    return {(each.metric, each.class_): each.value / begun for each in unit.recorder.counters()}


@pytest.mark.parametrize(
    ("name", "overrides", "seconds"),
    [
        ("sysbench_write_only", ("workload.threads=4",), 0.6),
        ("sysbench_update_non_index", ("workload.threads=4",), 0.5),
        ("crash", (), 2.0),
        ("hot_region_full", ("workload.threads=4",), 2.0),
    ],
)
def test_requests_and_records_are_those_of_a_simulated_session(
    name: str, overrides: tuple[str, ...], seconds: float
) -> None:
    scenario = scenario_of(name, "hardware.cpu.cv=0", *overrides)
    made, seen = footprint_of(scenario), simulated(scenario, seconds)
    for kind in ("lock", "prewrite", "commit"):
        counted = seen.get((f"{kind}_rpcs", "all"), 0.0)
        assert _count(made, kind) == pytest.approx(counted, rel=0.04, abs=0.01)
    cpu = scenario.hardware.cpu
    assert made.statements == pytest.approx(
        seen["busy_ns", "client_cpu"] / cpu.client_statement_ns, rel=0.05
    )
    assert seen["busy_ns", "tidb_cpu"] == pytest.approx(
        made.statements * cpu.tidb_statement_ns
        + made.changing_statements * cpu.tidb_write_ns
        + made.rows * cpu.tidb_row_ns
        # On an idle cluster no request finds a message open.
        + made.all_requests * (cpu.tidb_request_ns + 2 * cpu.grpc_message_ns),
        rel=0.05,
    )


def _count(made: Footprint, kind: str) -> float:
    return sum(each.count for name, each in made.requests.items() if name == kind)


def test_bytes_of_entries_are_those_that_are_proposed() -> None:
    scenario = scenario_of("sysbench_write_only", "workload.threads=2")
    made, seen = footprint_of(scenario), simulated(scenario, 2.0)
    kinds: tuple[RequestKind, ...] = ("lock", "prewrite", "commit")
    for kind in kinds:
        command = made.requests[kind]
        entries = 40 * command.count  # ENTRY_OVERHEAD_BYTES of commands that share no entry
        proposed = seen["raft_entry_bytes", kind] / scenario.cluster.replicas
        assert command.raft + entries == pytest.approx(proposed, rel=0.03)


def test_one_phase_commit_writes_versions_at_once() -> None:
    made = footprint_of(scenario_of("hot_row"))
    assert "commit" not in made.requests
    assert made.requests["prewrite"].data_cf > 0
    assert made.requests["prewrite"].tombstones > 0


def test_two_phase_commit_asks_for_a_timestamp_and_waits_for_the_primary() -> None:
    settings = ("cluster.tidb.tidb_enable_async_commit=false",
                "cluster.tidb.tidb_enable_1pc=false")  # fmt: skip
    plain, quick = footprint_of(scenario_of("crash", *settings)), footprint_of(scenario_of("crash"))
    assert ("commit", 1) in plain.rounds
    assert ("commit", 1) not in quick.rounds
    assert plain.timestamps == pytest.approx(2.0)


def test_classes_count_with_their_true_share() -> None:
    made = footprint_of(scenario_of("rfc77"))
    few = mean_of(draw(scenario_of("rfc77"), 200))
    # NewOrder locks ten stock rows, a Delivery 130 rows: what is drawn is weighted.
    assert made.requests["lock"].keys == pytest.approx(few.requests["lock"].keys, rel=0.06)
    assert made.committed == pytest.approx(1 - 0.45 * 0.01, abs=0.01)


def test_a_hot_row_is_found() -> None:
    hot = footprint_of(scenario_of("hot_row")).contention
    assert (hot.hottest, hot.collision) == pytest.approx((1.0, 1.0))
    assert hot.statements_held == pytest.approx(2.0)  # UPDATE and COMMIT
    spread = footprint_of(scenario_of("sysbench_write_only")).contention
    assert spread.hottest == 0.0


@pytest.mark.parametrize(
    ("name", "sought"),
    [
        # It reads its row, and commits in one phase without having locked it.
        ("sysbench_update_non_index", {"get": 1.0, "prewrite": 1.0}),
        ("crash", {"lock": 1.0, "prewrite": 0.0, "commit": 0.0}),
    ],
)
def test_what_knows_its_locks_looks_for_no_versions(name: str, sought: dict[str, float]) -> None:
    requests = footprint_of(scenario_of(name)).requests
    shares = {kind: each.sought / each.keys for kind, each in requests.items()}
    assert shares == pytest.approx(sought)
