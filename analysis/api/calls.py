"""The functions of ``import pessim``."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from analysis.api.arguments import (
    Source,
    changes_of,
    folder_of,
    master_of,
    plots_of,
    points_of,
    scenario_of,
    whole_of,
)
from analysis.api.study import OpenedStudy
from analysis.lint.scenario_lint import scenario_warnings
from analysis.pipeline.store_copy import place_of
from analysis.report.explained import explained
from analysis.report.explained_table import explained_table
from analysis.running.listener import ProgressListener
from analysis.running.rounds import Plots
from analysis.running.run_study import run_study
from analysis.study.load import load_study, shipped_scenarios
from analysis.study.overrides import override_texts
from analysis.study.study_folder import study_folder

_ONE_AT_A_TIME: Final = threading.Lock()
"""A process has one Spark: of two runs in two threads, the second waits."""


def run(
    scenario: Source,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as --set
    folder: str | Path | None = None,
    seed: int | None = None,
    replications: int | None = None,
    master: str = "local[*]",
    plots: Plots = "all",
    progress: bool = True,
) -> OpenedStudy:
    """Runs what is missing of a study, writes all its files, and returns it.

    Units that are done are not run again; a study that is done is only opened.

    Args:
        scenario: a file, ``pessim:NAME``, or a dictionary.
        set: values by dotted keys, over what the scenario says.
        folder: the study's; None: ``results/<name>``, as the command names it. A dictionary's is
            named after its content. One that is given may hold the same question, which is then
            extended, but no other. With the address of a folder in an object store, such as
            ``s3://BUCKET/FOLDER``, that is a copy of it.
        seed: of all random streams.
        replications: of every variant.
        master: of Spark.
        plots: ``"none"`` writes no pictures; ``study.plot`` draws them all the same.
        progress: whether to print on standard error how many units are finished, and each failure.

    Raises:
        ScenarioError: with every problem of the scenario.
        UnitsMissingError: if units fail.
        StudyFolderError: if the folder cannot be used, or holds another question's study.
        SparkStartError: if Spark does not start.
        TypeError, ValueError: if an argument is none that this takes.
    """
    drawn, runs_on, changes = plots_of(plots), master_of(master), changes_of(set)
    study = load_study(scenario_of(scenario), changes, whole_of(seed), whole_of(replications))
    of_file = not isinstance(scenario, Mapping)
    name = study.name if of_file else f"{study.name}_{study.digest[:8]}"
    usual = study_folder(name, override_texts(changes) if of_file else (), seed)
    where, store = place_of(None if folder is None else folder_of(folder), usual)
    told = ProgressListener() if progress else None
    chosen = folder is not None and store is None
    with _ONE_AT_A_TIME:
        run_study(
            study, where, runs_on, store=store, plots=drawn, listener=told, same_question=chosen
        )
    return OpenedStudy(where)


def open_study(folder: str | Path) -> OpenedStudy:
    """Returns a finished study, from its folder.

    Raises:
        StudyFolderError: if it is no folder of a study that was summed up.
    """
    return OpenedStudy(Path(folder_of(folder)))


def explain(
    scenario: Source,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as --set
    points: int | None = None,
) -> pd.DataFrame:
    """Returns what to expect of a scenario, worked out without running it.

    Args:
        scenario: as ``run`` takes it.
        set: likewise.
        points: so many at most, about a second each; None for all.

    Returns:
        A row a number, with the columns of ``OpenedStudy.summary`` as far as an estimate has them.

    Raises:
        ScenarioError: as ``run``.
    """
    most = points_of(points)
    study = load_study(scenario_of(scenario), changes_of(set))
    return explained_table(study.points, explained(study, most))


def check(scenario: Source, *, set: Mapping[str, Any] | None = None) -> list[str]:  # noqa: A002
    """Returns warnings of what a scenario cannot show.

    Raises:
        ScenarioError: with every problem of the scenario.
    """
    study = load_study(scenario_of(scenario), changes_of(set))
    return [str(each) for each in scenario_warnings(study)]


def scenarios() -> pd.DataFrame:
    """Returns the scenarios that come with the program: ``name``, and ``about``, its question."""
    return pd.DataFrame(shipped_scenarios())[["name", "about"]]
