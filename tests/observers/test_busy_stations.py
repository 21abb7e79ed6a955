"""No station is busier than its servers are many, however large the crowd before it."""

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
WINDOWS = 120
SPILLS = 0.02
"""A job counts when it begins, and some run for 0.1 s here: of the last ones of a time, a part runs
after it."""


def crowded(cores: int) -> Scenario:
    """Returns stores with far more threads that want to run than there are hardware threads."""
    file = ROOT / "scenarios" / "sysbench_update_non_index.yaml"
    overrides = (
        "run.warmup=40ms", "run.measure=1160ms", "run.window=10ms", "workload.kind=oltp_read_write",
        "workload.threads=400", "workload.table_rows=20000", f"hardware.store_cores={cores}",
    )  # fmt: skip
    return next(iter(load_study(file, overrides).variants.values()))


@pytest.mark.parametrize("cores", [2, 4])
def test_a_crowd_shares_the_hardware_threads(cores: int) -> None:
    sink = MemorySink()
    run_unit(crowded(cores), 0, sink)
    totals: Counter[tuple[str, str]] = Counter()
    rows: Iterable[tuple[Any, ...]] = sink.rows(COUNTER)
    for window, metric, class_, value in rows:
        if window >= WINDOWS // 2:
            totals[metric, class_] += value
    busy = {
        name: totals["busy_ns", name] / capacity
        for (metric, name), capacity in totals.items()
        if metric == "capacity_ns"
    }
    assert busy["store_cpu"] > 0.8, "no crowd"
    assert max(busy.values()) <= 1 + SPILLS, busy
