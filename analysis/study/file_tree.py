"""Trees of study files: which path a dotted key means, and how one file lies over another."""

from __future__ import annotations

from typing import Final

from sim.scenario.tree import FLAT, REPLACED_WHOLE, Node, Path
from sim.scenario.tree import merged as merged_trees

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
