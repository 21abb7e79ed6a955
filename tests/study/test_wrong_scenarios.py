"""Wrong scenarios: each with the places and the remedies that its author reads.

``tests/testdata/scenario`` has them as text: a scenario, ``----``, its problems, a blank line.
Those of ``sections.txt`` have a fine scenario below them, those of ``studies.txt`` its workload;
those of ``files.txt`` are whole files.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.study.load import load_study
from sim.scenario import Problem, ScenarioError
from tests.datadriven import TESTDATA

FINE = """\
about: Is it fine?
run: {seed: 1, warmup: 1s, measure: 2s}
workload: {kind: tpcc, warehouses: 10, threads: 5}
"""
BELOW = {"sections": FINE, "files": "", "studies": FINE.splitlines()[-1]}


def problems_of(text: str, folder: Path) -> list[Problem]:
    path = folder / "wrong.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_study(path)
    return caught.value.problems


def told(text: str, folder: Path) -> str:
    """Returns what the author of a scenario reads, the same in every folder."""
    lines = [str(problem) for problem in problems_of(text, folder)]
    short = [line.removeprefix(f"{folder}/wrong.yaml:") for line in lines]
    return "\n".join(line.replace(str(folder), "FOLDER") for line in short)


@pytest.mark.parametrize("name", BELOW)
def test_each_is_told_what_to_mend(name: str, tmp_path: Path, *, rewrite: bool) -> None:
    file = TESTDATA / "scenario" / f"{name}.txt"
    written = file.read_text(encoding="utf-8")
    wrong = [block.partition("\n----")[0] for block in written.rstrip("\n").split("\n\n")]
    answers = [told(f"{text}\n{BELOW[name]}", tmp_path) for text in wrong]
    blocks = [f"{text}\n----\n{answer}" for text, answer in zip(wrong, answers, strict=True)]
    printed = "\n\n".join(blocks) + "\n"
    if rewrite:
        file.write_text(printed, encoding="utf-8")
    assert printed == written


@pytest.mark.parametrize("name", BELOW)
def test_each_problem_is_one_short_line_with_place_and_mend(name: str, tmp_path: Path) -> None:
    written = (TESTDATA / "scenario" / f"{name}.txt").read_text(encoding="utf-8")
    for block in written.rstrip("\n").split("\n\n"):
        text = block.partition("\n----")[0]
        for problem in problems_of(f"{text}\n{BELOW[name]}", tmp_path):
            assert problem.mark.line
            assert problem.mark.column
            assert "; " in problem.message
            assert len(str(problem)) < 500


def test_the_case_that_others_start_from_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "fine.yaml"
    path.write_text(FINE, encoding="utf-8")
    assert list(load_study(path).variants) == ["in_memory"]


def test_a_contradiction_is_told_beside_an_unknown_key(tmp_path: Path) -> None:
    text = told(f"{FINE}cluster: {{replicas: 5, storez: 5}}\n", tmp_path)
    assert "did you mean stores?" in text
    assert "5 replicas need as many stores" in text
