"""A finished study names the operations that could not be done, and what would let them be done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis.lint.mechanisms import REMEDIES
from sim.fact_names import SKIPPED
from tests.lint.test_scenario_lint import does
from tests.lint.test_vacuity import HOT, MOVED, TRANSFERS, WAITED, Counts, warned

SKIPS = "operations_skipped"
TWO = (
    "operations=[{name: here, at: 9s, do: transfer_leader, region: 1, to: 2}, "
    "{name: there, at: 9s, do: transfer_leader, region: 2, to: 5}]"
)
READS = "workload.transactions.move.statements=[{read: acct, rows: 1, hot: {rows: 9, fraction: 1}}]"
ALONE = "workload.transactions.move={autocommit: true, statements: [{update: acct, rows: 1}]}"


def texts(folder: Path, overrides: Sequence[str], counts: Counts) -> list[str]:
    """Returns what is said of the first variant beyond what the file itself cannot show."""
    found = warned(folder, overrides, counts)
    return [
        each["text"] for each in found
        if each["kind"] == "mechanism" and each["variant"] == "pipelined"
    ]  # fmt: skip


def test_every_reason_has_a_remedy() -> None:
    assert REMEDIES.keys() == SKIPPED.keys()


def test_the_success_of_one_operation_hides_no_failure_of_another(tmp_path: Path) -> None:
    counts = {("operations", "transfer_leader", "total"): 4.0,
              (SKIPS, "there:no_replica", "total"): 2.0}  # fmt: skip
    assert texts(tmp_path, [TWO, "cluster.stores=5"], counts) == [
        "pipelined: transfer_leader (operations.there) was left out 2 times in all replications: "
        "the store has no replica of the region; write a store that has one, or random"
    ]


def test_the_reason_takes_the_place_of_a_longer_run(tmp_path: Path) -> None:
    adds = does("every: 1s, do: change_peer, region: random, add: random")
    counts: Counts = {(SKIPS, "it:all_have_one", "total"): 40.0}
    assert texts(tmp_path, [adds], counts) == [
        "pipelined: change_peer (operations.it) was left out 40 times in all replications: every "
        "store that is up has a replica of the region; write more cluster.stores than "
        "cluster.replicas"
    ]


def test_of_what_is_done_again_and_again_some_may_be_left_out(tmp_path: Path) -> None:
    done = MOVED | {("operations", "transfer_leader", "total"): 160.0}
    some = done | {(SKIPS, "it:is_leader", "total"): 80.0}
    assert texts(tmp_path, [TRANSFERS], some) == []
    most = done | {(SKIPS, "it:is_leader", "total"): 200.0}
    (said,) = texts(tmp_path, [TRANSFERS], most)
    assert "(operations.it) was left out 200 times" in said


@pytest.mark.parametrize("transactions", [READS, ALONE])
def test_nobody_is_told_to_wait_for_locks_that_are_not_taken(
    transactions: str, tmp_path: Path
) -> None:
    none: Counts = dict.fromkeys(
        [("locks_total", "pipelined", "total"), ("locks_total", "in_memory", "total"), WAITED,
         ("lock_fates", "migrated:transfer", "total")], 0.0
    )  # fmt: skip
    found = warned(tmp_path, [transactions, TRANSFERS], MOVED | none)
    assert [each["text"] for each in found if each["kind"] == "mechanism"] == []
    locked = [each["text"] for each in warned(tmp_path, [HOT, TRANSFERS], MOVED | none)]
    assert any("no locks in memory" in text for text in locked)
