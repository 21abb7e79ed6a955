"""``sweep.skip``: constraints that leave a point out before it runs.

Law: an entry applies if all its conditions are true of a point; a point is left out if one entry
applies. A condition that can be true of no point is refused, because it is misspelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analysis.study.interpolation import amount_of, same_kind
from sim.scenario.problems import Problem, shown, suggestion
from sim.scenario.tree import Node

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


def skip_rules(
    node: Node | None, points: Sequence[Mapping[str, Node]], problems: list[Problem]
) -> list[Rule]:
    """Returns the rules of a list of constraints; adds what is wrong with them."""
    if node is None or not isinstance(node.value, list):
        return []
    rules: list[Rule] = []
    for place, entry in enumerate(node.value):
        path = f"sweep.skip[{place}]"
        if not entry.entries:
            problems.append(Problem(entry.mark, path, "is empty; write {key: value}"))
        rule = {
            key: _condition(child, f"{path}.{key}", _values(points, key), problems)
            for key, child in entry.entries.items()
            if _is_swept(key, child, path, points[0], problems)
        }
        rules.append(rule)
    return rules


def _values(points: Sequence[Mapping[str, Node]], key: str) -> list[Any]:
    """Returns the different values of a key, in the order of the points."""
    by_text = {repr(value): value for point in points for value in [point[key].plain()]}
    return list(by_text.values())


def _is_swept(
    key: str, node: Node, path: str, point: Mapping[str, Node], problems: list[Problem]
) -> bool:
    if key in point:
        return True
    message = f"is not swept; {suggestion(key, list(point))}"
    problems.append(Problem(node.key_mark, f"{path}.{key}", message))
    return False


def _condition(node: Node, path: str, values: Sequence[Any], problems: list[Problem]) -> Condition:
    """Returns what a value must fulfil."""
    if node.entries and set(node.entries) <= set(_BOUNDS):
        bounds = {
            word: bound.plain()
            for word, bound in node.entries.items()
            if _is_bound(bound, f"{path}.{word}", values, problems)
        }
        return lambda value: all(
            _BOUNDS[word](amount_of(value), amount_of(bound)) for word, bound in bounds.items()
        )
    if node.entries and not any(isinstance(value, dict) for value in values):
        word = next(word for word in node.entries if word not in _BOUNDS)
        message = f"no condition is called {word}; {suggestion(word, list(_BOUNDS))}"
        problems.append(Problem(node.mark, path, message))
        return lambda _: False
    alternatives = node.value if isinstance(node.value, list) else [node]
    for child in alternatives:
        if not any(_same(value, child.plain()) for value in values):
            swept = ", ".join(str(value) for value in values[:10])
            message = f"no point has {shown(child.value)}; use one of {swept}"
            problems.append(Problem(child.mark, path, message))
    plain = [child.plain() for child in alternatives]
    return lambda value: any(_same(value, other) for other in plain)


def _is_bound(node: Node, path: str, values: Sequence[Any], problems: list[Problem]) -> bool:
    """Returns whether all values can be compared with a bound; says so if not."""
    bound = node.plain()
    try:
        amount_of(bound)
    except ValueError as error:
        problems.append(Problem(node.mark, path, str(error)))
        return False
    other = next((value for value in values if not same_kind(value, bound)), None)
    if other is not None:
        message = f"{shown(bound)} cannot be compared with {shown(other)}; use its unit"
        problems.append(Problem(node.mark, path, message))
    return other is None


def _same(value: Any, other: Any) -> bool:
    """Returns whether two values mean the same, also in two units."""
    if value == other and isinstance(value, bool) == isinstance(other, bool):
        return True
    return same_kind(value, other) and amount_of(value) == amount_of(other)
