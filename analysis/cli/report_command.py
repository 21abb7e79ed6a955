"""``report``: summary, tables and plots again, from the facts that are there."""

from __future__ import annotations

import time
from pathlib import Path

from analysis.cli.console import messages, say, words_aside
from analysis.cli.console_listener import ConsoleListener
from analysis.cli.exit_status import ExitStatus
from analysis.cli.failures import with_failures_reported
from analysis.cli.folder_commands import load_folder, study_name
from analysis.cli.study_report import report_result
from analysis.experiments.choose import experiment_of
from analysis.experiments.seen import SeenUnits
from analysis.pipeline.session import SparkStarter
from analysis.running.results import write_results
from analysis.running.rounds import Plots, RoundProgress, RoundSettings, show
from analysis.running.run_study import StudyResult
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import locked_study_folder


def report_command(
    folder: Path, master: str, plots: Plots = "all", *, as_json: bool = False
) -> int:
    """Makes summary, table and plots again, without running a unit."""
    begun_s = time.perf_counter()
    study = load_folder(folder)
    if study is None:
        return ExitStatus.BAD_INPUT
    starter = SparkStarter(master)
    settings = RoundSettings.of(study, folder, starter, plots=plots)

    def report_locked() -> int:
        with locked_study_folder(folder):
            run = finished_run(settings, begun_s)
            if run is None:
                return ExitStatus.BAD_INPUT
            written = write_results(run, starter, ConsoleListener(master), plots)
            return report_result(StudyResult(run, written.summary, written), as_json=as_json)

    with words_aside(when=as_json):
        return with_failures_reported(starter, report_locked)


def finished_run(settings: RoundSettings, begun_s: float) -> FinishedStudy | None:
    """Returns a folder's study as far as it is finished; None, after saying so, if nothing is."""
    folder, study = settings.folder, settings.job.study
    there = FinishedStudy.in_folder(folder, study, study_name(folder))
    if not there.done:
        say(messages(), f"{folder}: no finished unit agrees with its digests; run the scenario")
        return None
    experiment = experiment_of(study)
    progress = RoundProgress(
        there.plan, SeenUnits(there.plan), dict(there.done), dict(there.failed), there.reused
    )
    if experiment.keys():
        show(settings, experiment, progress)
    return progress.finished(settings, experiment, there.name, begun_s)
