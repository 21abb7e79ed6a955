"""Every rule warns where it should, and is silent where it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.lint.scenario_lint import scenario_warnings
from tests.study.study_files import study_of

BASE = """\
about: Which?
run: {warmup: 2s, measure: 40s, replications: 4}
cluster: {regions: 12}
workload:
  kind: custom
  rate: 300/s
  tables: {acct: {rows: 1000}}
  transactions:
    move:
      statements:
        - {lock: acct, rows: 2}
        - {update: acct, pause: 20ms}
compare:
  pipelined: {tikv.pessimistic-txn.in-memory: false}
  in_memory: {tikv.pessimistic-txn.in-memory: true}
"""
GP3 = ("hardware.profile=gp3_max", "run.warmup=300ms", "run.measure=500ms")
CLOSED = ("workload.rate=null", "workload.threads=8")


def warned(folder: Path, *overrides: str) -> list[str]:
    """Returns all warnings of the scenario above with some keys changed."""
    return [str(warning) for warning in scenario_warnings(study_of(folder, BASE, *overrides))]


@pytest.mark.parametrize("load", ["threads: 50", "rate: 1000/s"])
def test_what_a_scenario_leaves_to_defaults_needs_no_warning(tmp_path: Path, load: str) -> None:
    text = f"about: Which?\nworkload: {{kind: tpcc, warehouses: 100, {load}}}\n"
    assert [str(warning) for warning in scenario_warnings(study_of(tmp_path, text))] == []


def does(operation: str) -> str:
    return f"operations=[{{name: it, {operation}}}]"


PAUSES = (
    "workload.transactions.move.statements="
    "[{lock: acct, rows: 1}, {lock: acct, rows: 1, pause: 3s}, {update: acct, pause: 3s}]"
)
TWO_DIE = (
    "operations=[{name: it, at: 3s, do: crash_store, store: 1%s}, "
    "{name: other, at: 4500ms, do: crash_store, store: 2}]"
)
ONE_KIND = "compare=null"
AUTOCOMMIT = "workload.transactions.move={autocommit: true, statements: [{update: acct, rows: 1}]}"
CASES = [
    (
        "compare: the kind of locks makes no difference to transactions that take none",
        [AUTOCOMMIT],
        [AUTOCOMMIT, ONE_KIND],
    ),
    (
        "operations.other.at: from 4500ms to the end too many stores are down for a quorum",
        [TWO_DIE % ""],
        [TWO_DIE % ", for: 10s"],
    ),
    (
        "operations.it.region: nothing splits a region, so there is no region 13 and transfer_lead",
        [does("at: 3s, do: transfer_leader, region: 13")],
        [does("at: 3s, do: transfer_leader, region: 12")],
    ),
    (
        "workload.threads: clients that wait for each answer send nothing while crash_store",
        [*CLOSED, does("at: 3s, do: crash_store, store: 1")],
        [*CLOSED, does("at: 3s, do: transfer_leader, region: random")],
    ),
    (
        "operations.it.do: no crash_store stops a store, so there is none to start again",
        [does("at: 3s, do: restart_store, store: 1")],
        [
            "operations=[{name: crash, at: 3s, do: crash_store, store: 1}, "
            "{name: it, at: 5s, do: restart_store, store: 1}]"
        ],
    ),
    (
        "run.replications: one replication has no interval; write 5",
        ["run.replications=1"],
        ["run.replications=2"],
    ),
    (
        "run.replications: rounds that begin with 2 replications",
        ["run.replications=2", "run.precision={txn_per_s: 5%}"],
        ["run.replications=3", "run.precision={txn_per_s: 5%}"],
    ),
    (
        "run.warmup: auto has only 30 windows of 100ms",
        ["run.warmup=auto", "run.measure=2s"],
        ["run.warmup=auto", "run.measure=4s"],
    ),
    (
        "run.measure: only 1 window of 100ms, too few to judge whether the cluster carries its "
        "load (5 are needed); lengthen it, or write run.window: 30ms",
        ["run.measure=150ms"],
        ["run.measure=150ms", "run.window=30ms"],
    ),
    (
        "run.measure: 5s is shorter than the pauses of transaction move (6s)",
        ["run.measure=5s", PAUSES],
        ["run.measure=40s", PAUSES],
    ),
    (
        "hardware.disk.raft.burst: 1s of burst budget outlast the run of 800ms",
        [*GP3, "hardware.disk.raft.burst=1s"],
        [*GP3, "hardware.disk.raft.burst=100ms"],
    ),
    (
        "operations.it.at: 42s is no earlier than the end of the run (42s, warm-up included)",
        [does("at: 42s, do: split_region, region: random")],
        [does("at: 41s, do: split_region, region: random")],
    ),
    (
        "operations.it.from: 50s is no earlier than the end",
        [does("rate: 10/s, from: 50s, do: split_region, region: random")],
        [does("rate: 10/s, from: 5s, do: split_region, region: random")],
    ),
    (
        "operations.it.at: it is over at 1s, within the warm-up of 2s",
        [does("at: 1s, do: transfer_leader, region: 1")],
        [does("at: 1s, do: split_region, region: random")],
    ),
    (
        "operations.it.at: it is over at 1500ms, within the warm-up",
        [does("at: 1s, do: slow_disk, store: 1, factor: 3, for: 500ms")],
        [does("at: 1s, do: slow_disk, store: 1, factor: 3, for: 5s")],
    ),
    (
        "operations.it.every: 41s is longer than the measured 40s",
        [does("every: 41s, do: split_region, region: random")],
        [does("every: 5s, do: split_region, region: random")],
    ),
    (
        "operations.it.at: it lasts until 45s at least, and the run ends at 42s",
        [does("at: 5s, do: slow_disk, store: 1, factor: 3, for: 40s")],
        [does("at: 5s, do: slow_disk, store: 1, factor: 3")],
    ),
    (
        "operations.it.at: it takes until 43s at least",
        [does("at: 5s, do: evict_leader, store: each, restart: true, down: 6s, pause: 10s")],
        [does("at: 5s, do: evict_leader, store: each, restart: true, down: 4s, pause: 8s")],
    ),
    (
        "operations.it.at: an election takes up to 20s, and only 7s are left",
        [does("at: 35s, do: crash_store, store: 1")],
        [does("at: 15s, do: crash_store, store: 1")],
    ),
    (
        "operations.it.at: an election takes up to 20s",
        [does("at: 35s, do: partition, groups: [[1], [2, 3]]")],
        [does("at: 35s, do: partition, groups: [[tidb-0], [1, 2, 3]]")],
    ),
    (
        "operations.it.rate: it happens about 16 times in all replications",
        [does("rate: 0.1/s, do: transfer_leader, region: random")],
        [does("rate: 1/s, do: transfer_leader, region: random")],
    ),
    (
        "workload.threads: clients that wait for each answer send nothing while crash_store",
        [does("at: 10s, do: crash_store, store: 1"), *CLOSED],
        [does("at: 10s, do: crash_store, store: 1")],
    ),
    (
        "workload.threads: clients that wait for each answer send nothing while slow_disk",
        [does("at: 10s, do: slow_disk, store: 1, factor: 100"), *CLOSED],
        [does("at: 10s, do: slow_disk, store: 1, factor: 2"), *CLOSED],
    ),
    (
        "cluster.replicas: regions with one replica have no other leader",
        [does("at: 10s, do: transfer_leader, region: 1"), "cluster.replicas=1"],
        [does("at: 10s, do: transfer_leader, region: 1")],
    ),
    (
        "cluster.regions: a single region has no neighbour",
        [does("at: 10s, do: merge_region, region: 1"), "cluster.regions=1"],
        [does("at: 10s, do: merge_region, region: 1")],
    ),
    (
        "compare.in_memory: its locks are synchronous, not in memory",
        ["compare.in_memory={tikv.pessimistic-txn.pipelined: false}"],
        [],
    ),
    (
        "compare.base: the baseline is the first variant, pipelined; move base to the top",
        ["compare.base={tikv.raftstore.store-pool-size: 5}"],
        ["compare.more_threads={tikv.raftstore.store-pool-size: 5}"],
    ),
    (
        "compare.sync.tikv.pessimistic-txn.in-memory-fallback: locks of sync are synchronous",
        ["compare.sync={tikv.pessimistic-txn.pipelined: false,"
         " tikv.pessimistic-txn.in-memory-fallback: pipelined}"],
        ["compare.in_memory_2={tikv.pessimistic-txn.in-memory-fallback: pipelined}"],
    ),
    (
        "cluster.store_versions: a store of 5.4.0 keeps the feature gate closed",
        ["cluster.store_versions=5.4.0"],
        ["cluster.store_versions=5.4.0", does("at: 5s, do: upgrade_store, store: each, to: 6.0.0, "
                                              "down: 1s, pause: 1s")],
    ),
    (
        "cluster.store_versions: stores of 8.5.0 still have the rules and defaults of v6.0: here a",
        ["cluster.store_versions=8.5.0"],
        ["cluster.store_versions=8.5.1", "tikv.behaviour=v8.5"],
    ),
    (
        "expect[0]: it cannot hold: locks of pipelined are pipelined, and none is in_memory",
        ["expect=[{metric: locks_total, class: in_memory, variant: pipelined, above: 5}]"],
        ["expect=[{metric: locks_total, class: in_memory, variant: in_memory, above: 5}]"],
    ),
    (
        "expect[0]: it cannot hold: no operation produces splits",
        ["expect=[{metric: splits, variant: in_memory, above: 5}]"],
        ["expect=[{metric: splits, variant: in_memory, below: 5}]"],
    ),
    (
        "expect[0]: it cannot hold: the workload has no transaction new_order; it has move",
        ["expect=[{metric: txn_latency_ms, class: new_order, variant: in_memory, below: 5}]"],
        ["expect=[{metric: txn_latency_ms, class: move, variant: in_memory, below: 5}]"],
    ),
    (
        "run.precision.tpmc: there is no such number: only tpcc has tpmc; the workload is custom",
        ["run.precision={tpmc: 5%}"],
        ["run.precision={txn_per_s: 5%}"],
    ),
    (
        "run.precision.lock_latency_ms: there is no such number: custom takes no pessimistic",
        [AUTOCOMMIT, ONE_KIND, "run.precision={lock_latency_ms: 5%}"],
        ["run.precision={lock_latency_ms: 5%}"],
    ),
    (
        "run.precision.lock_latency_ms: there is no such number: oltp_read_only takes no",
        ["workload={kind: oltp_read_only, threads: 8}", "run.precision={lock_latency_ms: 5%}",
         ONE_KIND],
        ["workload={kind: oltp_read_write, threads: 8}", "run.precision={lock_latency_ms: 5%}"],
    ),
    (
        "capacity.between: the present load (300/s) is below the searched range (400/s to 900/s)",
        ["capacity={slo: {txn_aborts: 1%}, load: workload.rate, between: [400/s, 900/s]}"],
        ["capacity={slo: {txn_aborts: 1%}, load: workload.rate, between: [200/s, 900/s]}"],
    ),
    (
        "compare.full.tikv.pessimistic-txn.in-memory-peer-size-limit: 8 clients with 2 locks each",
        ["compare.full={tikv.pessimistic-txn.in-memory-peer-size-limit: 16KiB}", *CLOSED],
        ["compare.full={tikv.pessimistic-txn.in-memory-peer-size-limit: 1KiB}", *CLOSED],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "fires", "silent"), CASES, ids=[case[0] for case in CASES])
def test_a_rule_warns_of_what_it_is_about_and_of_nothing_else(
    expected: str, fires: list[str], silent: list[str], tmp_path: Path
) -> None:
    said = warned(tmp_path, *fires)
    assert [text.startswith(expected) for text in said].count(True) == 1, said
    assert len(said) == 1, said
    assert warned(tmp_path, *silent) == []


def test_a_failed_transfer_needs_time_for_its_table_to_open_again(tmp_path: Path) -> None:
    def at(moment: str) -> str:
        return (
            f"operations=[{{name: lost, at: {moment}, do: drop_messages, kind: TimeoutNow}}, "
            f"{{name: move, at: {moment}, do: transfer_leader, region: 1, to: 2}}]"
        )

    assert warned(tmp_path, at("35s")) == [
        "operations.move.at: a table that a failed transfer has closed opens again after 10s, and "
        "only 7s are left; lengthen run.measure"
    ]
    assert warned(tmp_path, at("25s")) == []


def test_points_and_variants_do_not_repeat_a_warning(tmp_path: Path) -> None:
    sweep = "sweep.grid={operations.it.rate: [0.1/s, 0.2/s], cluster.regions: [3, 6]}"
    operation = does("rate: 1/s, do: transfer_leader, region: random")
    said = warned(tmp_path, operation, "run.replications=1", "run.measure=10s", sweep)
    assert [text.split(":")[0] for text in said] == ["run.replications", "operations.it.rate"]


def test_a_sweep_that_reaches_often_enough_is_fine(tmp_path: Path) -> None:
    operation = does("rate: 1/s, do: transfer_leader, region: random")
    assert warned(tmp_path, operation, "sweep.grid={operations.it.rate: [0.1/s, 10/s]}") == []


def test_what_a_sweep_changes_is_not_judged_at_its_first_point(tmp_path: Path) -> None:
    claim = "expect=[{metric: locks_total, class: in_memory, variant: one, above: 5}]"
    compare = "compare={one: {}}"
    modes = "sweep.grid={tikv.pessimistic-txn.in-memory: [false, true]}"
    assert warned(tmp_path, compare, claim, modes) == []
