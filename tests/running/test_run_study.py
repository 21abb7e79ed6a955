"""A study is run from Python with one call."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.running.run_study import UnitsMissingError, run_study
from tests.stub_model import run_settings, stub_study

STUDY = stub_study(run=run_settings(measure_ns=300_000_000, replications=2))

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("shared_session")]


@pytest.fixture(autouse=True)
def _stub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.pipeline.unit_task.MODEL", "tests.stub_model:run_unit")
    monkeypatch.setattr("analysis.pipeline.study_tables.FIGURE_POINTS", 0)


def test_it_returns_what_it_writes_and_says_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run_study(STUDY, tmp_path, master="local[1]")
    ratios = {
        row["variant"]: row["ratio"]
        for row in result.summary["comparisons"]
        if (row["metric"], row["class"], row["stat"]) == ("lock_latency_ms", "all", "mean")
    }
    assert ratios["in_memory"] == pytest.approx(0.5, rel=1e-5)
    assert (len(result.run.done), result.run.missing) == (6, 0)
    for name in ("summary.json", "manifest.json", "report.html", "plan.json", "scenario.yaml"):
        assert (tmp_path / name).is_file()
    assert capsys.readouterr().out == ""
    assert run_study(STUDY, tmp_path, master="local[1]").run.reused == 6


def test_a_failed_unit_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.pipeline.unit_task.MODEL", "tests.stub_model:fail_in_memory")
    with pytest.raises(UnitsMissingError, match=r"2 units failed; see python run_sim\.py status"):
        run_study(STUDY, tmp_path, master="local[1]")
