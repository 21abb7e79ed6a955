"""Scenarios and overrides that are dictionaries: what Python says instead of a file."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from sim.scenario.problems import Mark, Problem, ScenarioError, shown
from sim.scenario.reader import DEEPEST
from sim.scenario.tree import Node, node_of


def tree_of(scenario: Mapping[str, Any]) -> Node:
    """Returns a scenario as it would be read from a file.

    Raises:
        ScenarioError: if it holds something that a file cannot say.
    """
    mark = Mark("scenario")
    return node_of(_plain(scenario, mark, ""), mark)


def overrides_of(changes: Mapping[str, Any]) -> dict[str, Node]:
    """Returns overrides by their dotted keys, as ``--set`` gives them.

    Raises:
        ScenarioError: as ``tree_of``.
    """
    found = {}
    for key, value in changes.items():
        mark = Mark(f"set {key}")
        found[str(key)] = node_of(_plain(value, mark, str(key)), mark)
    return found


def override_texts(changes: Mapping[str, Any]) -> list[str]:
    """Returns overrides as they would be typed after ``--set``, to name a folder by them."""
    return [f"{key}={str(value).lower() if isinstance(value, bool) else value}"
            for key, value in changes.items()]  # fmt: skip


def _plain(value: Any, mark: Mark, path: str, depth: int = 0) -> Any:
    """Returns a value as YAML would have read it; numbers of NumPy become Python's."""
    if depth > DEEPEST:
        what = f"more than {DEEPEST} levels deep; a scenario needs six"
        raise ScenarioError([Problem(mark, "", what)])
    match value:
        case Mapping():
            return {
                str(key): _plain(child, mark, f"{path}.{key}".removeprefix("."), depth + 1)
                for key, child in value.items()
            }
        case list() | tuple():
            return [
                _plain(child, mark, f"{path}[{at}]", depth + 1) for at, child in enumerate(value)
            ]
        case None | str() | bool() | int() | float():
            return value
        case PathLike():
            return fspath(value)
        case _ if callable(getattr(value, "item", None)):
            return _plain(value.item(), mark, path)
        case _:
            pass
    message = f"is {shown(str(value))}, of type {type(value).__name__}; write text, a number, a "
    raise ScenarioError([Problem(mark, path, f"{message}list or a dictionary")])
