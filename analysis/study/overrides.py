"""Overrides: a dotted key and a value, from a command line, Python, a variant or a swept point.

Law: an override replaces the value at its key and nothing else; where the key is a whole section
(``tikv: {...}``) it is merged into it. A profile that is only named becomes figures first, so that
``hardware.disk.raft.write_iops`` changes one figure of the named disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Final

from analysis.study.json_schema import key_meant
from sim.scenario.problems import Mark, Problem, ScenarioError, shown
from sim.scenario.profiles import as_figures
from sim.scenario.reader import DEEPEST, read_value
from sim.scenario.schema.hardware import NAMED
from sim.scenario.tree import FLAT, REPLACED_WHOLE, Node, Path, Place, dotted, node_of, normalised
from sim.scenario.tree import merged as merged_trees

CASES = ("compare", "sweep", "expect", "capacity", "sensitivity")
"""Sections about cases; the others describe one."""

Overrides = dict[str, Node]

_VARIABLE = ("cluster", "hardware", "tikv", "workload", "operations")
"""Sections that variants and swept points may change; they share everything else."""


def plain_point(point: Overrides) -> dict[str, Any]:
    """Returns the values of a point as a file would write them."""
    return {key: node.plain() for key, node in point.items()}


def applied(tree: Node, overrides: Mapping[str, Node]) -> Node:
    """Returns a tree with all overrides in it, in their order."""
    for key, value in overrides.items():
        tree = _applied_one(tree, key, value)
    return tree


def _applied_one(tree: Node, key: str, value: Node) -> Node:
    path = path_of(key)
    if len(path) == 1 and isinstance(value.value, dict):
        section = normalised(Node({key: value}, value.mark, value.key_mark))
        return merged(tree, section)
    for depth in range(1, len(path)):
        whole = tree.find(path[:depth])
        if whole is not None and isinstance(whole.value, list):
            name = dotted(path[:depth])
            message = f"{name} is a list; set it as a whole: {name}=[...]"
            raise ScenarioError([Problem(value.mark, key, message)])
    for slot in (("hardware", *slot) for slot in NAMED):
        named = tree.find(slot)
        if named is not None and path[: len(slot)] == slot and len(path) > len(slot):
            tree = tree.replaced(slot, as_figures(named))
    return normalised(tree.replaced(path, value))


def command_line_overrides(texts: Sequence[str]) -> dict[str, Node]:
    """Returns the overrides of ``--set a.b=v``.

    Raises:
        ScenarioError: if one has no key, no value, or a value that is no YAML.
    """
    problems: list[Problem] = []
    overrides = {}
    for text in texts:
        mark = Mark(f"--set {text if len(text) <= 60 else text[:59] + '…'}")
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key or not all(key.split(".")):
            problems.append(Problem(mark, "", "must be key=value; write workload.threads=50"))
            continue
        try:
            plain = read_value(value, str(mark)).plain()
        except ScenarioError as error:
            problems += [Problem(mark, key, problem.message) for problem in error.problems]
        else:
            overrides[key] = node_of(plain, mark)
    if problems:
        raise ScenarioError(problems)
    return overrides


def may_change(place: Place) -> bool:
    """Returns whether a variant or a swept point may change a key; notes it if it may not."""
    key, said_in = str(place.path[-1]), dotted(place.path[:-1])
    section = key.split(".", maxsplit=1)[0]
    if section in _VARIABLE and all(key.split(".")):
        return True
    if section in ("run", "about", "extends", *CASES):
        place.refuse_key(f"all variants and points share {section}; set it once, outside {said_in}")
    else:
        place.refuse_key(f"{shown(key)} is not a key; {key_meant(key, _VARIABLE)}")
    return False


def overlap(key: str, other: str) -> bool:
    """Returns whether one of two keys is the other, or a part of it."""
    return f"{key}.".startswith(f"{other}.") or f"{other}.".startswith(f"{key}.")


_WHOLE: Final = REPLACED_WHOLE | {"compare", "sweep", "expect"}


def merged(base: Node, over: Node) -> Node:
    """Returns ``base`` with what ``over`` says; lists of cases are replaced."""
    return merged_trees(base, over, _WHOLE)


_RANGE = ("between", "scale")
_BY_DOTTED_KEY: dict[Path, tuple[str, ...]] = dict.fromkeys(FLAT, ()) | {
    ("sweep", "grid"): (),
    ("sweep", "map"): (),
    ("sweep", "latin_hypercube", "ranges"): _RANGE,
    ("run", "precision"): (),
    ("capacity", "slo"): (),
    ("capacity", "prices"): ("store", "tidb_node"),
    ("sensitivity", "factors"): _RANGE,
}
"""Mappings by a key with dots, and the keys of their entries."""


def path_of(key: str) -> Path:
    """Returns the path that a dotted key means."""
    parts = key.split(".")
    whole, last = _whole_from(parts)
    if len(parts) <= whole:
        return tuple(parts)
    rest = parts[whole:]
    if len(rest) > 1 and rest[-1] in last:
        return (*parts[:whole], ".".join(rest[:-1]), rest[-1])
    return (*parts[:whole], ".".join(rest))


def _whole_from(parts: list[str]) -> tuple[int, tuple[str, ...]]:
    """Returns how many parts of a path are steps, before the rest is one key.

    The second value has the words that may be one more step after that key.
    """
    if parts[0] == "compare":
        return 2, ()
    for path, last in _BY_DOTTED_KEY.items():
        if tuple(parts[: len(path)]) == path:
            return len(path), last
    return len(parts), ()


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
