"""``report``: summary, tables and plots again, from the facts that are there."""

from __future__ import annotations

import time
from pathlib import Path

from analysis.cli.console import messages, say, words_aside
from analysis.cli.console_listener import ConsoleListener
from analysis.cli.exit_status import ExitStatus
from analysis.cli.failures import with_failures_reported
from analysis.cli.folder_commands import load_folder, study_name
from analysis.cli.study_report import Listener, listener_of, report_study
from analysis.experiments.choose import experiment_of
from analysis.experiments.seen import SeenUnits
from analysis.pipeline.session import SparkStarter
from analysis.pipeline.unit_task import UnitJob
from analysis.running.rounds import Plots, RoundProgress, RoundSettings, show
from analysis.study.finished_study import FinishedStudy
from analysis.study.study import Study
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
    settings = RoundSettings(
        folder=folder, job=UnitJob(study, str(folder / "units")), starter=starter, plots=plots
    )

    def report_locked() -> int:
        with locked_study_folder(folder):
            return _report(settings, study, begun_s, listener_of(as_json=as_json))

    with words_aside(when=as_json):
        return with_failures_reported(starter, report_locked)


def _report(settings: RoundSettings, study: Study, begun_s: float, listener: Listener) -> int:
    run = finished_run(settings, study, begun_s)
    if run is None:
        return ExitStatus.BAD_INPUT
    return report_study(
        run, settings.starter, ConsoleListener(settings.starter.master), listener, settings.plots
    )


def finished_run(settings: RoundSettings, study: Study, begun_s: float) -> FinishedStudy | None:
    """Returns a folder's study as far as it is finished; None, after saying so, if nothing is."""
    folder = settings.folder
    there = FinishedStudy.in_folder(folder, study, study_name(folder))
    if not there.done:
        say(messages(), f"{folder}: no finished unit matches its digests; run the scenario")
        return None
    experiment = experiment_of(study)
    progress = RoundProgress(
        there.plan, SeenUnits(there.plan), dict(there.done), dict(there.failed), there.reused
    )
    if experiment.keys():
        show(settings, experiment, progress)
    return progress.finished(settings, experiment, there.name, begun_s)
