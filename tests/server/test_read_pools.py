"""Which threads serve reads: one pool for all, or one for point reads beside it.

Proves: a pool of their own with as many threads gives point reads the facts of the shared one (an
identity), it is as busy as the estimate's utilisation law says, and range reads are not in it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from analysis.study.load import load_study
from sim.estimate import estimate
from sim.record.facts import MemorySink
from sim.scenario import Scenario
from sim.scenario.schema.tikv import unified_readers
from sim.simulation import run_unit

FILE = Path(__file__).resolve().parents[2] / "scenarios" / "sysbench_update_non_index.yaml"
SHORT = ("run.warmup=20ms", "run.measure=60ms", "run.window=20ms", "run.checks=false",
         "workload.table_rows=100000")  # fmt: skip
OWN = "tikv.readpool.storage.normal-concurrency=3"
SHARED = "tikv.readpool.unified.max-thread-count=3"


def sysbench(kind: str, threads: int, *overrides: str) -> Scenario:
    load = (f"workload.kind={kind}", f"workload.threads={threads}")
    return load_study(FILE, (*SHORT, *load, *overrides)).variants["in_memory"]


def facts(scenario: Scenario) -> dict[str, list[tuple[object, ...]]]:
    """Returns what a unit has left, but for its read pools' own counters."""
    sink = MemorySink()
    run_unit(scenario, 0, sink)
    return {
        table: [row for row in sink.rows(table) if not str(row[2]).endswith("read_pool")]
        for table in sorted(sink.tables)
    }


def busy(scenario: Scenario) -> dict[str, float]:
    """Returns how busy each station was in the last window, as a share of its capacity."""
    sink = MemorySink()
    run_unit(scenario, 0, sink)
    counted: Counter[tuple[str, str]] = Counter()
    for window, metric, station, value in sink.rows("counter"):
        if window == 3:
            counted[str(metric), str(station)] += int(str(value))
    return {
        station: counted["busy_ns", station] / value
        for (metric, station), value in counted.items()
        if metric == "capacity_ns"
    }


def test_unless_told_otherwise_80_percent_of_the_cores_serve_all_reads() -> None:
    assert [unified_readers(cores) for cores in (2, 4, 8, 16, 40)] == [4, 4, 6, 12, 32]
    assert sysbench("oltp_read_only", 5).tikv.readpool_unified_max_thread_count == 12
    assert "storage_read_pool" not in busy(sysbench("oltp_read_only", 5))


def test_point_reads_fare_as_well_in_as_large_a_pool_of_their_own() -> None:
    own, shared, wider = (
        facts(sysbench("oltp_point_select", 60, *setting)) for setting in ([OWN], [SHARED], [])
    )
    assert own == shared
    assert own != wider


def test_range_reads_stay_in_the_unified_pool() -> None:
    found = busy(sysbench("oltp_point_select", 60, OWN))
    assert found["read_pool"] == 0
    assert found["storage_read_pool"] > 0.5
    found = busy(sysbench("oltp_read_only", 60, OWN))
    assert min(found["read_pool"], found["storage_read_pool"]) > 0.1


def test_the_estimate_has_both_pools() -> None:
    scenario = sysbench("oltp_read_only", 10, OWN)
    found = busy(scenario)
    stations = {each.name: each for each in estimate(scenario).stations}
    assert stations["storage_read_pool"].servers == 3
    for name in ("read_pool", "storage_read_pool"):
        assert stations[name].utilisation == pytest.approx(found[name], rel=0.15), name
