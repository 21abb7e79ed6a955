"""``report``: summary, tables and plots again, from the facts that are there."""

from __future__ import annotations

import time

from analysis.cli.spark import spark
from analysis.cli.study_app import ReportCommand
from analysis.cli.study_report import ConsoleListener, report_result
from analysis.running.results import write_results
from analysis.running.rounds import Plots, Rounds, RoundSettings
from analysis.study.finished_study import FinishedStudy, finished_study, load_folder
from analysis.study.study_folder import locked_study_folder
from analysis.terminal.console import words_aside
from analysis.terminal.streams import finished_unread


def report_command(request: ReportCommand) -> int:
    """Makes summary, table and plots again, without running a unit."""
    begun_s = time.perf_counter()
    folder, study = request.folder, load_folder(request.folder)
    plots: Plots = "none" if request.no_plots else "all"
    with (
        words_aside(when=request.as_json),
        finished_unread(),
        spark(request.master) as starter,
        locked_study_folder(folder),
    ):
        run = finished_run(RoundSettings.of(study, folder, starter, plots=plots), begun_s)
        result = write_results(run, starter, ConsoleListener(request.master), plots)
        return report_result(result, as_json=request.as_json)


def finished_run(settings: RoundSettings, begun_s: float) -> FinishedStudy:
    """Returns a folder's study as far as it is finished, with what its experiment found.

    Raises:
        StudyFolderError: if nothing is.
    """
    there = finished_study(settings.folder, settings.job.study)
    done, failed = dict(there.done), dict(there.failed)
    rounds = Rounds(settings, there.plan, done, failed, there.reused)
    rounds.show()
    return rounds.finished(there.name, begun_s)
