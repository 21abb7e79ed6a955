"""Whether a folder's study asks what a new run asks, so that the run may go on there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from analysis.study.load import load_study
from analysis.study.study import Study
from analysis.study.study_folder import StudyFolderError
from sim.scenario.problems import ScenarioError

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
