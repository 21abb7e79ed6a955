"""``plot`` refuses what it cannot do before Spark is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from analysis.cli import plot_command
from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from analysis.plots.publishing import Sheet, publish


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with one picture, and no Spark."""

    def no_spark(_: str) -> None:
        pytest.fail("Spark was asked for")

    monkeypatch.setattr(plot_command, "load_folder", lambda _: None)
    monkeypatch.setattr(plot_command, "spark", no_spark)
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "lock_latency.svg").touch()
    return tmp_path


def test_a_picture_that_there_is_not_is_refused(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(study), "nix"]) == ExitStatus.BAD_INPUT
    assert capsys.readouterr().err == "nix: no such picture; there are lock_latency\n"


def test_a_folder_that_cannot_be_written_is_bad_input(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (study / "figures").touch()
    assert main(["plot", str(study), "lock_latency"]) == ExitStatus.BAD_INPUT
    assert capsys.readouterr().err == f"{study}/figures: File exists; choose another --out\n"


def test_a_title_is_no_formula(tmp_path: Path) -> None:
    publish(Figure(), Sheet("svg", title=r"$\frac{x$"), tmp_path / "a.svg")
    assert r"$\frac{x$" in (tmp_path / "a.svg").read_text(encoding="utf-8")
