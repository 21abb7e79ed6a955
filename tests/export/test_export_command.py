"""``export`` and ``--trace``, as a user types them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from analysis.cli.app import main


def test_the_usual_formats_without_being_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(folder), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)["written"]
    assert [Path(path).relative_to(folder).as_posix() for path in written] == [
        "metrics/pipelined.prom",
        "metrics/in_memory.prom",
        "csv/summary.csv",
        "csv/comparisons.csv",
        "csv/course.csv",
    ]
    assert all(Path(path).is_file() for path in written)


def test_one_format_elsewhere_at_another_time(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "deep" / "out"
    words = ["--format", "openmetrics", "--out", str(out), "--start", "2026-02-03T04:05:06"]
    assert main(["export", str(finished), *words]) == 0
    assert "in_memory.prom (" in capsys.readouterr().out
    assert " 1770091506.001\n" in (out / "metrics" / "in_memory.prom").read_text()
    assert not (finished / "metrics").exists()


def test_traces_when_asked_for(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--format", "trace", "--trace", "2", "--out", str(tmp_path), "--json"]
    assert main(["export", str(finished), *words]) == 0
    said = capsys.readouterr()
    assert "following 2 transactions" in said.err
    written = json.loads(said.out)["written"]
    assert [Path(path).name for path in written] == ["pipelined.json", "in_memory.json"]


def test_replay_follows_its_own_unit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    units = [path.name for path in sorted((folder / "units").iterdir())]
    assert main(["replay", str(folder), units[0], "--trace", "2"]) == 0
    assert "facts are the same bytes" in capsys.readouterr().out
    (trace,) = (folder / "traces").iterdir()
    assert trace.stem.endswith(f"-{units[0][:8]}")
    assert json.loads(trace.read_text())["otherData"]["unit"] == units[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "xml"], "write openmetrics, csv or trace"),
        (["--trace", "0"], "--trace"),
        (["--start", "yesterday"], "--start"),
    ],
)
def test_a_wrong_word_is_told_in_a_line(
    finished: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(finished), *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_a_folder_without_a_study_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_study_without_a_finished_unit_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(folder / "units")
    assert main(["export", str(folder)]) == 2
    said = capsys.readouterr().err.strip()
    assert said.endswith(f"run {folder}/scenario.yaml --out {folder} runs them")


def test_a_place_that_cannot_be_written_is_told(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["export", str(finished), "--out", str(tmp_path / "file")]) == 2
    assert "--out" in capsys.readouterr().err
