"""What a finished study does not show: mechanisms that idled, quantiles of too few values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis.lint.vacuity import Facts, study_warnings
from analysis.study.study import Study
from tests.lint.test_scenario_lint import BASE, CLOSED, does
from tests.study.study_files import study_of

PLENTY = {
    ("txns", "move", "total"): 9_000.0,
    ("locks_total", "pipelined", "total"): 9_000.0,
    ("locks_total", "in_memory", "total"): 9_000.0,
    ("lock_latency", "all", "count"): 18_000.0,
    ("txn_latency", "all", "count"): 9_000.0,
}
Counts = dict[tuple[str, str, str], float]


def facts_of(study: Study, counts: Sequence[Counts]) -> Facts:
    """Returns the facts of one replication of each variant at each point, in their order."""
    cases = [(place, name) for place in range(len(study.points)) for name in study.variants]
    rows = [
        PLENTY | {("events", "all", "total"): place} | counts[place % len(counts)]
        for place in range(len(cases))
    ]
    sums = pd.DataFrame(rows)
    sums.columns = pd.MultiIndex.from_tuples([tuple(name) for name in sums.columns])
    units = pd.DataFrame(cases, columns=["point_index", "variant"])
    units = units.assign(replication=0, verdict="stable")
    return Facts(units, sums, study.points)


def warned(folder: Path, overrides: Sequence[str], *counts: Counts) -> list[dict[str, Any]]:
    study = study_of(folder, BASE, *overrides)
    return study_warnings(study, facts_of(study, counts or [{}]))


TRANSFERS = does("rate: 1/s, do: transfer_leader, region: random")
MOVED = {
    ("leader_transfers", "all", "total"): 160.0,
    ("lock_fates", "migrated:transfer", "total"): 90.0,
}
WAITED = ("lock_wait", "all", "count")
HOT = "workload.transactions.move.statements=[{lock: acct, rows: 1, hot: {rows: 9, fraction: 1}}]"
FULL = "compare.full={tikv.pessimistic-txn.in-memory-peer-size-limit: 1KiB}"
FELL_BACK = ("locks_total", "fallback:full", "total")

CASES: list[tuple[str, list[str], Counts, Counts]] = [
    (
        "pipelined: only 7 committed transactions in all replications, 30 are needed; lengthen",
        [],
        {("txns", "move", "total"): 7.0},
        {("txns", "move", "total"): 30.0},
    ),
    (
        "pipelined: only 1 committed transaction in all replications, 30 are needed; lengthen",
        [],
        {("txns", "move", "total"): 1.0},
        {("txns", "move", "total"): 30.0},
    ),
    (
        "in_memory: only 1 lock in memory in all replications, 30 are needed",
        [],
        {("locks_total", "in_memory", "total"): 1.0},
        {("locks_total", "in_memory", "total"): 31.0},
    ),
    (
        "in_memory: no locks in memory in all replications, 30 are needed",
        [],
        {("locks_total", "in_memory", "total"): 0.0},
        {("locks_total", "in_memory", "total"): 31.0},
    ),
    (
        "in_memory: only 29 leader transfers in all replications",
        [TRANSFERS],
        MOVED | {("leader_transfers", "all", "total"): 29.0},
        MOVED,
    ),
    (
        "in_memory: no locks moved by a transfer in all replications, 30 are needed; hold locks",
        [TRANSFERS],
        MOVED | {("lock_fates", "migrated:transfer", "total"): 0.0},
        MOVED,
    ),
    (
        "pipelined: no crash_store in all replications; lengthen run.measure",
        [does("at: 10s, do: crash_store, store: 1")],
        {},
        {("operations", "crash_store", "total"): 1.0},
    ),
    (
        "in_memory: no transfer_leader in all replications",
        [does("at: 10s, do: transfer_leader, region: 1")],
        {},
        {("operations", "transfer_leader", "total"): 2.0},
    ),
    (
        "in_memory: only 3 contended locks",
        [HOT],
        {WAITED: 3.0},
        {WAITED: 300.0},
    ),
    (
        "full: no locks that fell back in all replications, 30 are needed; tikv.pessimistic-txn",
        [FULL, *CLOSED],
        {},
        {FELL_BACK: 200.0},
    ),
    (
        "lock_latency_ms.p99 rests on 999 values in a replication of pipelined "
        "(and too few of in_memory), 1,000 are needed; lengthen run.measure to 3100ms",
        ["run.measure=3s", "run.precision={lock_latency_ms.p99: 5%}"],
        {("lock_latency", "all", "count"): 999.0},
        {("lock_latency", "all", "count"): 1_000.0},
    ),
    (
        "txn_latency_ms.p99, which the scenario does not ask for, is only rough: it rests on 999 "
        "values in a replication of pipelined (and too few of in_memory), 1,000 are needed. To",
        [],
        {("txn_latency", "all", "count"): 999.0},
        {("txn_latency", "all", "count"): 1_000.0},
    ),
    (
        "txn_latency_ms.move.p95 rests on 150 values in a replication of pipelined",
        ["run.precision={txn_latency_ms.move.p95: 5%}"],
        {("txn_latency", "move", "count"): 150.0},
        {("txn_latency", "move", "count"): 250.0},
    ),
]


@pytest.mark.parametrize(
    ("expected", "overrides", "thin", "enough"), CASES, ids=[case[0] for case in CASES]
)
def test_what_hardly_happened_is_told_and_what_did_is_not(
    expected: str, overrides: list[str], thin: Counts, enough: Counts, tmp_path: Path
) -> None:
    texts = [warning["text"] for warning in warned(tmp_path, overrides, thin)]
    assert any(text.startswith(expected) for text in texts), texts
    assert warned(tmp_path, overrides, enough) == []


@pytest.mark.parametrize(
    ("in_a_batch", "remedy"),
    [(578.0, "write run.batches: 2"), (150.0, "lengthen run.measure to 17s")],
)
def test_a_figure_of_batches_names_the_key_that_gives_it_values(
    in_a_batch: float, remedy: str, tmp_path: Path
) -> None:
    batches = ["run.warmup=1s", "run.measure=2500ms", "run.batches=5"]
    (only,) = warned(tmp_path, batches, {("txn_latency", "all", "count"): in_a_batch})
    assert only["kind"] == "unasked"
    assert "in a batch of pipelined (and too few of in_memory), 1,000 are needed" in only["text"]
    assert only["text"].endswith(f". To rely on it, {remedy}")


def test_what_hardly_ever_happens_is_no_figure_that_anybody_relies_on(tmp_path: Path) -> None:
    study = study_of(tmp_path, BASE)
    rare = facts_of(study, [{("lock_latency", "all", "count"): 9.0}])
    assert list(study_warnings(study, rare)) == []


@pytest.mark.parametrize(("verdict", "told"), [("near saturation", 2), ("outage", 0),
                                               ("degraded", 0), ("overloaded", 0)])  # fmt: skip
def test_no_longer_run_is_advised_for_latencies_that_are_not_told(
    verdict: str, told: int, tmp_path: Path
) -> None:
    study = study_of(tmp_path, BASE)
    few = {("txn_latency", "all", "count"): 10.0, ("lock_latency", "all", "count"): 10.0}
    facts = facts_of(study, [few])
    facts = facts._replace(units=facts.units.assign(verdict=verdict))
    assert [each["kind"] for each in study_warnings(study, facts)] == ["unasked"] * told


@pytest.mark.parametrize(("verdict", "told"), [("degraded", 2), ("outage", 0)])
def test_no_longer_run_is_advised_where_work_stopped_for_good(
    verdict: str, told: int, tmp_path: Path
) -> None:
    study = study_of(tmp_path, BASE)
    facts = facts_of(study, [{("txns", "move", "total"): 0.0}])
    facts = facts._replace(units=facts.units.assign(verdict=verdict))
    assert [each["kind"] for each in study_warnings(study, facts)] == ["mechanism"] * told


def test_locks_that_the_feature_gate_keeps_out_of_memory_are_not_missed(tmp_path: Path) -> None:
    old = ["cluster.store_versions=5.4.0"]
    none = {("locks_total", "in_memory", "total"): 0.0}
    assert [each["kind"] for each in warned(tmp_path, old, none)] == ["scenario"]


def test_a_sweep_may_begin_with_little(tmp_path: Path) -> None:
    sweep = "sweep.grid={operations.it.rate: [1/s, 10/s]}"
    few = MOVED | {("leader_transfers", "all", "total"): 3.0}
    assert warned(tmp_path, [TRANSFERS, sweep], few, few, MOVED, MOVED) == []


def test_a_point_at_which_nothing_happened_is_named(tmp_path: Path) -> None:
    sweep = "sweep.grid={operations.it.rate: [1/s, 10/s]}"
    none = dict.fromkeys(MOVED, 0.0)
    first, *_ = warned(tmp_path, [TRANSFERS, sweep], none, none, MOVED, MOVED)
    assert first == {
        "kind": "mechanism",
        "variant": "pipelined",
        "point": {"operations.it.rate": "1/s"},
        "text": "pipelined: no leader transfers at 1 of 2 points (operations.it.rate = 1/s); "
        "lengthen run.measure",
    }


def test_what_the_file_could_not_show_is_among_them(tmp_path: Path) -> None:
    (only,) = warned(tmp_path, ["run.replications=1"])
    assert only["kind"] == "scenario"
    assert only["key"] == "run.replications"
    assert only["text"].startswith("run.replications: one replication has no interval")


def test_variants_that_do_not_differ_in_any_fact_of_any_unit_are_told(tmp_path: Path) -> None:
    study = study_of(tmp_path, BASE, "sweep.grid={workload.rate: [100/s, 200/s]}")
    facts = facts_of(study, [{}])
    assert study_warnings(study, facts) == []
    events = ("events", "all", "total")
    alike = facts._replace(sums=facts.sums.copy())
    alike.sums[events] = alike.units["point_index"]
    (only,) = study_warnings(study, alike)
    assert (only["kind"], only["variant"]) == ("alike", "in_memory")
    assert only["text"].startswith("in_memory and pipelined came out alike in every figure")
    alike.sums[events] = [0, 0, 1, 2]  # at one of two points they do differ
    assert study_warnings(study, alike) == []
