"""What holds by construction and only a bug could break: tests, no anchors.

TiDB docs: single-statement autocommit transactions are tried optimistically, so no lock is asked
for. tikv/tikv#8045, src/storage/txn/scheduler.rs: when latches are freed. tikv/tikv#8499: leaders
that move fail no transaction (0 of 11,112,480 in tipocket's transfer test).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from analysis.study.load import load_study
from sim.record.facts import COUNTER, TABLES, MemorySink
from sim.simulation import run_unit

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
TPCC = "tpcc_i3_4xlarge"
BRIEF = ["run.warmup=60ms", "run.measure=60ms", "run.window=20ms"]


def sink_of(name: str, variant: str, overrides: list[str]) -> MemorySink:
    study = load_study(SCENARIOS / f"{name}.yaml", overrides)
    sink = MemorySink()
    run_unit(study.scenario(study.points[0], variant), 0, sink)
    return sink


def counted(sink: MemorySink) -> Counter[str]:
    counts: Counter[str] = Counter()
    for _, metric, class_, value in sink.rows(COUNTER):
        counts[str(metric)] += int(value)
        counts[f"{metric}:{class_}"] += int(value)
    return counts


def test_no_kind_of_lock_touches_autocommit_updates() -> None:
    overrides = ["run.warmup=60ms", "run.measure=40ms", "run.window=20ms"]
    old, new = (
        sink_of("sysbench_update_non_index", variant, overrides)
        for variant in ("pipelined", "in_memory")
    )
    assert counted(new)["txns"] > 100
    assert all(old.rows(table) == new.rows(table) for table in TABLES)


def test_of_prewrites_before_their_own_lock_is_applied_all_wait() -> None:
    counts = counted(sink_of(TPCC, "pipelined", BRIEF))
    assert counts["early_prewrites:waited"] > 100
    assert counts["early_prewrites:overtook"] == 0


@pytest.mark.parametrize(("name", "variant"), [(TPCC, "in_memory"), ("rfc77", "sync")])
def test_no_prewrite_waits_for_its_own_lock_in_memory_or_applied(name: str, variant: str) -> None:
    counts = counted(sink_of(name, variant, BRIEF))
    assert counts["txns"] > 100
    assert counts["own_latch_waits"] == 0


def test_leaders_that_move_abort_no_prewrite() -> None:
    counts = counted(sink_of("shuffle_leader", "in_memory", ["run.measure=7s"]))
    assert counts["leader_transfers"] > 3
    assert counts["txns"] > 3
    assert counts["prewrites_aborted"] == 0
