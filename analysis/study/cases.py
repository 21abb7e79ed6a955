"""Sections ``compare`` and ``expect``: the variants of a study, and claims about them.

Law: the first variant is the baseline.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from analysis.metrics.catalogue import METRICS, MetricKey
from analysis.study.expectation import Expectation
from analysis.study.overrides import Overrides, may_change
from sim.scenario.fields import NAME
from sim.scenario.problems import shown, suggestion
from sim.scenario.section import validated
from sim.scenario.tree import Node, Path, Place

_MODE_KEYS = ("tikv.pessimistic-txn.pipelined", "tikv.pessimistic-txn.in-memory")


def variants_of(root: Place) -> dict[str, Overrides]:
    """Returns the overrides of each variant; without ``compare`` there is one, without a change."""
    place = root["compare"]
    if place.value is None:
        return {_only_name(root.node): {}}
    if not isinstance(place.value, dict) or not place.value:
        message = f"must be a mapping, is {shown(place.value)}; write name: {{dotted.key: value}}"
        place.refuse(message)
        return {"base": {}}
    if any("." in name for name in place.node.entries):
        return _values_without_variant(place)
    for name, each in place.below().items():
        if len(name) > NAME.longest:
            message = f"a variant's name has {NAME.longest} characters at most; shorten it"
            each.refuse_key(message)
        elif not re.fullmatch(NAME.pattern, name):
            message = "a variant's name has letters, digits, _ and -, a letter first; rename it"
            each.refuse_key(message)
    return {name: _variant(each) for name, each in place.below().items()}


def _values_without_variant(place: Place) -> dict[str, Overrides]:
    """Notes keys where names of variants should be."""
    for name, each in place.below().items():
        if "." in name:
            said = "value" if each.value is None or each.node.entries else shown(each.value)
            remedy = f"some_name: {{{name}: {said}}}"
            if isinstance(each.value, list):
                remedy = f"sweep: {{grid: {{{name}: [...]}}}}"
            each.refuse_key(f"is a key, not a variant's name; write {remedy}")
    return {"base": {}}


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


def _variant(place: Place) -> Overrides:
    if place.value is not None and not isinstance(place.value, dict):
        place.refuse(f"must be a mapping, is {shown(place.value)}; write {{dotted.key: value}}")
    return {key: each.node for key, each in place.below().items() if may_change(each)}


def expectations_of(
    place: Place, variants: Sequence[str], points: Sequence[Overrides], *, searches: bool
) -> tuple[Expectation, ...]:
    """Returns the claims of a study.

    Args:
        place: section ``expect``.
        variants: their names, the baseline first.
        points: those of the sweep.
        searches: whether the study seeks a capacity.
    """
    if place.value is None:
        return ()
    if not isinstance(place.value, list):
        message = f"must be a list, is {shown(place.value)}; write [{{metric: ..., below: ...}}]"
        place.refuse(message)
        return ()
    claims = []
    for number in range(len(place.value)):
        each = place[number]
        section = validated(Expectation, each)
        if section is not None:
            _check_figure(section, each, searches=searches)
            _check_variants(section.variant, section.against, each, variants)
            _check_point(each["at"], points)
            variant = section.variant or variants[0]
            claims.append(replace(section, variant=variant, at_point=section.at_point or None))
    return tuple(claims)


def _check_figure(section: Expectation, place: Place, *, searches: bool) -> None:
    if section.is_about_capacity:
        if not searches:
            place["metric"].refuse("is what a search finds; write a section capacity as well")
        return
    metric, stat = METRICS.get(section.metric), section.stat
    if metric is None:
        near = _split_figure(section.metric) or suggestion(section.metric, list(METRICS))
        place["metric"].refuse(f"no metric {shown(section.metric)}; {near}")
    elif stat not in metric.stats:
        place["stat"].refuse(f"{section.metric} has no {stat}; write {' or '.join(metric.stats)}")


def _split_figure(written: str) -> str:
    """Returns how a claim names a figure that is written with dots; empty: it is none."""
    try:
        key = MetricKey.parse(written)
    except ValueError:
        return ""
    class_ = f", class: {key.class_}" if key.class_ != "all" else ""
    return f"write metric: {key.metric}{class_}, stat: {key.stat}"


def _check_variants(
    variant: str | None, against: str | None, place: Place, variants: Sequence[str]
) -> None:
    if variant is None and len(variants) > 1:
        place["variant"].refuse(f"missing; write one of {', '.join(variants)}")
    for key, name in (("variant", variant), ("against", against)):
        if name is not None and name not in variants:
            place[key].refuse(f"no variant {shown(name)}; {suggestion(name, variants)}")
    if against not in variants:
        return
    if against == (variant or variants[0]):
        place["against"].refuse("is the variant itself; name another one or remove it")
    elif against != variants[0]:
        place["against"].refuse(f"comparisons are with the first variant; write {variants[0]}")


def _check_point(at: Place, points: Sequence[Overrides]) -> None:
    for key, each in at.below().items():
        values = [point[key].plain() for point in points if key in point]
        if each.node.plain() not in values:
            swept = ", ".join(dict.fromkeys(str(value) for value in values))
            remedy = f"use one of {swept}" if swept else "sweep this key"
            each.refuse(f"no point has {shown(each.value)}; {remedy}")
