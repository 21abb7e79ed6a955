"""A scenario file as a tree whose every value knows where it was written.

Law: trees are never changed, only rebuilt along a path, so a base file, a variant and a swept
point share what they do not differ in, and a problem points at the file that caused it.

A mapping that chooses something by name (``profile``, ``kind``) keeps its other keys only as long
as the choice stays the same: figures beside another choice meant something else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sim.scenario.problems import Mark

Path = tuple[str | int, ...]
Scalar = str | int | float | bool | None

SELECTORS = ("profile", "kind")
REPLACED_WHOLE = frozenset(
    {"compare", "sweep", "expect", "transactions", "operations"}
    | {"append", "fetch", "crowding", "fetch_crowding", "same_zone", "cross_zone", "think_time"}
)
"""Keys whose value replaces that of the file or profile below, instead of adding to it: lists of
cases, and distributions, where a part of one and a part of another mean nothing."""


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


def merged(base: Node, over: Node) -> Node:
    """Returns ``base`` with what ``over`` says; mappings are merged, all else is replaced."""
    if not isinstance(base.value, dict) or not isinstance(over.value, dict):
        return over
    if any(_chooses_anew(base.value, over.value, key) for key in SELECTORS):
        return over
    entries = dict(base.value)
    for key, child in over.value.items():
        known = entries.get(key)
        keeps = known is not None and key not in REPLACED_WHOLE
        entries[key] = merged(known, child) if known is not None and keeps else child
    return over.with_value(entries)


def _chooses_anew(base: dict[str, Node], over: dict[str, Node], key: str) -> bool:
    return key in over and (key not in base or base[key].value != over[key].value)


def node_of(value: Any, mark: Mark) -> Node:
    """Returns plain data as a tree that lies wholly at one mark."""
    if isinstance(value, dict):
        return Node({str(key): node_of(child, mark) for key, child in value.items()}, mark, mark)
    if isinstance(value, list | tuple):
        return Node([node_of(child, mark) for child in value], mark, mark)
    return Node(value, mark, mark)
