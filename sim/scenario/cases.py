"""The cases of a study: its variants, its swept points, and the claims about them.

Law: the first variant is the baseline. Points are the product of the swept values, the last key
varying fastest. A key is changed by variants or by the sweep, never by both, since one of the two
would have no effect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from sim.scenario.fields import NAME_PATTERN
from sim.scenario.metrics import METRICS
from sim.scenario.overrides import check_key
from sim.scenario.problems import Problem, shown, suggestion
from sim.scenario.resolved import Expectation, Scenario
from sim.scenario.schema.study import ExpectSection, SweepSection
from sim.scenario.tree import Node, Path, dotted
from sim.scenario.validation import LATER, unknown_key, validated

Overrides = dict[str, Node]

MOST_CASES = 10_000
"""Points times variants."""

_MODE_KEYS = ("tikv.pessimistic-txn.pipelined", "tikv.pessimistic-txn.in-memory")


def variants_of(tree: Node, problems: list[Problem]) -> dict[str, Overrides]:
    """Returns the overrides of each variant; without ``compare`` there is one, without a change."""
    node = tree.entries.get("compare")
    if node is None or node.value is None:
        return {_only_name(tree): {}}
    if not isinstance(node.value, dict) or not node.value:
        message = f"must be a mapping, is {shown(node.value)}; write name: {{dotted.key: value}}"
        problems.append(Problem(node.mark, "compare", message))
        return {"base": {}}
    for name, variant in node.value.items():
        if not re.fullmatch(NAME_PATTERN, name) or len(name) > 60:
            message = "a variant's name has letters, digits, _ and -, a letter first; rename it"
            problems.append(Problem(variant.key_mark, f"compare.{name}", message))
    return {name: _variant(name, variant, problems) for name, variant in node.value.items()}


def _only_name(tree: Node) -> str:
    """Returns the lock mode as a name, unless the sweep changes it."""
    grid = tree.find(("sweep", "grid"))
    if grid is not None and any(key in grid.entries for key in (*_MODE_KEYS, "tikv")):
        return "base"
    pipelined, in_memory = (
        node.value if (node := tree.find(("tikv", key.removeprefix("tikv.")))) else True
        for key in _MODE_KEYS
    )
    if pipelined is False:
        return "sync"
    return "pipelined" if in_memory is False else "in_memory"


def _variant(name: str, node: Node, problems: list[Problem]) -> Overrides:
    if node.value is not None and not isinstance(node.value, dict):
        message = f"must be a mapping, is {shown(node.value)}; write {{dotted.key: value}}"
        problems.append(Problem(node.mark, f"compare.{name}", message))
    return {
        key: child
        for key, child in node.entries.items()
        if check_key(key, child, f"compare.{name}", problems)
    }


def points_of(
    tree: Node, variants: Mapping[str, Overrides], problems: list[Problem]
) -> list[Overrides]:
    """Returns the overrides of each point; one without any if nothing is swept."""
    node = tree.entries.get("sweep")
    if node is None or node.value is None:
        return [{}]
    before = len(problems)
    problems += [
        unknown_key(key, child, ("sweep",), ["grid"])
        for key, child in node.entries.items()
        if ("sweep", key) in LATER
    ]
    if len(problems) > before or validated(tree, ("sweep",), SweepSection, problems) is None:
        return [{}]
    axes = {
        key: _axis(key, axis, variants, problems)
        for key, axis in node.entries["grid"].entries.items()
    }
    total = len(variants)
    for values in axes.values():
        total *= len(values)
    if total > MOST_CASES:
        message = f"{total} points times variants; write {MOST_CASES} or less"
        problems.append(Problem(node.key_mark, "sweep.grid", message))
    if len(problems) > before:
        return [{}]
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def _axis(
    key: str, axis: Node, variants: Mapping[str, Overrides], problems: list[Problem]
) -> list[Node]:
    path = f"sweep.grid.{key}"
    values = axis.value if isinstance(axis.value, list) else []
    if not check_key(key, axis, "sweep.grid", problems):
        return []
    if not values:
        problems.append(Problem(axis.mark, path, "is empty; write at least one value"))
    plain = [node.plain() for node in values]
    for place, node in enumerate(values):
        if plain[place] in plain[:place]:
            problems.append(Problem(node.mark, path, f"{shown(node.value)} is there twice; "
                                                     "remove one"))  # fmt: skip
    for name, overrides in variants.items():
        if any(_overlap(key, other) for other in overrides):
            message = f"variant {name} changes this key as well; leave it to one of the two"
            problems.append(Problem(axis.key_mark, path, message))
    return values


def _overlap(key: str, other: str) -> bool:
    return f"{key}.".startswith(f"{other}.") or f"{other}.".startswith(f"{key}.")


def check_differences(
    tree: Node, scenarios: Mapping[tuple[str, str], Scenario], problems: list[Problem]
) -> None:
    """Refuses two cases that are the same simulation: there is nothing to compare."""
    seen: dict[str, tuple[str, str]] = {}
    for (point, variant), scenario in scenarios.items():
        first_point, first = seen.setdefault(repr(scenario), (point, variant))
        if (first_point, first) == (point, variant):
            continue
        path: Path = ("sweep",) if first == variant else ("compare", variant)
        node = tree.find(path) or tree
        same = f"point {first_point}" if first == variant else f"variant {first}"
        message = f"the same simulation as {same}; change a value or remove one of the two"
        problems.append(Problem(node.key_mark, dotted(path), message))
        return


def expectations_of(
    tree: Node, variants: Sequence[str], points: Sequence[Overrides], problems: list[Problem]
) -> tuple[Expectation, ...]:
    """Returns the claims of a study."""
    node = tree.entries.get("expect")
    if node is None or node.value is None:
        return ()
    if not isinstance(node.value, list):
        message = f"must be a list, is {shown(node.value)}; write [{{metric: ..., below: ...}}]"
        problems.append(Problem(node.mark, "expect", message))
        return ()
    claims = []
    for place, child in enumerate(node.value):
        section = validated(tree, ("expect", place), ExpectSection, problems)
        if section is not None:
            _check_claim(section, child, f"expect[{place}]", variants, problems)
            _check_point(section, child, f"expect[{place}]", points, problems)
            claims.append(_claim(section, variants[0]))
    return tuple(claims)


def _check_claim(
    section: ExpectSection, node: Node, path: str, variants: Sequence[str], problems: list[Problem]
) -> None:
    complaints = {
        "metric": _metric_complaint(section.metric),
        "variant": _variant_complaint(section.variant, variants),
        "against": _against_complaint(section, variants),
    }
    for key, message in complaints.items():
        if message is not None:
            mark = node.entries[key].mark if key in node.entries else node.mark
            problems.append(Problem(mark, f"{path}.{key}", message))


def _metric_complaint(metric: str) -> str | None:
    if metric in METRICS:
        return None
    return f"no metric {shown(metric)}; {suggestion(metric, list(METRICS))}"


def _variant_complaint(name: str | None, variants: Sequence[str]) -> str | None:
    if name is None:
        return f"missing; write one of {', '.join(variants)}" if len(variants) > 1 else None
    return None if name in variants else f"no variant {shown(name)}; {suggestion(name, variants)}"


def _against_complaint(section: ExpectSection, variants: Sequence[str]) -> str | None:
    name = section.against
    if name is None:
        return None
    if name not in variants:
        return _variant_complaint(name, variants)
    if name == section.variant:
        return "is the variant itself; name another one or remove it"
    if name != variants[0]:
        return f"comparisons are with the first variant; write {variants[0]}"
    return None


def _check_point(
    section: ExpectSection,
    node: Node,
    path: str,
    points: Sequence[Overrides],
    problems: list[Problem],
) -> None:
    at = node.entries.get("at")
    if at is None or section.at is None:
        return
    for key, child in at.entries.items():
        values = [point[key].plain() for point in points if key in point]
        if child.plain() not in values:
            swept = ", ".join(dict.fromkeys(str(value) for value in values))
            mend = f"use one of {swept}" if swept else "sweep this key"
            message = f"no point has {shown(child.value)}; {mend}"
            problems.append(Problem(child.mark, f"{path}.at.{key}", message))


def _claim(section: ExpectSection, only: str) -> Expectation:
    at_point: dict[str, Any] | None = dict(section.at) if section.at else None
    return Expectation(
        metric=section.metric,
        stat=section.stat,
        class_=section.class_,
        variant=section.variant or only,
        against=section.against,
        below=section.below,
        above=section.above,
        at_point=at_point,
    )
