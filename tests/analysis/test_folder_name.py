"""A study's own folder: one question, one folder."""

from __future__ import annotations

from pathlib import Path

from analysis.study.study_folder import NO_CHECKS, study_folder


def test_an_unchanged_scenario_lies_under_its_name() -> None:
    assert study_folder("rfc77", []) == Path("results/rfc77")
    assert study_folder("rfc77", [NO_CHECKS]) == Path("results/rfc77")


def test_what_is_changed_is_another_question_in_whatever_order_it_is_said() -> None:
    changes = ["workload.threads=400", "run.measure=1s"]
    folder = study_folder("rfc77", changes, seed=2)
    assert folder == Path("results/rfc77_run.measure=1s_seed=2_workload.threads=400")
    assert study_folder("rfc77", changes[::-1], seed=2) == folder


def test_a_change_cannot_leave_the_folder_of_results_nor_grow_beyond_a_file_name() -> None:
    assert study_folder("x", ["a=../../etc/passwd"]).parent == Path("results")
    long = study_folder("x", [f"workload.threads={'9' * 300}"])
    assert len(long.name) < 30
    assert long != study_folder("x", [f"workload.threads={'8' * 300}"])
