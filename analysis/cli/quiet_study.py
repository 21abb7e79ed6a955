"""A study that is run for its numbers alone: no tables, figures or pages, only ``summary.json``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.cli.console import messages, say
from analysis.cli.rounds import RoundSettings, count, run_rounds
from analysis.cli.study_report import summed_up
from analysis.experiments.choose import experiment_of
from analysis.pipeline.session import SparkStarter
from analysis.pipeline.unit_task import UnitJob
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.study_folder import locked_study_folder, write_text_whole
from analysis.study.units import Unit


class UnitsMissingError(Exception):
    """Units failed, so that there is no whole summary; the text says how many, and where."""


def quiet_summary(study: Study, folder: Path, starter: SparkStarter) -> dict[str, Any]:
    """Runs what is missing of a study in its folder and returns the content of its summary.

    Raises:
        UnitsMissingError: if units fail.
        StudyFolderError: if another run is at work there.
    """
    begun_s = time.perf_counter()
    settings = RoundSettings(
        folder=folder,
        job=UnitJob(study, str((folder / "units").resolve())),
        starter=starter,
    )
    with locked_study_folder(folder):
        write_text_whole(folder / "scenario.yaml", study.resolved_yaml())
        experiment, plan = experiment_of(study), Plan(study)
        progress = run_rounds(settings, experiment, plan, _announce(study.name))
        run = progress.finished(settings, experiment, study.name, begun_s)
        if run.missing:
            raise UnitsMissingError(f"{count(run.missing, 'unit')} failed; see status {folder}")
        return summed_up(run, starter, figure_points=0)[1]


def _announce(name: str) -> Any:
    def announce(_plan: Plan, asked: Sequence[Unit], done: int) -> None:
        kept = f" ({done:,} already done)" if done else ""
        say(messages(), f"{name}: {count(len(asked), 'unit')}{kept}")

    return announce
