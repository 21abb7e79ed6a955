"""No station is ever busier than its servers are many, however large the crowd before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from analysis.study.load import load_study
from sim.record.facts import COUNTER, MemorySink
from sim.scenario import Scenario
from sim.simulation import run_unit

ROOT = Path(__file__).resolve().parents[2]
WINDOWS = 60
CPU = "store_cpu"
SPILLS = 0.02
"""CPU of a job counts when it begins: of the last ones of a time, a part runs after it."""


def crowded(cores: int) -> Scenario:
    """Returns stores with far more threads that want to run than there are hardware threads."""
    file = ROOT / "scenarios" / "sysbench_update_non_index.yaml"
    overrides = (
        "run.warmup=40ms", "run.measure=560ms", "run.window=10ms", "workload.kind=oltp_read_write",
        "workload.threads=400", "workload.table_rows=20000", f"hardware.store_cores={cores}",
    )  # fmt: skip
    return next(iter(load_study(file, overrides).variants.values()))


@pytest.mark.parametrize("cores", [2, 3])
def test_a_crowd_shares_the_hardware_threads(cores: int) -> None:
    sink = MemorySink()
    run_unit(crowded(cores), 0, sink)
    counted: Counter[tuple[str, int, str]] = Counter()
    rows: Iterable[tuple[Any, ...]] = sink.rows(COUNTER)
    for window, metric, station, value in rows:
        counted[metric, window, station] += value
    late: Counter[tuple[str, str]] = Counter()
    for (metric, window, station), value in counted.items():
        if metric == "capacity_ns" and station != CPU:
            assert counted["busy_ns", window, station] <= value, (window, station)
        if window >= WINDOWS // 2:
            late[metric, station] += value
    assert late["busy_ns", CPU] > 0.85 * late["capacity_ns", CPU], "no crowd"
    assert late["busy_ns", CPU] <= (1 + SPILLS) * late["capacity_ns", CPU]
