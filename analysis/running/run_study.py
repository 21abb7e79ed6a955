"""A study from Python: one call runs what is missing and returns what came out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from analysis.pipeline.object_store import ObjectStore
from analysis.pipeline.session import SparkStarter, stop_spark
from analysis.pipeline.spark_master import is_local
from analysis.pipeline.store_copy import copied_study_folder
from analysis.program import command
from analysis.report.manifest import is_finished, present_summary
from analysis.running.listener import RunListener
from analysis.running.results import StudyResult, sum_up, write_results
from analysis.running.rounds import Plots, Rounds, RoundSettings
from analysis.statistics.amounts import count
from analysis.study.finished_study import FinishedStudy
from analysis.study.load import load_study
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.study_folder import StudyFolderError, locked_study_folder, write_text_whole
from sim.scenario.problems import ScenarioError


class UnitsMissingError(Exception):
    """Units failed, so that there is no whole summary; the text says how many, and where."""


def run_study(  # noqa: PLR0913 - what a run is made of, named
    study: Study,
    folder: Path,
    master: str = "local[*]",
    *,
    plots: Plots = "all",
    store: ObjectStore | None = None,
    listener: RunListener | None = None,
    same_question: bool = False,
) -> StudyResult:
    """Runs what is missing of a study in its folder and writes all its files, page included.

    Args:
        study: from ``load_study``.
        folder: where units and results lie; what is done there is not run again.
        master: of Spark.
        plots: which pictures are written.
        store: where executors put units, and all files are put in the end; the folder is a copy.
        listener: is told how it goes; None: nobody is.
        same_question: whether a folder that holds a study with another question is refused.

    Raises:
        UnitsMissingError: if units fail; what is done is summed up all the same.
        StudyFolderError: if the folder cannot be used, or another run is at work there.
        SparkStartError: if Spark does not start.
    """
    starter = SparkStarter(master, shares_folder=store is None or is_local(master))
    settings = RoundSettings.of(study, folder, starter, store, plots=plots)
    try:
        with copied_study_folder(folder, store):
            if same_question:
                refuse_another_question(folder, study)
            result = complete_study(settings, listener or RunListener(), time.perf_counter())
    finally:
        stop_spark(starter)
    _check_whole(result.run)
    return result


def summarise_study(
    study: Study, folder: Path, starter: SparkStarter, listener: RunListener
) -> StudyResult:
    """Runs what is missing of a study for its numbers alone: no page, no pictures.

    Raises:
        UnitsMissingError: if units fail.
        StudyFolderError: as ``run_study``.
    """
    settings = RoundSettings.of(study, folder, starter)
    with locked_study_folder(folder):
        _write_scenario(settings)
        run = _run_units(settings, listener, time.perf_counter())
        _check_whole(run)
        return StudyResult(run, sum_up(run, starter, figure_points=0)[1])


def complete_study(settings: RoundSettings, listener: RunListener, begun_s: float) -> StudyResult:
    """Runs what is missing in a locked folder and writes all files, unless nothing has changed.

    Args:
        settings: the study's folder, and how its units are run.
        listener: is told how it goes.
        begun_s: when the call began, on ``perf_counter``.
    """
    _write_scenario(settings)
    known = _unchanged(settings, begun_s)
    if known is not None:
        return known
    listener.begins(settings.job.study)
    run = _run_units(settings, listener, begun_s)
    return write_results(run, settings.starter, listener, settings.plots)


def _write_scenario(settings: RoundSettings) -> None:
    text = settings.job.study.resolved_yaml()
    write_text_whole(settings.folder / "scenario.yaml", text)


def _unchanged(settings: RoundSettings, begun_s: float) -> StudyResult | None:
    """Returns what is known already, without Spark; None if there is something to do."""
    folder, study = settings.folder, settings.job.study
    if not is_finished(folder, study):
        return None
    run = FinishedStudy.in_folder(folder, study, study.name, settings.job.model, begun_s=begun_s)
    if run.missing:
        return None
    summary = present_summary(folder, study, run.done)
    return None if summary is None else StudyResult(run, summary)


def _run_units(settings: RoundSettings, listener: RunListener, begun_s: float) -> FinishedStudy:
    study = settings.job.study
    rounds = Rounds(settings, Plan(study))
    rounds.run(listener)
    if rounds.failed_before:
        listener.left_alone(rounds.failed_before)
    return rounds.finished(study.name, begun_s)


def _check_whole(run: FinishedStudy) -> None:
    if run.missing:
        raise UnitsMissingError(
            f"{count(run.missing, 'unit')} failed; see {command('status', run.folder)}"
        )


_EXTENDS: Final = frozenset({
    "about", "expect", "run.replications", "run.precision", "run.max_replications", "run.checks",
})  # fmt: skip
"""Keys that ask for more of the same, or judge it anew; its numbers stay what they are."""
_MOST_SHOWN: Final = 3


def refuse_another_question(folder: Path, study: Study) -> None:
    """Refuses a folder that holds a study with another question; without any it may be used.

    Raises:
        StudyFolderError: with the keys that differ, and what to do.
    """
    file = folder / "scenario.yaml"
    if not file.is_file():
        return
    remedy = "choose another folder, or remove this one"
    try:
        there = load_study(file)
    except ScenarioError as error:
        raise StudyFolderError(
            f"{folder}: holds a study whose scenario.yaml this version cannot read "
            f"({error.problems[0]}); {remedy}"
        ) from error
    before, now = (dict(_flat(each)) for each in (there, study))
    keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    differ = [key for key in keys if key not in _EXTENDS]
    if differ:
        more = len(differ) - _MOST_SHOWN
        shown = ", ".join(differ[:_MOST_SHOWN]) + (f" and {more:,} more keys" if more > 0 else "")
        raise StudyFolderError(
            f"{folder}: holds a study that asks another question, with other values of {shown}; "
            f"{remedy}"
        )


def _flat(study: Study) -> Iterator[tuple[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load(study.resolved_yaml(), Loader=loader)
    for section, said in document.items():
        yield from _entries(section, said)


def _entries(key: str, said: Any) -> Iterator[tuple[str, Any]]:
    """Yields values by dotted keys; a list, and what ``precision`` says, stays whole."""
    if isinstance(said, Mapping) and said and key not in _EXTENDS:
        for name, value in said.items():
            yield from _entries(f"{key}.{name}", value)
    else:
        yield key, said
