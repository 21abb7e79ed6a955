"""``run_sim.py script``: what it prints and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.cli.app import main

FINE = "lock 10 k1\n----\nlocked k1 in-memory\n"
DIFFERS = "lock 10 k1\n----\nlocked k2 in-memory\n"
MISTAKE = "lokc 10 k1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"fine": FINE, "differs": DIFFERS, "mistake": MISTAKE}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("names", "status"),
    [(["fine"], 0), (["differs"], 1), (["mistake"], 2), (["none"], 2), (["differs", "mistake"], 2)],
)
def test_exit_status(folder: Path, names: list[str], status: int) -> None:
    assert main(["script", *(str(folder / f"{name}.txt") for name in names)]) == status


def test_a_folder_means_the_scripts_in_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["script", str(folder)]) == 2
    said = capsys.readouterr()
    assert "fine.txt: 1 command, as expected" in said.out
    assert "+ locked k1 in-memory" in said.out
    assert "mistake.txt:1: no command lokc; did you mean lock?" in said.err


def test_rewriting_makes_a_script_agree(folder: Path) -> None:
    script = folder / "differs.txt"
    assert main(["script", str(script), "--rewrite"]) == 0
    assert script.read_text() == FINE
    assert main(["script", str(script)]) == 0


def test_an_empty_folder_is_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["script", str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err
