"""Executors that do not see the study's folder are found out before the first unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.pipeline import shared_folder
from analysis.pipeline.shared_folder import answer_probe, check_shared_folder
from analysis.pipeline.spark_jobs import SparkJobError
from analysis.study.study_folder import StudyFolderError


class Executors:
    """Stands for a context whose tasks run here, each with a look of its own at the folder."""

    defaultParallelism = 3  # noqa: N815 - Spark's words

    def __init__(self, look: Callable[[Path, str], str]) -> None:
        self._look = look

    def parallelize(self, numbers: range, tasks: int) -> Executors:
        """Takes one number a task."""
        assert len(numbers) == tasks == 3
        return self

    def mapPartitions(  # noqa: N802
        self, answer: Callable[[Iterator[int]], Iterator[Any]]
    ) -> Executors:
        """Takes what a task does."""
        self._answer = answer
        return self

    def collect(self) -> list[Any]:
        """Runs the tasks."""
        return [row for number in range(3) for row in self._answer(iter([number]))]


def check(look: Callable[[Path, str], str], folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shared_folder, "answer_probe", look)
    patch.setattr(shared_folder, "SEEN_WITHIN_S", 0.0)
    check_shared_folder(Executors(look), folder)  # type: ignore[arg-type]
    assert list(folder.iterdir()) == []


def test_a_folder_that_all_see_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(answer_probe, tmp_path, monkeypatch)


def test_a_folder_that_one_does_not_see_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blind_once(probe: Path, name: str) -> str:
        return answer_probe(Path("/no/such/folder") if name == "1" else probe, name)

    with pytest.raises(StudyFolderError, match=r"do not see it .* under the same path"):
        check(blind_once, tmp_path, monkeypatch)
    assert list(tmp_path.iterdir()) == []


def test_another_folder_of_the_same_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StudyFolderError, match="do not see it"):
        check(lambda _, name: name, tmp_path, monkeypatch)


def test_executors_that_run_nothing_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_python(_probe: Path, _name: str) -> str:
        raise RuntimeError('Caused by: java.io.IOException: Cannot run program "python3"')

    with pytest.raises(SparkJobError, match=r"first task .* Cannot run program \"python3\""):
        check(no_python, tmp_path, monkeypatch)
