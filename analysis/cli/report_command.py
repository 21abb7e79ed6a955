"""``report``: summary, tables and plots again, from the facts that are there."""

from __future__ import annotations

import time
from pathlib import Path

from analysis.cli.console import words_aside
from analysis.cli.console_listener import ConsoleListener
from analysis.cli.folder_study import finished_study, load_folder
from analysis.cli.spark import spark
from analysis.cli.study_report import report_result
from analysis.experiments.choose import experiment_of
from analysis.experiments.seen import SeenUnits
from analysis.running.results import write_results
from analysis.running.rounds import Plots, RoundProgress, RoundSettings, show
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import locked_study_folder


def report_command(
    folder: Path, master: str, plots: Plots = "all", *, as_json: bool = False
) -> int:
    """Makes summary, table and plots again, without running a unit."""
    begun_s = time.perf_counter()
    study = load_folder(folder)
    with words_aside(when=as_json), spark(master) as starter, locked_study_folder(folder):
        settings = RoundSettings.of(study, folder, starter, plots=plots)
        run = finished_run(settings, begun_s)
        result = write_results(run, starter, ConsoleListener(master), plots)
        return report_result(result, as_json=as_json)


def finished_run(settings: RoundSettings, begun_s: float) -> FinishedStudy:
    """Returns a folder's study as far as it is finished, with what its experiment found.

    Raises:
        StudyFolderError: if nothing is.
    """
    there = finished_study(settings.folder, settings.job.study)
    experiment = experiment_of(settings.job.study)
    progress = RoundProgress(
        there.plan, SeenUnits(there.plan), dict(there.done), dict(there.failed), there.reused
    )
    if experiment.keys():
        show(settings, experiment, progress)
    return progress.finished(settings, experiment, there.name, begun_s)
