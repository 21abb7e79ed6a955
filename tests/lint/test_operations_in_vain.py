"""Operations after which nothing is to be waited for are not warned of as if there were."""

from __future__ import annotations

from pathlib import Path

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
