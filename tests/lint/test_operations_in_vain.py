"""Operations after which nothing is to be waited for are not warned of as if there were."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lint.test_scenario_lint import CLOSED, TWO_DIE, does, warned


def test_where_no_quorum_is_left_no_election_is_waited_for(tmp_path: Path) -> None:
    late = (TWO_DIE % "").replace("3s", "41s").replace("4500ms", "41s")
    said = warned(tmp_path, late)
    assert [each.partition(" from 41s to the end")[0] for each in said] == [
        "operations.it.at:",
        "operations.other.at:",
    ]
    five = ("cluster.stores=5", "cluster.replicas=5", TWO_DIE % "")
    assert warned(tmp_path, *five) == []


def test_what_never_happens_stalls_no_client(tmp_path: Path) -> None:
    (said,) = warned(tmp_path, *CLOSED, does("at: 42s, do: crash_store, store: 1"))
    assert said.startswith("operations.it.at: 42s is no earlier than the end of the run")


@pytest.mark.parametrize(
    ("operation", "elects"),
    [
        ("partition, isolate: 1, for: 300ms", False),
        ("partition, isolate: 1, for: 12s", True),
        ("partition, groups: [[1], [2, 3]], for: 9s", False),
        ("crash_store, store: 1, for: 300ms", True),
    ],
)
def test_only_a_cut_that_outlasts_the_timeout_or_a_crash_ends_in_an_election(
    operation: str, *, elects: bool, tmp_path: Path
) -> None:
    said = warned(tmp_path, does(f"at: 29s, do: {operation}"))
    assert said == (
        ["operations.it.at: an election takes up to 20s, and only 13s are left: transactions that "
         "wait for it do not end within the run; lengthen run.measure"] * elects
    )  # fmt: skip
    assert warned(tmp_path, does(f"at: 29s, do: {operation}"), "cluster.replicas=1") == []


def test_of_one_is_left_not_are(tmp_path: Path) -> None:
    (said,) = warned(tmp_path, does("at: 41999ms, do: crash_store, store: 1"))
    assert "and only 1ms is left: transactions" in said


def test_a_replica_needs_a_store_without_one(tmp_path: Path) -> None:
    adds = "at: 10s, do: change_peer, region: 1, add: random, remove: random"
    assert warned(tmp_path, does(adds)) == [
        "cluster.stores: every store has a replica of every region, so change_peer adds none; "
        "write 4 or more"
    ]
    assert warned(tmp_path, does(adds), "cluster.stores=4") == []
    room = "{at: 9s, do: change_peer, region: 1, remove: 3}"
    both = f"operations=[{room}, {{at: 10s, do: change_peer, region: 1, add: 3}}]"
    assert warned(tmp_path, both) == []
