"""A study's folder: what is written there, used again, and made again when it is lost."""

from __future__ import annotations

import io
import json
import shutil
import time
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from analysis.cli.failures import ExitStatus
from analysis.cli.study_report import ConsoleListener, report_result
from analysis.pipeline.session import SparkStarter
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.report.manifest import present_summary
from analysis.running.rounds import Retry, RoundSettings
from analysis.running.run_study import complete_study
from analysis.study.ledger import read_ledger
from analysis.study.study import Study
from analysis.study.study_folder import locked_study_folder
from analysis.study.unit_folder import model_digest
from tests.planned import plan_units
from tests.stub_model import claim_that, run_settings, stub_study

pytestmark = pytest.mark.spark

CLAIMED = stub_study(
    run=run_settings(measure_ns=1_000_000_000, replications=2),
    expect=(claim_that("lock_latency_ms", "in_memory", against="pipelined", below=0.6),),
)
"""A study that is drawn, once."""
STUB = "tests.stub_model:run_unit"


def run(
    starter: SparkStarter,
    folder: Path,
    study: Study,
    function: str = STUB,
    retry: Retry = "missing",
) -> int:
    with locked_study_folder(folder):
        job = UnitJob(study, str(folder / "units"), function)
        settings = RoundSettings(folder=folder, job=job, starter=starter, retry=retry)
        return reported(settings)


def reported(settings: RoundSettings) -> int:
    console = ConsoleListener(settings.starter.master)
    return report_result(complete_study(settings, console, time.perf_counter()))


@pytest.fixture(scope="module", name="drawn")
def folder_of_a_drawn_study(
    starter: SparkStarter, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """Returns the folder of a study with all its files, which no test may change, and its words."""
    folder, said = tmp_path_factory.mktemp("drawn"), io.StringIO()
    with redirect_stdout(said):
        assert run(starter, folder, CLAIMED) == ExitStatus.FINE
    return folder, said.getvalue()


def test_a_study_leaves_all_its_files_and_is_then_reused(
    starter: SparkStarter,
    drawn: tuple[Path, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = Path(shutil.copytree(drawn[0], tmp_path / "study"))
    first = json.loads((folder / "summary.json").read_text())
    assert "PASSED" in drawn[1]
    for name in ("manifest.json", "summary.parquet", "plots/over_time.png", "plots/over_time.svg"):
        assert (folder / name).is_file()
    ratio = {
        (row["variant"], row["metric"], row["class"], row["stat"]): row["ratio"]
        for row in first["comparisons"]
    }
    assert ratio["in_memory", "lock_latency_ms", "all", "mean"] == pytest.approx(0.5, rel=1e-5)
    assert ratio["sync", "txn_per_s", "all", "mean"] == 1
    assert first["expectations"][0]["holds"]

    assert run(starter, folder, CLAIMED, "no.such:model") == ExitStatus.FINE
    again = json.loads((folder / "summary.json").read_text())
    assert again == first, "what it cost is what its units took, whoever sums it up"
    said = capsys.readouterr().out
    assert "6 units reused" in said
    assert "nothing has changed" in said


def test_results_that_are_lost_or_changed_are_made_again(
    starter: SparkStarter, drawn: tuple[Path, str], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(drawn[0], tmp_path / "study"))
    done = read_ledger(folder / "units", plan_units(CLAIMED)).done
    assert present_summary(folder, CLAIMED, done) is not None
    for name in ("plots/over_time.svg", "summary.json", "manifest.json"):
        file = folder / name
        content = file.read_text()
        file.write_text("{}")
        assert present_summary(folder, CLAIMED, done) is None
        file.unlink()
        assert present_summary(folder, CLAIMED, done) is None
        file.write_text(content)
    (folder / "plots" / "over_time.svg").unlink()
    assert run(starter, folder, CLAIMED) == ExitStatus.FINE
    assert present_summary(folder, CLAIMED, done) is not None


def test_without_plots_the_page_keeps_its_charts_and_phases_have_names(
    starter: SparkStarter,
    drawn: tuple[Path, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = Path(shutil.copytree(drawn[0], tmp_path / "study"))
    (folder / "summary.json").unlink()
    job = UnitJob(CLAIMED, str(folder / "units"), STUB)
    settings = RoundSettings(folder=folder, job=job, starter=starter, plots="none")
    with locked_study_folder(folder):
        assert reported(settings) == ExitStatus.FINE
    said = capsys.readouterr().err.splitlines()
    assert said[-2:] == ["summing up 6 units", "writing the page"]
    assert not list((folder / "plots").iterdir())
    page = (folder / "report.html").read_text()
    assert "time-0-" in page
    assert "<img" not in page
    first, again = (
        json.loads((place / "summary.json").read_text()) for place in (drawn[0], folder)
    )
    assert again == first, "what it cost is what its units took, whoever sums it up"


@pytest.mark.usefixtures("no_figures")
def test_units_of_another_model_are_run_again(
    starter: SparkStarter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = stub_study(run=run_settings(measure_ns=300_000_000, replications=1))
    before = UnitJob(study, str(tmp_path / "units"), STUB, model="of last week")
    for unit in plan_units(study)[:2]:
        assert run_unit_task(before, Attempt(unit, {})) is None
    assert run(starter, tmp_path, study) == ExitStatus.FINE
    assert "2 units there are damaged or were made by another version" in capsys.readouterr().err
    done = read_ledger(tmp_path / "units", plan_units(study), model_digest()).done
    assert len(done) == 3


@pytest.mark.usefixtures("no_figures")
def test_a_claim_that_does_not_hold_is_status_1(
    starter: SparkStarter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = claim_that("lock_latency_ms", "sync", against="pipelined", below=1.9)
    study = stub_study(run=run_settings(measure_ns=500_000_000, replications=2), expect=(claim,))
    assert run(starter, tmp_path, study) == ExitStatus.CLAIM_FAILED
    said = capsys.readouterr().out
    assert "is not below 1.9: DOES NOT HOLD" in said
    assert "FAILED" in said.splitlines()[-1]


@pytest.mark.usefixtures("no_figures")
def test_a_failing_variant_costs_only_its_units(
    starter: SparkStarter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = stub_study(run=run_settings(measure_ns=500_000_000, replications=2))
    status = run(starter, tmp_path, study, "tests.stub_model:fail_in_memory")
    assert status == ExitStatus.UNITS_FAILED
    said = capsys.readouterr()
    assert "unit failed: in_memory, replication 0" in said.err
    assert "no such disk" in said.err
    assert "Traceback" not in said.err
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["units"] == {"done": 4, "reused": 0, "failed": 2}
    assert run(starter, tmp_path, study) == ExitStatus.UNITS_FAILED, "what failed is left alone"
    assert "--retry failed" in capsys.readouterr().err
    assert run(starter, tmp_path, study, retry="failed") == ExitStatus.FINE
