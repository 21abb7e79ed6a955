"""``status`` and ``replay``: what became of units, and one of them again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.study.study_folder import locked_study_folder
from analysis.study.units import AskedUnits, Unit, write_plan
from tests.planned import plan_units
from tests.stub_model import run_settings, stub_study

ROOT = Path(__file__).resolve().parents[2]
STUDY = stub_study(
    run=run_settings(measure_ns=300_000_000, replications=1),
    points=({"workload.threads": 20}, {"workload.threads": 40}),
)
STUB = "tests.stub_model:run_unit"
FAILS = "tests.stub_model:fail_in_memory"
SLOW_TO_IMPORT = ("sim.scenario", "pyspark", "pandas", "pyarrow", "numpy")


@pytest.fixture(name="study")
def folder_of_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[Unit]]:
    """Of six units, three are done, one has failed, one was being written, one is missing."""
    folder, units = tmp_path / "study", plan_units(STUDY)
    (folder / "units").mkdir(parents=True)
    (folder / "scenario.yaml").write_text("about: stub\n")
    write_plan(folder, AskedUnits([dict(point) for point in STUDY.points], units))
    job = UnitJob(STUDY, str(folder / "units"), FAILS)
    for unit in (*units[:2], units[2], units[3]):
        run_unit_task(job, Attempt(unit, STUDY.points[unit.point_index]))
    (folder / "units" / f".writing-{units[4].unit_hash}-1f").mkdir()
    monkeypatch.setattr("analysis.study.finished_study.load_study", lambda *_, **__: STUDY)
    return folder, units


def test_status_tells_units_apart(
    study: tuple[Path, list[Unit]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, units = study
    assert main(["status", str(folder)]) == ExitStatus.UNITS_FAILED
    again = f"python run_sim.py run {folder}/scenario.yaml --out {folder}"
    assert capsys.readouterr().out.splitlines() == [
        f"{folder}: 6 units asked for: 3 done, 1 failed, 2 missing",
        "  pipelined: 2 done",
        "  sync: 1 done, 1 missing",
        "  in_memory: 0 done, 1 failed, 1 missing",
        "  failed: in_memory, workload.threads = 20, replication 0: ValueError: no such disk",
        f"    python run_sim.py replay {folder} {units[2].unit_hash[:10]} shows it alone",
        f"{again} runs the rest",
        f"{again} --retry failed runs again what failed",
    ]


def test_status_of_a_folder_in_use(
    study: tuple[Path, list[Unit]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, units = study
    with locked_study_folder(folder):
        (folder / "units" / f".writing-{units[4].unit_hash}-2f").mkdir()
        main(["status", str(folder)])
    said = capsys.readouterr().out
    assert "6 units asked for: 3 done, 1 failed, 1 running, 1 missing" in said
    assert "a run is writing here (pid " in said
    assert "runs the rest" not in said


def test_status_verifies_digests_when_asked(
    study: tuple[Path, list[Unit]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, units = study
    for unit in (units[2], units[4], units[5]):
        run_unit_task(
            UnitJob(STUDY, str(folder / "units"), STUB),
            Attempt(unit, STUDY.points[unit.point_index]),
        )
    assert main(["status", str(folder), "--verify"]) == ExitStatus.FINE
    assert "digests of 6 units checked: 6 agree" in capsys.readouterr().out
    facts = folder / "units" / units[0].unit_hash / "counter.parquet"
    whole = facts.read_bytes()
    facts.write_bytes(whole[:100] + b"another" + whole[107:])
    assert main(["status", str(folder)]) == ExitStatus.FINE
    assert "runs the rest" not in capsys.readouterr().out
    assert main(["status", str(folder), "--verify"]) == ExitStatus.UNITS_FAILED
    said = capsys.readouterr().out
    assert "6 units asked for: 5 done, 0 failed, 1 damaged" in said
    assert "digests of 6 units checked: 5 agree" in said
    assert "runs the rest" in said


@pytest.mark.parametrize("file", ["unit.json", "counter.parquet", "event.parquet"])
@pytest.mark.parametrize("size", [0, 3, 10])
def test_status_calls_no_unit_done_whose_file_ends_too_soon(
    study: tuple[Path, list[Unit]], capsys: pytest.CaptureFixture[str], file: str, size: int
) -> None:
    folder, units = study
    os.truncate(folder / "units" / units[0].unit_hash / file, size)
    assert main(["status", str(folder)]) == ExitStatus.UNITS_FAILED
    said = capsys.readouterr().out
    assert "6 units asked for: 2 done, 1 failed, 2 missing, 1 damaged" in said
    assert "  pipelined: 1 done, 1 damaged" in said
    assert "runs the rest" in said


def test_status_refuses_a_broken_plan(
    study: tuple[Path, list[Unit]], capsys: pytest.CaptureFixture[str]
) -> None:
    (study[0] / "plan.json").write_text('{"points": [')
    for words in (["status"], ["replay"]):
        digits = ["abcdef"] if words == ["replay"] else []
        assert main([*words, str(study[0]), *digits]) == ExitStatus.BAD_INPUT
        said = capsys.readouterr().err
        assert len(said.splitlines()) == 1
        assert "plan.json: is not a plan" in said


def test_status_waits_for_nothing_that_is_slow(study: tuple[Path, list[Unit]]) -> None:
    look = (
        "import sys; from analysis.cli.app import main; "
        f"main(['status', {str(study[0])!r}]); "
        f"print([name for name in {SLOW_TO_IMPORT} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_a_replay_makes_the_same_bytes(
    study: tuple[Path, list[Unit]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("analysis.pipeline.unit_task.MODEL", STUB)
    folder, units = study
    words = ["replay", str(folder), units[0].unit_hash[:8]]
    before = sorted(folder.rglob("*"))
    assert main(words) == ExitStatus.FINE
    said = capsys.readouterr().out
    assert "pipelined, workload.threads = 20, replication 0" in said
    assert f"facts are the same bytes as in {folder}" in said
    assert sorted(folder.rglob("*")) == before
    shutil.rmtree(folder / "units" / units[0].unit_hash)
    assert main(words) == ExitStatus.FINE
    assert "no facts of this unit to compare with" in capsys.readouterr().out


def test_a_replay_that_differs_says_so(
    study: tuple[Path, list[Unit]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("analysis.pipeline.unit_task.MODEL", STUB)
    folder, units = study
    monkeypatch.setattr("tests.stub_model.LOCKS_PER_TXN", 6)
    words = ["replay", str(folder), units[0].unit_hash]
    assert main(words) == ExitStatus.CLAIM_FAILED
    said = capsys.readouterr().out
    assert "facts differ" in said
    assert "histogram" in said
    assert "the same model should make the same bytes" in said


def test_a_replay_of_a_failure_shows_the_whole_trace(
    study: tuple[Path, list[Unit]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("analysis.pipeline.unit_task.MODEL", FAILS)
    folder, units = study
    words = ["replay", str(folder), units[2].unit_hash[:10]]
    assert main(words) == ExitStatus.UNITS_FAILED
    said = capsys.readouterr().err
    assert "Traceback (most recent call last)" in said
    assert "in fail_in_memory" in said
    assert said.endswith("ValueError: no such disk\n")


def test_a_replay_needs_one_unit(
    study: tuple[Path, list[Unit]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, units = study
    twin = Unit(units[0].unit_hash[:20] + "0" * 44, 0, "sync", 7)
    write_plan(folder, AskedUnits([dict(point) for point in STUDY.points], [*units, twin]))
    for digits, mend in (
        ("abc", "at least 6 hexadecimal digits"),
        ("in_memory", "at least 6 hexadecimal digits"),
        ("0" * 12, "no unit begins with 000000000000"),
        (units[0].unit_hash[:20], "2 units begin with"),
    ):
        assert main(["replay", str(folder), digits]) == ExitStatus.BAD_INPUT
        said = capsys.readouterr().err
        assert len(said.splitlines()) == 1
        assert mend in said
    other = stub_study(run=run_settings(seed=9), points=STUDY.points)
    monkeypatch.setattr("analysis.study.finished_study.load_study", lambda *_, **__: other)
    assert main(["replay", str(folder), units[0].unit_hash]) == ExitStatus.BAD_INPUT
    assert "is not the one that unit" in capsys.readouterr().err
