"""A small study that has been run, without Spark: facts, plan, scenario, and a summary by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analysis.experiments.choose import experiment_of
from analysis.experiments.experiment import SeenUnits
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.report.summary import write_summary
from analysis.study.finished_study import FinishedStudy
from analysis.study.load import load_study
from analysis.study.plan import Plan
from analysis.study.units import write_plan
from tests.export.small_study import SCENARIO, read_finished


@pytest.fixture(scope="session", name="finished")
def finished_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a study's folder that no test may change."""
    folder = tmp_path_factory.mktemp("study") / "small"
    folder.mkdir()
    (folder / "scenario.yaml").write_text(SCENARIO)
    study = load_study(folder / "scenario.yaml")
    plan = Plan(study)
    units = plan.add(experiment_of(study).requests(SeenUnits(plan)))
    write_plan(folder, plan)
    job = UnitJob(study, str(folder / "units"))
    for unit in units:
        assert run_unit_task(job, Attempt(unit, {})) is None
    rows = [{"point": {}, "variant": "in_memory", "metric": "txn_per_s", "class": "all",
             "stat": "mean", "value": -1.5, "ci_low": None, "ci_high": 2, "replications": 2,
             "unit": "1/s"}]  # fmt: skip
    summary = {"study": "small", "rows": rows, "comparisons": []}
    write_summary(folder, summary)
    return folder


@pytest.fixture(name="folder")
def copied_folder(finished: Path, tmp_path: Path) -> Path:
    """Returns a study's folder of the test's own."""
    return Path(shutil.copytree(finished, tmp_path / "small"))


@pytest.fixture(name="study")
def finished_study(finished: Path) -> FinishedStudy:
    """Returns the study."""
    return read_finished(finished)
