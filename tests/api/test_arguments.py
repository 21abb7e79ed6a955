"""What ``import pessim`` takes, and the sentences in which it refuses the rest."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pessim
from pessim import ScenarioError, StudyFolderError

SCENARIO: dict[str, Any] = {
    "extends": "pessim:quickstart",
    "sweep": {"points": [{"workload.threads": 4}, {"workload.threads": 8}]},
}


def test_arguments_that_mean_nothing_are_refused_in_a_sentence(tmp_path: Path) -> None:
    endless: dict[str, Any] = {}
    endless["about"] = endless
    with pytest.raises(ScenarioError, match="more than 24 levels deep"):
        pessim.check(endless)
    wrong: Any = ["workload.threads=5"]
    with pytest.raises(TypeError, match="set is a list; write a dictionary, such as"):
        pessim.check("pessim:quickstart", set=wrong)
    number: Any = {5: 5}
    with pytest.raises(ScenarioError, match="set 5: 5: unknown key"):
        pessim.check("pessim:quickstart", set=number)
    some: Any = "some"
    with pytest.raises(ValueError, match="plots is 'some'; write one of all, none"):
        pessim.run("pessim:quickstart", plots=some, folder=tmp_path)
    with pytest.raises(StudyFolderError, match="folder is empty"):
        pessim.run("pessim:quickstart", folder="")
    with pytest.raises(ValueError, match="points is 0; write 1 or more"):
        pessim.explain("pessim:quickstart", points=0)
    with pytest.raises(ScenarioError, match=r"^seed -1: run.seed: must be 0 to"):
        pessim.run("pessim:quickstart", seed=-1)


@pytest.mark.parametrize("wrong", [None, 5, b"quickstart", ["quickstart"], object()])
def test_what_names_nothing_is_refused_in_a_sentence(wrong: Any, tmp_path: Path) -> None:
    for call in (pessim.run, pessim.check, pessim.explain):
        with pytest.raises(TypeError, match=r"scenario is .*; write a file's name, pessim:NAME or"):
            call(wrong)
    with pytest.raises(TypeError, match=r"folder is .*; write its name"):
        pessim.open(wrong)
    with pytest.raises(TypeError, match=r"master is .*; write its name, such as"):
        pessim.run("pessim:quickstart", master=wrong, folder=tmp_path)
    if wrong is not None:
        with pytest.raises(TypeError, match=r"folder is .*; write its name"):
            pessim.run("pessim:quickstart", folder=wrong)
        with pytest.raises((TypeError, ValueError), match=r"points is .*; write 1 or more"):
            pessim.explain("pessim:quickstart", points=wrong if wrong != 5 else -5)


def test_empty_names_and_unknown_masters_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="scenario is empty; write a file's name"):
        pessim.run("")
    with pytest.raises(StudyFolderError, match="folder is empty; write its name"):
        pessim.open("")
    with pytest.raises(ValueError, match="master: 'locl' is not a Spark master; write local"):
        pessim.run("pessim:quickstart", master="locl", folder=tmp_path)


def test_two_runs_of_two_threads_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work: list[Path] = []

    def run_alone(_study: object, folder: Path, *_: object, **__: object) -> None:
        at_work.append(folder)
        time.sleep(0.05)
        folder.mkdir()
        (folder / "scenario.yaml").write_text("{}")
        (folder / "summary.json").write_text('{"study": "it", "verdict": {}}')
        assert at_work.pop() == folder
        assert not at_work

    monkeypatch.setattr("analysis.api.calls.run_study", run_alone)
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(pessim.run, SCENARIO, folder=tmp_path / name) for name in "ab"]
        assert [each.result().folder.name for each in runs] == ["a", "b"]


def test_what_numpy_and_python_hold_is_taken_as_a_file_would_say_it(tmp_path: Path) -> None:
    named: list[tuple[Any, Path]] = []

    def nothing(study: Any, folder: Path, *_: object, **__: object) -> None:
        named.append((study, folder))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analysis.api.calls.run_study", nothing)
        patch.setattr("analysis.api.calls.OpenedStudy", lambda folder: folder)
        for threads in (np.array([5, 10]), pd.Series([5, 10]), range(5, 11, 5), [np.int64(5), 10]):
            said: dict[str, Any] = {"sweep.grid": {"workload.threads": threads}}
            two, seed = np.int64(2), np.int32(7)
            pessim.run("pessim:quickstart", set=said, replications=two, seed=seed)  # type: ignore[arg-type]
    plain = [dict(point) for point in named[0][0].points]
    assert plain == [{"workload.threads": 5}, {"workload.threads": 10}]
    assert {study.digest for study, _ in named} == {named[0][0].digest}
    assert len({folder for _, folder in named}) == 1
    assert (named[0][0].run.replications, named[0][0].run.seed) == (2, 7)
    assert set(pessim.explain(SCENARIO, points=np.int64(1))["workload.threads"]) == {4}  # type: ignore[arg-type]
    for wrong in (b"5", {5, 6}, object()):
        with pytest.raises(ScenarioError, match=r"set workload.threads: .* write text, a number"):
            pessim.check("pessim:quickstart", set={"workload.threads": wrong})
