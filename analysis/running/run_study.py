"""A study from Python: one call runs what is missing and returns what came out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.experiments.choose import experiment_of
from analysis.pipeline.session import SparkStarter, stop_spark
from analysis.pipeline.unit_task import UnitJob
from analysis.running.listener import RunListener
from analysis.running.results import sum_up, write_results
from analysis.running.rounds import RoundSettings, count, run_rounds
from analysis.study.finished_study import FinishedStudy
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.study_folder import locked_study_folder, write_text_whole


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What running a study came to."""

    run: FinishedStudy
    summary: Mapping[str, Any]
    """Content of ``summary.json``."""


class UnitsMissingError(Exception):
    """Units failed, so that there is no whole summary; the text says how many, and where."""


def run_study(study: Study, folder: Path, master: str = "local[*]") -> StudyResult:
    """Runs what is missing of a study in its folder and writes all its files, page included.

    Args:
        study: from ``load_study``.
        folder: where units and results lie; what is done there is not run again.
        master: of Spark.

    Raises:
        UnitsMissingError: if units fail.
        StudyFolderError: if the folder cannot be used, or another run is at work there.
        SparkStartError: if Spark does not start.
    """
    starter = SparkStarter(master)
    try:
        with locked_study_folder(folder):
            run = _run_units(study, folder, starter, RunListener())
            return StudyResult(run, write_results(run, starter, RunListener()).summary)
    finally:
        stop_spark(starter)


def summarise_study(
    study: Study, folder: Path, starter: SparkStarter, listener: RunListener
) -> StudyResult:
    """Runs what is missing of a study for its numbers alone: of all files only ``summary.json``.

    Raises:
        UnitsMissingError: if units fail.
        StudyFolderError: as ``run_study``.
    """
    with locked_study_folder(folder):
        run = _run_units(study, folder, starter, listener)
        return StudyResult(run, sum_up(run, starter, figure_points=0)[1])


def _run_units(
    study: Study, folder: Path, starter: SparkStarter, listener: RunListener
) -> FinishedStudy:
    begun_s = time.perf_counter()
    job = UnitJob(study, str((folder / "units").resolve()))
    settings = RoundSettings(folder=folder, job=job, starter=starter)
    write_text_whole(folder / "scenario.yaml", study.resolved_yaml())
    experiment, plan = experiment_of(study), Plan(study)
    progress = run_rounds(settings, experiment, plan, listener)
    run = progress.finished(settings, experiment, study.name, begun_s)
    if run.missing:
        raise UnitsMissingError(f"{count(run.missing, 'unit')} failed; see status {folder}")
    return run
