"""``run --json``: one document when a study has been run, and when nothing is left to do."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.failures import ExitStatus
from analysis.cli.study_report import ConsoleListener, report_result
from analysis.pipeline.session import SparkStarter
from analysis.pipeline.unit_task import UnitJob
from analysis.running.rounds import RoundSettings
from analysis.running.run_study import complete_study
from analysis.study.study_folder import locked_study_folder
from analysis.terminal.console import words_aside
from tests.cli.test_json import documented
from tests.stub_model import claim_that, run_settings, stub_study

pytestmark = pytest.mark.spark

AS_IN_SUMMARY = ("rows", "comparisons", "expectations")
CLAIM = claim_that("lock_latency_ms", "in_memory", against="pipelined", below=0.1)
STUDY = stub_study(run=run_settings(measure_ns=500_000_000, replications=2), expect=(CLAIM,))


def run(starter: SparkStarter, folder: Path) -> int:
    job = UnitJob(STUDY, str(folder / "units"), "tests.stub_model:run_unit")
    settings = RoundSettings(folder=folder, job=job, starter=starter)
    with locked_study_folder(folder), words_aside(when=True):
        console = ConsoleListener(starter.master)
        return report_result(complete_study(settings, console, time.perf_counter()), as_json=True)


@pytest.mark.usefixtures("no_figures")
def test_a_study_is_one_document_whether_it_is_run_or_known(
    starter: SparkStarter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[dict[str, Any]] = []
    for _ in range(2):
        assert run(starter, tmp_path) == ExitStatus.CLAIM_FAILED
        said = capsys.readouterr()
        assert "DOES NOT HOLD" in said.err
        told.append(json.loads(said.out))
    first, again = told
    documented({key: value for key, value in first.items() if key not in AS_IN_SUMMARY})
    assert first == again
    assert (first["study"], first["folder"]) == ("stub", str(tmp_path))
    assert (first["status"], first["passed"]) == (1, False)
    assert first["units"] == {"done": 6, "failed": 0, "missing": 0}
    assert not first["expectations"][0]["holds"]
    assert first["cost"]["transactions"] > 0
    assert {warning["kind"] for warning in first["warnings"]} == {"unasked"}, "units are short"
    assert first["violations"] == []
    assert {row["variant"] for row in first["rows"]} == {"pipelined", "sync", "in_memory"}
    means = [row for row in first["comparisons"] if row["stat"] == "mean"]
    assert any(row["metric"] == "lock_latency_ms" and row["ratio"] < 1 for row in means)
