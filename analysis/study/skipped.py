"""``sweep.skip``: constraints that leave a point out before it runs.

Law: an entry applies if all its conditions are true of a point; a point is left out if one entry
applies. A condition that can be true of no point is refused, because it is misspelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from analysis.study.interpolation import amount_of, same_kind
from sim.scenario.problems import shown, suggestion
from sim.scenario.tree import Node, Place

Condition = Callable[[Any], bool]
Rule = Mapping[str, Condition]
"""By swept key: whether a value fulfils the condition."""

_BOUNDS: Mapping[str, Callable[[float, float], bool]] = {
    "above": lambda value, bound: value > bound,
    "below": lambda value, bound: value < bound,
}


def is_skipped(point: Mapping[str, Node], rules: Sequence[Rule]) -> bool:
    """Returns whether one of the rules applies to a point."""
    return any(
        all(condition(point[key].plain()) for key, condition in rule.items()) for rule in rules
    )


def skip_rules(place: Place, points: Sequence[Mapping[str, Node]]) -> list[Rule]:
    """Returns the rules of a list of constraints; notes what is wrong with them."""
    rules: list[Rule] = []
    for entry in place.below().values():
        if not entry.node.entries:
            entry.refuse("is empty; write {key: value}")
        rules.append({
            key: _condition(each, _values(points, key))
            for key, each in entry.below().items()
            if _is_swept(each, points[0])
        })  # fmt: skip
    return rules


def _values(points: Sequence[Mapping[str, Node]], key: str) -> list[Any]:
    """Returns the different values of a key, in the order of the points."""
    by_text = {repr(value): value for point in points for value in [point[key].plain()]}
    return list(by_text.values())


def _is_swept(place: Place, point: Mapping[str, Node]) -> bool:
    key = str(place.path[-1])
    if key in point:
        return True
    place.refuse_key(f"is not swept; {suggestion(key, list(point))}")
    return False


def _condition(place: Place, values: Sequence[Any]) -> Condition:
    """Returns what a value must fulfil."""
    node = place.node
    if node.entries and set(node.entries) <= set(_BOUNDS):
        bounds = {
            word: each.node.plain()
            for word, each in place.below().items()
            if _is_bound(each, values)
        }
        return lambda value: all(
            _BOUNDS[word](amount_of(value), amount_of(bound)) for word, bound in bounds.items()
        )
    if node.entries and not any(isinstance(value, dict) for value in values):
        word = next(word for word in node.entries if word not in _BOUNDS)
        place.refuse(f"no condition is called {word}; {suggestion(word, list(_BOUNDS))}")
        return lambda _: False
    alternatives = node.value if isinstance(node.value, list) else [node]
    for child in alternatives:
        if not any(_same(value, child.plain()) for value in values):
            swept = ", ".join(str(value) for value in values[:10])
            message = f"no point has {shown(child.value)}; use one of {swept}"
            replace(place, node=child).refuse(message)
    plain = [child.plain() for child in alternatives]
    return lambda value: any(_same(value, other) for other in plain)


def _is_bound(place: Place, values: Sequence[Any]) -> bool:
    """Returns whether all values can be compared with a bound; notes it if not."""
    bound = place.node.plain()
    try:
        amount_of(bound)
    except ValueError as error:
        place.refuse(str(error))
        return False
    other = next((value for value in values if not same_kind(value, bound)), None)
    if other is not None:
        place.refuse(f"{shown(bound)} cannot be compared with {shown(other)}; use its unit")
    return other is None


def _same(value: Any, other: Any) -> bool:
    """Returns whether two values mean the same, also in two units."""
    if value == other and isinstance(value, bool) == isinstance(other, bool):
        return True
    return same_kind(value, other) and amount_of(value) == amount_of(other)
