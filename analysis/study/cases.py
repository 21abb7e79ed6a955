"""Sections ``compare`` and ``expect``: the variants of a study, and claims about them.

Law: the first variant is the baseline.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from analysis.metrics.catalogue import METRICS
from analysis.study.overrides import Overrides, check_key
from analysis.study.sections import Expectation
from sim.scenario.fields import NAME_PATTERN
from sim.scenario.problems import Problem, shown, suggestion
from sim.scenario.section import validated
from sim.scenario.tree import Node, Path

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
    if not _changed_keys(tree).isdisjoint((*_MODE_KEYS, "tikv")):
        return "base"
    pipelined, in_memory = (
        node.value if (node := tree.find(("tikv", key.removeprefix("tikv.")))) else True
        for key in _MODE_KEYS
    )
    if pipelined is False:
        return "sync"
    return "pipelined" if in_memory is False else "in_memory"


def _changed_keys(tree: Node) -> set[str]:
    """Returns the keys that a sweep or a sensitivity study changes, whether or not it may."""
    paths: tuple[Path, ...] = (
        ("sweep", "grid"),
        ("sweep", "points", 0),
        ("sweep", "latin_hypercube", "ranges"),
        ("sensitivity", "factors"),
    )
    nodes = [node for path in paths if (node := tree.find(path)) is not None]
    return {key for node in nodes for key in node.entries}


def _variant(name: str, node: Node, problems: list[Problem]) -> Overrides:
    if node.value is not None and not isinstance(node.value, dict):
        message = f"must be a mapping, is {shown(node.value)}; write {{dotted.key: value}}"
        problems.append(Problem(node.mark, f"compare.{name}", message))
    return {
        key: child
        for key, child in node.entries.items()
        if check_key(key, child, f"compare.{name}", problems)
    }


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
        section = validated(tree, ("expect", place), Expectation, problems)
        if section is not None:
            _check_claim(section, child, f"expect[{place}]", variants, problems)
            _check_point(section, child, f"expect[{place}]", points, problems)
            variant = section.variant or variants[0]
            claims.append(replace(section, variant=variant, at_point=section.at_point or None))
    return tuple(claims)


def _check_claim(
    section: Expectation, node: Node, path: str, variants: Sequence[str], problems: list[Problem]
) -> None:
    complaints = {
        "metric": _metric_complaint(section.metric),
        "stat": _stat_complaint(section),
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


def _stat_complaint(section: Expectation) -> str | None:
    if section.metric not in METRICS:
        return None
    stats = METRICS[section.metric].stats
    if section.stat in stats:
        return None
    return f"{section.metric} has no {section.stat}; write {' or '.join(stats)}"


def _variant_complaint(name: str | None, variants: Sequence[str]) -> str | None:
    if name is None:
        return f"missing; write one of {', '.join(variants)}" if len(variants) > 1 else None
    return None if name in variants else f"no variant {shown(name)}; {suggestion(name, variants)}"


def _against_complaint(section: Expectation, variants: Sequence[str]) -> str | None:
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
    section: Expectation,
    node: Node,
    path: str,
    points: Sequence[Overrides],
    problems: list[Problem],
) -> None:
    at = node.entries.get("at")
    if at is None or section.at_point is None:
        return
    for key, child in at.entries.items():
        values = [point[key].plain() for point in points if key in point]
        if child.plain() not in values:
            swept = ", ".join(dict.fromkeys(str(value) for value in values))
            remedy = f"use one of {swept}" if swept else "sweep this key"
            message = f"no point has {shown(child.value)}; {remedy}"
            problems.append(Problem(child.mark, f"{path}.at.{key}", message))
