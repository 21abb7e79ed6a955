"""Scenarios and overrides that are dictionaries: what Python says instead of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    plain = {key: _plain(value, Mark(f"set {key}"), str(key)) for key, value in changes.items()}
    return [f"{key}={str(value).lower() if isinstance(value, bool) else value}"
            for key, value in plain.items()]  # fmt: skip


def _plain(value: Any, mark: Mark, path: str, depth: int = 0) -> Any:
    """Returns a value as YAML would have read it; what NumPy or pandas hold becomes Python's."""
    if depth > DEEPEST:
        what = f"more than {DEEPEST} levels deep; a scenario needs six"
        raise ScenarioError([Problem(mark, "", what)])
    match value:
        case Mapping():
            return {
                str(key): _plain(child, mark, f"{path}.{key}".removeprefix("."), depth + 1)
                for key, child in value.items()
            }
        case Sequence() if not isinstance(value, str | bytes | bytearray):
            return [
                _plain(child, mark, f"{path}[{at}]", depth + 1) for at, child in enumerate(value)
            ]
        case str() | int() | float() | None | PathLike():
            return _scalar(value)
        case _:
            listed = getattr(value, "tolist", None)
    if callable(listed):
        return _plain(listed(), mark, path, depth + 1)
    message = f"is {shown(str(value))}, of type {type(value).__name__}; write text, a number, a "
    raise ScenarioError([Problem(mark, path, f"{message}list or a dictionary")])


def _scalar(value: Any) -> Any:
    """Returns a plain value: texts and numbers of NumPy may be Python's, and be more than that."""
    if value is None or isinstance(value, bool):
        return value
    kinds = (kind for kind in (str, int, float) if isinstance(value, kind))
    kind: Any = next(kinds, fspath)
    return kind(value)
