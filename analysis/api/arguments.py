"""Arguments of ``import pessim``: taken, or refused in a sentence that says what to write."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from os import PathLike, fspath
from pathlib import Path
from typing import Any, get_args

from analysis.pipeline.spark_master import complaint_about_master
from analysis.running.rounds import Plots
from analysis.study.study_folder import StudyFolderError
from sim.scenario.problems import shown

Source = str | Path | Mapping[str, Any]
"""A scenario file, ``pessim:NAME`` for one of those that come along, or what a file would say."""


def scenario_of(given: object) -> Source:
    """Returns a scenario as it may be loaded.

    Raises:
        TypeError: if it is no name of a file and no dictionary.
        ValueError: if the name is empty.
    """
    if isinstance(given, Mapping):
        return given
    return _text_of("scenario", given, "a file's name, pessim:NAME or a dictionary", ValueError)


def folder_of(given: object) -> str:
    """Returns the name of a folder.

    Raises:
        TypeError: if it is no name.
        StudyFolderError: if it is empty.
    """
    return _text_of("folder", given, "its name", StudyFolderError)


def changes_of(given: object) -> dict[str, Any]:
    """Returns values by dotted keys.

    Raises:
        TypeError: if they are no dictionary.
    """
    if given is None or isinstance(given, Mapping):
        return dict(given or {})
    raise TypeError(
        f"set is {_shown(given)}; write a dictionary, such as {{'workload.threads': 50}}"
    )


def points_of(given: object) -> int | None:
    """Returns how many points are asked for, None for all.

    Raises:
        TypeError, ValueError: if it is no such number.
    """
    if given is None:
        return None
    remedy = "write 1 or more, or None for all"
    number = whole_of(given)
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"points is {_shown(given)}; {remedy}")
    if number < 1:
        raise ValueError(f"points is {number}; {remedy}")
    return number


def whole_of(given: Any) -> Any:
    """Returns a whole number of NumPy as one of Python; anything else as it is."""
    try:
        return given if isinstance(given, bool) else index(given)
    except TypeError:
        return given


def plots_of(given: object) -> Plots:
    """Returns which pictures are asked for.

    Raises:
        ValueError: if there is no such choice.
    """
    for choice in get_args(Plots):
        if given == choice:
            return choice  # type: ignore[no-any-return]  # get_args forgets the types
    raise ValueError(f"plots is {_shown(given)}; write one of {', '.join(get_args(Plots))}")


def master_of(given: object) -> str:
    """Returns a Spark master.

    Raises:
        TypeError, ValueError: if it is none.
    """
    master = _text_of("master", given, "its name, such as local[2]")
    complaint = complaint_about_master(master)
    if complaint:
        raise ValueError(f"master: {complaint}")
    return master


def _text_of(name: str, given: object, what: str, if_empty: type[Exception] | None = None) -> str:
    if isinstance(given, str | PathLike):
        text = fspath(given)
        if not text and if_empty is not None:
            raise if_empty(f"{name} is empty; write {what}")
        if isinstance(text, str):
            return text
    raise TypeError(f"{name} is {_shown(given)}; write {what}")


def _shown(given: object) -> str:
    """Returns a value in Python's words, or its type where those may be many."""
    if given is None or isinstance(given, bool | int | float):
        return repr(given)
    return shown(given) if isinstance(given, str) else f"a {type(given).__name__}"
