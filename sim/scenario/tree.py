"""A scenario file as a tree whose every value knows where it was written.

Law: trees are never changed, only rebuilt along a path, so trees share what they do not
differ in, and a problem points at the file that caused it.

A mapping that chooses something by name (``profile``, ``kind``) keeps its other keys only as long
as the choice stays the same: figures beside another choice meant something else.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sim.scenario.problems import Mark, Problem, ScenarioError

Path = tuple[str | int, ...]
Scalar = str | int | float | bool | None

SELECTORS = ("profile", "kind")
REPLACED_WHOLE = frozenset(
    {"transactions", "operations"}
    | {"append", "fetch", "crowding", "fetch_crowding", "same_zone", "cross_zone", "think_time"}
)
"""Keys whose value replaces that of the file or profile below, instead of adding to it: lists, and
distributions, where a part of one and a part of another mean nothing."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value, with its place and that of its key."""

    value: Scalar | dict[str, Node] | list[Node]
    mark: Mark
    key_mark: Mark

    @property
    def entries(self) -> dict[str, Node]:
        """Returns the entries of a mapping, and none of anything else."""
        return self.value if isinstance(self.value, dict) else {}

    def plain(self) -> Any:
        """Returns the value without marks; keys without a value are left out."""
        if isinstance(self.value, dict):
            return {
                key: child.plain() for key, child in self.value.items() if child.value is not None
            }
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value

    def with_value(self, value: Scalar | dict[str, Node] | list[Node]) -> Node:
        """Returns a node at the same place with another value."""
        return Node(value, self.mark, self.key_mark)

    def find(self, path: Path) -> Node | None:
        """Returns the node at a path, or None."""
        node: Node | None = self
        for part in path:
            if node is None:
                return None
            node = _child(node, part)
        return node

    def replaced(self, path: Path, new: Node) -> Node:
        """Returns a tree with ``new`` at ``path``; what is no mapping on the way becomes one."""
        if not path:
            return new
        part, rest = str(path[0]), path[1:]
        child = self.entries.get(part) or Node({}, new.mark, new.key_mark)
        return self.with_value({**self.entries, part: child.replaced(rest, new)})


def _child(node: Node, part: str | int) -> Node | None:
    if isinstance(node.value, dict):
        return node.value.get(str(part))
    if isinstance(node.value, list) and isinstance(part, int) and part < len(node.value):
        return node.value[part]
    return None


def dotted(path: Path) -> str:
    """Returns a path as users write it."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def merged(base: Node, over: Node, whole: Collection[str] = REPLACED_WHOLE) -> Node:
    """Returns ``base`` with what ``over`` says; mappings are merged, all else is replaced.

    Args:
        base: what is below.
        over: what is said above it.
        whole: keys whose mappings are replaced, too.
    """
    if not isinstance(base.value, dict) or not isinstance(over.value, dict):
        return over
    if any(_chooses_another(base.value, over.value, key) for key in SELECTORS):
        return over
    entries = dict(base.value)
    for key, child in over.value.items():
        known = entries.get(key)
        keeps = known is not None and key not in whole
        entries[key] = merged(known, child, whole) if known is not None and keeps else child
    return over.with_value(entries)


def _chooses_another(base: dict[str, Node], over: dict[str, Node], key: str) -> bool:
    return key in over and (key not in base or base[key].value != over[key].value)


def node_of(value: Any, mark: Mark) -> Node:
    """Returns plain data as a tree, all of it at one mark."""
    if isinstance(value, dict):
        return Node({str(key): node_of(child, mark) for key, child in value.items()}, mark, mark)
    if isinstance(value, list | tuple):
        return Node([node_of(child, mark) for child in value], mark, mark)
    return Node(value, mark, mark)


FLAT: tuple[Path, ...] = (("tikv",), ("cluster", "tidb"))
"""Mappings whose keys have dots, in a file also spelled as mappings of mappings."""


def normalised(tree: Node) -> Node:
    """Returns a tree whose dotted keys are spelled in one way.

    Raises:
        ScenarioError: if one is given in two spellings.
    """
    problems: list[Problem] = []
    tree = _by_name(tree, problems)
    for path in FLAT:
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
            message = f"has the same name as another one, {name}; rename one of them"
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
            message = f"appears twice, in another spelling in line {line}; keep one"
            problems.append(Problem(child.key_mark, dotted((*path, name)), message))
        else:
            flat[name] = child
