"""The study that a folder holds, for commands that take it up again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from analysis.study import load
from analysis.study.finished_study import FinishedStudy
from analysis.study.study import Study
from analysis.study.study_folder import StudyFolderError, no_study


def load_folder(folder: Path) -> Study:
    """Returns the study of a folder.

    Raises:
        StudyFolderError: if it is no study's.
        ScenarioError: with what is wrong with its scenario.
    """
    scenario = folder / "scenario.yaml"
    if not scenario.is_file():
        raise StudyFolderError(no_study(folder, "scenario.yaml"))
    return load.load_study(scenario)


def finished_study(folder: Path, study: Study, **said: Any) -> FinishedStudy:
    """Returns a folder's study as far as it is finished; ``said``: other fields of it.

    Raises:
        StudyFolderError: if nothing of it is.
    """
    run = FinishedStudy.in_folder(folder, study, _name(folder), **said)
    if not run.done:
        message = f"{folder}: no finished unit matches its digests; run the scenario"
        raise StudyFolderError(message)
    return run


def _name(folder: Path) -> str:
    """Returns the name under which the study was run, else the folder's."""
    try:
        content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    said = content.get("study") if isinstance(content, dict) else None
    return str(said or folder.resolve().name)
