"""A folder holds one question: another one is refused, more of the same is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis.running.run_study import refuse_another_question
from analysis.study.load import load_study
from analysis.study.study_folder import StudyFolderError

ASKED: dict[str, Any] = {"extends": "pessim:quickstart", "expect": []}


def folder_of(parent: Path, **changes: Any) -> Path:
    folder = parent / "study"
    folder.mkdir()
    text = load_study(ASKED, changes).resolved_yaml()
    (folder / "scenario.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"run.replications": 20},
        {"run.precision": {"lock_latency_ms": "2%"}, "run.max_replications": 90},
        {"about": "The same in other words?", "run.checks": False},
        {"expect": [{"metric": "lock_latency_ms", "variant": "in_memory", "below": 9}]},
    ],
)
def test_more_of_the_same_is_no_other_question(tmp_path: Path, changes: dict[str, Any]) -> None:
    refuse_another_question(folder_of(tmp_path), load_study(ASKED, changes))


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({"workload.threads": 11}, "other values of workload.threads; choose another folder, or"),
        ({"run.seed": 2}, "run.seed;"),
        ({"run.measure": "9s"}, "run.measure;"),
        ({"sweep.grid": {"workload.threads": [1, 2]}}, "workload.threads"),
        ({"hardware.profile": "gp3_max"}, r"hardware\..* and [\d,]+ more keys; choose"),
    ],
)
def test_another_question_is_refused_by_its_keys(
    tmp_path: Path, changes: dict[str, Any], keys: str
) -> None:
    folder = folder_of(tmp_path)
    message = f"{folder}: holds a study that asks another question, with .*{keys}"
    with pytest.raises(StudyFolderError, match=message):
        refuse_another_question(folder, load_study(ASKED, changes))


def test_a_folder_without_a_study_may_be_used(tmp_path: Path) -> None:
    refuse_another_question(tmp_path, load_study(ASKED))


def test_a_study_that_cannot_be_read_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text("workload: {kind: tpcc, threat: 5}\n")
    message = r"this version cannot read \(.*warehouses: missing.*; choose another folder"
    with pytest.raises(StudyFolderError, match=message):
        refuse_another_question(tmp_path, load_study(ASKED))
