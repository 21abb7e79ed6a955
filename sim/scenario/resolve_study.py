"""``run.precision`` and ``sensitivity`` resolved, and which sections exclude one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.scenario.case_resolver import CaseResolver
from sim.scenario.figures import said_twice
from sim.scenario.overrides import Overrides, overlap
from sim.scenario.problems import Problem
from sim.scenario.resolved_study import MetricKey, Precision, Sensitivity
from sim.scenario.schema.run import RunSection
from sim.scenario.schema.study import SensitivitySection
from sim.scenario.sweep import ranges_of
from sim.scenario.tree import Node, dotted, node_of
from sim.scenario.validation import validated

_TRIED_SHARES = (0.0, 0.37, 1.0)
"""Where ranges are tried: both ends, and a place at which numbers are not whole by accident."""


def check_one_question(tree: Node, problems: list[Problem]) -> None:
    """Refuses sections that decide in two ways what is run."""
    asked = [
        path
        for path in (("run", "precision"), ("capacity",), ("sensitivity",))
        if (node := tree.find(path)) is not None and node.value is not None
    ]
    pairs = [(asked[0], other) for other in asked[1:]]
    if ("sensitivity",) in asked and (node := tree.find(("sweep",))) and node.value is not None:
        pairs.append((("sensitivity",), ("sweep",)))
    for first, second in pairs:
        node = tree.find(second) or tree
        message = f"excludes {dotted(first)}; keep one of the two"
        problems.append(Problem(node.key_mark, dotted(second), message))


def precision_of(tree: Node, problems: list[Problem]) -> Precision | None:
    """Returns the precision a study asks for; what is wrong with ``run`` itself is told later."""
    node = tree.find(("run", "precision"))
    run = validated(tree, ("run",), RunSection, [])
    if node is None or run is None or run.precision is None:
        return None
    twice = said_twice(node.entries)
    if twice is not None:
        problems.append(Problem(node.mark, "run.precision", twice))
    targets = [(MetricKey.parse(key), share) for key, share in run.precision.items()]
    return Precision(tuple(targets), run.most_replications)


def sensitivity_of(
    tree: Node, variants: Mapping[str, Overrides], problems: list[Problem]
) -> Sensitivity | None:
    """Returns what a study varies, or None after adding its problems."""
    node = tree.entries.get("sensitivity")
    if node is None or node.value is None:
        return None
    before = len(problems)
    section = validated(tree, ("sensitivity",), SensitivitySection, problems)
    if section is None:
        return None
    path = ("sensitivity", "factors")
    factors = ranges_of(node.entries["factors"], path, variants, problems)
    outcomes = node.entries["outcomes"]
    twice = said_twice(section.outcomes)
    if twice is not None:
        problems.append(Problem(outcomes.mark, "sensitivity.outcomes", twice))
    for place, factor in enumerate(factors):
        for other in factors[:place]:
            if overlap(factor.key, other.key):
                mark = node.entries["factors"].entries[factor.key].key_mark
                message = f"is a part of {other.key}, or the other way round; keep one"
                problems.append(Problem(mark, f"sensitivity.factors.{factor.key}", message))
    if len(problems) > before:
        return None
    return Sensitivity(
        factors=tuple(factors),
        outcomes=tuple(MetricKey.parse(outcome) for outcome in section.outcomes),
        trajectories=section.trajectories,
        levels=section.levels,
        keep=min(section.keep, len(factors)),
        samples=section.samples,
        seed=_run_seed(tree) if section.seed is None else section.seed,
    )


def _run_seed(tree: Node) -> int:
    """Returns the seed of the run; 0 if that section is wrong, which is told elsewhere."""
    run = validated(tree, ("run",), RunSection, [])
    return 0 if run is None else run.seed


def check_sensitivity(
    sensitivity: Sensitivity,
    tree: Node,
    resolver: CaseResolver,
    problems: list[Problem],
) -> None:
    """Refuses ranges whose ends make no valid scenario, one by one and all together."""
    factors = tree.entries["sensitivity"].entries["factors"].entries

    def end(place: int, share: float) -> dict[str, Node]:
        factor = sensitivity.factors[place]
        value: Any = factor.at(share)
        return {factor.key: node_of(value, factors[factor.key].entries["between"].mark)}

    places = range(len(sensitivity.factors))
    for variant in resolver.variants:
        for share in _TRIED_SHARES:
            together: Overrides = {}
            for place in places:
                resolver.resolve(end(place, share), variant, problems)
                together |= end(place, share)
            if not problems:
                resolver.resolve(together, variant, problems)
