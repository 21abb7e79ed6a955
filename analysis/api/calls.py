"""The functions of ``import pessim``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from analysis.api.study import OpenedStudy
from analysis.lint.scenario_lint import scenario_warnings
from analysis.pipeline.object_store import ObjectStore, is_address
from analysis.report.explained import explained
from analysis.report.explained_table import explained_table
from analysis.running.listener import RunListener
from analysis.running.rounds import Plots
from analysis.running.run_study import run_study
from analysis.study.from_python import override_texts
from analysis.study.load import load_study
from analysis.study.shipped import shipped_files, shipped_name
from analysis.study.study_folder import StudyFolderError, study_folder
from sim.scenario.problems import shown

Source = str | Path | Mapping[str, Any]
"""A scenario file, ``pessim:NAME`` for one of those that come along, or what a file would say."""

_SILENT = RunListener()


def run(
    scenario: Source,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as --set
    folder: str | Path | None = None,
    seed: int | None = None,
    replications: int | None = None,
    master: str = "local[*]",
    plots: Plots = "all",
    listener: RunListener = _SILENT,
) -> OpenedStudy:
    """Runs what is missing of a study, writes all its files, and returns it.

    Units that are done are not run again; a study that is done is only opened.

    Args:
        scenario: a file, ``pessim:NAME``, or a dictionary.
        set: values by dotted keys, over what the scenario says.
        folder: the study's; None: ``results/<name>``, as the command names it. A dictionary's is
            named after its content. With the address of a folder in an object store, such as
            ``s3://BUCKET/FOLDER``, that is a copy of it.
        seed: of all random streams.
        replications: of every variant.
        master: of Spark.
        plots: ``"none"`` writes no pictures; ``study.plot`` draws them all the same.
        listener: is told how it goes.

    Raises:
        ScenarioError: with every problem of the scenario.
        UnitsMissingError: if units fail.
        StudyFolderError: if the folder cannot be used.
        SparkStartError: if Spark does not start.
        TypeError, ValueError: if an argument is none that this takes.
    """
    if plots not in get_args(Plots):
        raise ValueError(f"plots is {plots!r}; write one of {', '.join(get_args(Plots))}")
    changes = _changes(set)
    study = load_study(scenario, changes, seed, replications)
    named = "" if folder is None else str(folder)
    if folder is not None and not named:
        raise StudyFolderError("folder is empty; name one, or leave it out")
    store = ObjectStore.at(named) if is_address(named) else None
    if folder is None or store is not None:
        of_file = not isinstance(scenario, Mapping)
        name = study.name if of_file else f"{study.name}_{study.digest[:8]}"
        folder = study_folder(name, override_texts(changes) if of_file else (), seed)
    run_study(study, Path(folder), master, store=store, plots=plots, listener=listener)
    return OpenedStudy(Path(folder))


def _changes(given: Mapping[str, Any] | None) -> dict[str, Any]:
    if given is None or isinstance(given, Mapping):
        return dict(given or {})
    raise TypeError(
        f"set is {shown(given)}; write a dictionary, such as {{'workload.threads': 50}}"
    )


def open_study(folder: str | Path) -> OpenedStudy:
    """Returns a finished study, from its folder.

    Raises:
        StudyFolderError: if it is no folder of a study that was summed up.
    """
    return OpenedStudy(Path(folder))


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
    if points is not None and points < 1:
        raise ValueError(f"points is {points}; write 1 or more, or None for all")
    study = load_study(scenario, _changes(set))
    return explained_table(study.points, explained(study, points))


def check(scenario: Source, *, set: Mapping[str, Any] | None = None) -> list[str]:  # noqa: A002
    """Returns warnings of what a scenario cannot show.

    Raises:
        ScenarioError: with every problem of the scenario.
    """
    return [str(each) for each in scenario_warnings(load_study(scenario, _changes(set)))]


def scenarios() -> pd.DataFrame:
    """Returns the scenarios that come with the program: ``name``, and ``about``, its question."""
    files = shipped_files(".", "cookbook")
    return pd.DataFrame({
        "name": [shipped_name(file) for file in files],
        "about": [" ".join(load_study(file).about.split()) for file in files],
    })  # fmt: skip
