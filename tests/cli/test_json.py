"""``--json``: standard output is one document, with the keys that docs/JSON.md names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.study.units import AskedUnits, Unit, write_plan
from analysis.terminal.console import output, print_json, words_aside
from tests.planned import plan_units
from tests.stub_model import run_settings, stub_study

ROOT = Path(__file__).resolve().parents[2]
JSON_MD = (ROOT / "docs" / "JSON.md").read_text(encoding="utf-8")
QUICKSTART = ROOT / "scenarios" / "quickstart.yaml"
STUDY = stub_study(run=run_settings(measure_ns=300_000_000, replications=1))
STUB = "tests.stub_model:run_unit"
WRONG = """\
about: Which?
run: {measure: 6s, replications: 1}
workload: {kind: tpcc, warehouses: 10, treads: 4}
"""

Capture = pytest.CaptureFixture[str]


def document(capsys: Capture) -> dict[str, Any]:
    """Returns what is on standard output, which is one document and no more."""
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def documented(content: dict[str, Any]) -> dict[str, Any]:
    """Returns a document all of whose keys are in docs/JSON.md."""
    inside = [each for value in content.values() if isinstance(value, list) for each in value]
    keys = {key for part in (content, *inside) if isinstance(part, dict) for key in part}
    assert {key for key in keys if f"`{key}`" not in JSON_MD} == set()
    return content


@pytest.fixture(name="study")
def folder_of_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[Unit]]:
    """Of three units, one is done, one has failed, one is missing."""
    folder, units = tmp_path / "study", plan_units(STUDY)
    (folder / "units").mkdir(parents=True)
    (folder / "scenario.yaml").write_text("about: stub\n")
    write_plan(folder, AskedUnits([dict(point) for point in STUDY.points], units))
    job = UnitJob(STUDY, str(folder / "units"), "tests.stub_model:fail_in_memory")
    for unit in (units[0], units[2]):
        run_unit_task(job, Attempt(unit, STUDY.points[unit.point_index]))
    monkeypatch.setattr("analysis.study.finished_study.load_study", lambda *_, **__: STUDY)
    return folder, units


def test_no_number_is_null(capsys: Capture) -> None:
    print_json({"a": float("nan"), "b": [1.5, float("inf")], "c": {"d": (1, None)}})
    assert document(capsys) == {"a": None, "b": [1.5, None], "c": {"d": [1, None]}}


def test_words_go_to_standard_error_meanwhile(capsys: Capture) -> None:
    with words_aside(when=True), words_aside(when=False):
        output().print("for people")
    output().print("result")
    assert capsys.readouterr() == ("result\n", "for people\n")


def test_check_lists_problems_and_warnings(tmp_path: Path, capsys: Capture) -> None:
    wrong, thin = tmp_path / "wrong.yaml", tmp_path / "thin.yaml"
    wrong.write_text(WRONG)
    thin.write_text(WRONG.replace("treads", "threads"))
    files = [str(file) for file in (wrong, thin, QUICKSTART)]
    assert main(["check", *files, "--json"]) == ExitStatus.BAD_INPUT
    first, second, third = documented(document(capsys))["files"]
    (problem,) = [each for each in first["problems"] if each["path"] == "workload.treads"]
    assert (problem["file"], problem["line"], problem["column"]) == (str(wrong), 3, 40)
    assert (problem["message"], problem["mend"]) == ("unknown key", "did you mean threads?")
    assert not first["fine"]
    assert second["fine"]
    assert second["units"] == 1
    assert [warning["key"] for warning in second["warnings"]] == ["run.replications"]
    assert second["seconds"] > 0
    assert third["seconds"] > second["seconds"]
    assert third == {
        "file": str(QUICKSTART), "fine": True, "units": 4, "seconds": third["seconds"],
        "problems": [], "warnings": [],
    }  # fmt: skip


def test_a_warning_is_an_exit_status_only_if_wanted(tmp_path: Path, capsys: Capture) -> None:
    thin = tmp_path / "thin.yaml"
    thin.write_text(WRONG.replace("treads", "threads"))
    assert main(["check", str(thin)]) == ExitStatus.FINE
    assert capsys.readouterr().out.splitlines() == [
        f"{thin}: fine, 1 unit",
        f"{thin}: warning: run.replications: one replication has no interval; write 5",
    ]
    assert main(["check", "--strict", str(thin)]) == ExitStatus.CLAIM_FAILED
    assert main(["check", "--strict", str(QUICKSTART)]) == ExitStatus.FINE


def test_scenarios_and_schema(capsys: Capture) -> None:
    assert main(["scenarios", "--json"]) == ExitStatus.FINE
    listed = {each["name"]: each for each in documented(document(capsys))["scenarios"]}
    quickstart = listed["pessim:quickstart"]
    assert quickstart["about"].endswith("?")
    assert Path(quickstart["file"]).samefile("scenarios/quickstart.yaml")
    assert main(["schema"]) == ExitStatus.FINE
    assert "properties" in document(capsys)


def test_script_tells_each_file(tmp_path: Path, capsys: Capture) -> None:
    script = tmp_path / "one.txt"
    script.write_text("cluster stores=3\nlock 10 k1\n----\nnothing\n")
    assert main(["script", str(script), "--json"]) == ExitStatus.CLAIM_FAILED
    (told,) = documented(document(capsys))["scripts"]
    assert (told["file"], told["commands"], told["as_expected"]) == (str(script), 2, False)
    assert "locked k1 in-memory" in told["differences"][0]
    assert told["problem"] == ""


def test_fuzz_sums_up(capsys: Capture) -> None:
    assert main(["fuzz", "--seeds", "2", "--workers", "1", "--json"]) == ExitStatus.FINE
    told = documented(document(capsys))
    assert (told["seeds"], told["failed"]) == (2, [])
    assert told["committed"] > 0
    assert set(told["marks"]).isdisjoint(told["never_hit"])


def test_status_counts_units(study: tuple[Path, list[Unit]], capsys: Capture) -> None:
    folder, units = study
    assert main(["status", str(folder), "--json"]) == ExitStatus.UNITS_FAILED
    told = documented(document(capsys))
    states = {"done": 1, "failed": 1, "running": 0, "missing": 1, "damaged": 0}
    assert told["units"] == {"asked": 3, **states}
    assert told["variants"]["sync"]["missing"] == 1
    assert told["failures"] == [
        {
            "unit": units[2].unit_hash,
            "variant": "in_memory",
            "replication": 0,
            "point": {},
            "error": "ValueError: no such disk",
        }
    ]
    assert told["running_in"] is None


def test_replay_says_whether_facts_are_the_same(
    study: tuple[Path, list[Unit]], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analysis.pipeline.unit_task.MODEL", STUB)
    folder, units = study
    words = ["replay", str(folder), units[0].unit_hash, "--json"]
    assert main(words) == ExitStatus.FINE
    told = documented(document(capsys))
    assert (told["unit"], told["facts"], told["differing_tables"]) == (
        units[0].unit_hash, "same", [],
    )  # fmt: skip
    assert (told["verdict"], told["violations"], told["error"]) == ("not judged", [], None)


def test_bad_input_leaves_standard_output_empty(tmp_path: Path, capsys: Capture) -> None:
    for words in (["run", "no.yaml"], ["status", str(tmp_path)], ["diff", str(tmp_path), "x"]):
        assert main([*words, "--json"]) == ExitStatus.BAD_INPUT
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err
