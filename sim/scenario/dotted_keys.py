"""Dotted keys: one spelling for ``tikv.a.b: 1``, ``tikv: {a.b: 1}`` and ``tikv: {a: {b: 1}}``.

TiKV's own keys have dots in them. Below ``tikv`` and ``cluster.tidb`` a key is therefore always the
whole rest of the path; everywhere else a dot steps down one mapping.

``operations`` may be a list; it becomes a mapping by ``name``, or else by place (from 0), so that
``operations.NAME.every`` is a key like any other.
"""

from __future__ import annotations

from sim.scenario.problems import Problem, ScenarioError
from sim.scenario.tree import Node, Path, dotted

_FLAT: tuple[Path, ...] = (("tikv",), ("cluster", "tidb"))
"""Mappings whose keys have dots, in a file also spelled as mappings of mappings."""

_RANGE = ("between", "scale")
_BY_DOTTED_KEY: dict[Path, tuple[str, ...]] = dict.fromkeys(_FLAT, ()) | {
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


def normalised(tree: Node) -> Node:
    """Returns a tree whose dotted keys are spelled in one way.

    Raises:
        ScenarioError: if one is given in two spellings.
    """
    problems: list[Problem] = []
    tree = _by_name(tree, problems)
    for path in _FLAT:
        node = tree.find(path)
        if node is not None and isinstance(node.value, dict):
            flat: dict[str, Node] = {}
            _flatten(node, "", path, flat, problems)
            tree = tree.replaced(path, node.with_value(flat))
    if problems:
        raise ScenarioError(problems)
    return tree


def _by_name(tree: Node, problems: list[Problem]) -> Node:
    """Returns a tree whose operations are a mapping."""
    node = tree.entries.get("operations")
    if node is None or not isinstance(node.value, list):
        return tree
    named: dict[str, Node] = {}
    for place, entry in enumerate(node.value):
        said = entry.entries.get("name")
        name = said.value if said is not None and isinstance(said.value, str) else str(place)
        if name in named:
            message = f"is called {name} as another one; call it otherwise"
            problems.append(Problem(entry.mark, f"operations[{place}]", message))
        named[name] = entry
    return tree.replaced(("operations",), node.with_value(named))


def _flatten(
    node: Node, prefix: str, path: Path, flat: dict[str, Node], problems: list[Problem]
) -> None:
    for key, child in node.entries.items():
        name = f"{prefix}{key}"
        if isinstance(child.value, dict):
            _flatten(child, f"{name}.", path, flat, problems)
        elif name in flat:
            line = flat[name].key_mark.line
            message = f"is said twice, in another spelling in line {line}; keep one"
            problems.append(Problem(child.key_mark, dotted((*path, name)), message))
        else:
            flat[name] = child
