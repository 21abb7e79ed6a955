"""``run``, ``sensitivity`` and ``capacity`` resolved, and which sections exclude one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from analysis.metrics.catalogue import MetricKey
from analysis.study.figures import limit_of, said_twice
from analysis.study.overrides import Overrides, overlap
from analysis.study.run import RunSection
from analysis.study.sections import ALL_PROFILES, Capacity, CapacitySection, Objective, Sensitivity
from analysis.study.study import CaseResolver
from analysis.study.sweep import ranges_of
from sim.scenario.problems import Problem, shown, suggestion
from sim.scenario.profiles import profiles
from sim.scenario.quantities import RATE, QuantityError
from sim.scenario.resolved import Scenario
from sim.scenario.section import validated
from sim.scenario.tree import Node, dotted, node_of

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


def check_rounds(tree: Node, problems: list[Problem]) -> None:
    """Refuses an end of rounds where there are none."""
    node = tree.find(("run", "max_replications"))
    if node is not None and node.value is not None:
        message = "has no effect: no precision is asked for; write run.precision, or remove it"
        problems.append(Problem(node.mark, "run.max_replications", message))


def run_of(tree: Node, problems: list[Problem]) -> RunSection | None:
    """Returns how often and how long units are run, or None after adding its problems.

    What follows from asking for a precision is filled in.
    """
    run = validated(tree, ("run",), RunSection, problems)
    if run is None:
        return None
    run = replace(run, batches=min(run.batches, run.measure_ns // run.window_ns))
    if run.precision is None:
        return run
    node = tree.find(("run", "precision")) or tree
    twice = said_twice(node.entries)
    if twice is not None:
        problems.append(Problem(node.mark, "run.precision", twice))
    return replace(run, max_replications=run.most_replications)


def sensitivity_of(
    tree: Node, variants: Mapping[str, Overrides], run_seed: int, problems: list[Problem]
) -> Sensitivity | None:
    """Returns what a study varies, or None after adding its problems."""
    node = tree.entries.get("sensitivity")
    if node is None or node.value is None:
        return None
    before = len(problems)
    section = validated(tree, ("sensitivity",), Sensitivity, problems)
    if section is None:
        return None
    path = ("sensitivity", "factors")
    factors = ranges_of(node.entries["factors"], path, variants, problems)
    outcomes = node.entries["outcomes"]
    twice = said_twice(map(str, section.outcomes))
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
    return replace(
        section,
        factors=tuple(factors),
        keep=min(section.keep, len(factors)),
        seed=run_seed if node.entries.get("seed") is None else section.seed,
    )


def check_sensitivity(
    sensitivity: Sensitivity, tree: Node, resolver: CaseResolver, problems: list[Problem]
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


def capacity_of(
    tree: Node, variants: Mapping[str, Overrides], axes: Sequence[str], problems: list[Problem]
) -> Capacity | None:
    """Returns the search that a study asks for, or None after adding its problems."""
    node = tree.entries.get("capacity")
    if node is None or node.value is None:
        return None
    before = len(problems)
    section = validated(tree, ("capacity",), CapacitySection, problems)
    if section is None:
        return None
    _check_free(section.load, node.entries["load"], "capacity.load", (variants, axes), problems)
    _check_prices(section, node, problems)
    low, high = _loads(section, node.entries["between"], problems)
    capacity = Capacity(
        slo=_objectives(node.entries["slo"], problems),
        load=section.load,
        low=low,
        high=high,
        tolerance=section.tolerance,
        prices=section.prices or {},
    )
    return None if len(problems) > before else capacity


def _check_free(
    key: str,
    node: Node,
    path: str,
    cases: tuple[Mapping[str, Overrides], Sequence[str]],
    problems: list[Problem],
) -> None:
    """Refuses a key that a variant or the sweep changes as well."""
    variants, axes = cases
    changing = [
        f"variant {name}"
        for name, overrides in variants.items()
        if any(overlap(key, other) for other in overrides)
    ]
    if any(overlap(key, axis) for axis in axes):
        changing.append("the sweep")
    for who in changing:
        message = f"{who} changes {key} as well; leave it to one of the two"
        problems.append(Problem(node.mark, path, message))


def _loads(section: CapacitySection, node: Node, problems: list[Problem]) -> tuple[float, float]:
    loads = []
    for place, value in enumerate(section.between):
        try:
            loads.append(_load(section.load, value))
        except QuantityError as error:
            mark = node.value[place].mark if isinstance(node.value, list) else node.mark
            problems.append(Problem(mark, f"capacity.between[{place}]", str(error)))
    if len(loads) < 2:
        return 0, 0
    if not loads[0] < loads[1]:
        first, second = map(shown, section.between)
        message = f"{first} is not less than {second}; write the smaller one first"
        problems.append(Problem(node.mark, "capacity.between", message))
    return loads[0], loads[1]


def _load(key: str, value: object) -> float:
    """Returns threads, or transactions a second.

    Raises:
        QuantityError: if it is no such load.
    """
    if key == "workload.rate":
        return float(RATE.parse(value))
    if isinstance(value, bool) or not isinstance(value, int):
        raise QuantityError(
            f"threads are a whole number, not {shown(value)}; write, for example, 50"
        )
    return float(value)


def _objectives(node: Node, problems: list[Problem]) -> tuple[Objective, ...]:
    objectives: list[Objective] = []
    for name, child in node.entries.items():
        if child.value is None:
            continue
        try:
            key, limit = limit_of(MetricKey.parse(name), child.plain())
        except ValueError as error:
            problems.append(Problem(child.mark, f"capacity.slo.{name}", str(error)))
            continue
        if any(key == other.key for other in objectives):
            message = f"{key} appears twice; remove one"
            problems.append(Problem(child.key_mark, f"capacity.slo.{name}", message))
        objectives.append(Objective(key, limit))
    return tuple(objectives)


def _check_prices(section: CapacitySection, node: Node, problems: list[Problem]) -> None:
    known = [*profiles("machines"), ALL_PROFILES]
    for name in section.prices or {}:
        if name not in known:
            message = f"no machine {shown(name)}; {suggestion(name, known)}"
            mark = node.entries["prices"].entries[name].key_mark
            problems.append(Problem(mark, f"capacity.prices.{name}", message))


def check_capacity(
    capacity: Capacity,
    tree: Node,
    points: Sequence[Overrides],
    resolver: CaseResolver,
    problems: list[Problem],
) -> None:
    """Refuses a search that a case cannot take part in: another load, an invalid end."""
    node = tree.entries["capacity"]
    said = node.entries["between"].value
    ends = said if isinstance(said, list) else []
    cases = [(point, variant) for point in points for variant in resolver.variants]
    for point, variant in cases:
        scenario = resolver.scenario({key: each.plain() for key, each in point.items()}, variant)
        message = _other_load(capacity, scenario) or _no_price(capacity, scenario)
        if message is not None:
            word = "prices" if "price" in message else "load"
            problems.append(Problem(node.entries[word].mark, f"capacity.{word}", message))
            return
        for end in ends:
            resolver.resolve({**point, capacity.load: end}, variant, problems)
        if problems:
            return


def _other_load(capacity: Capacity, scenario: Scenario) -> str | None:
    workload = scenario.workload
    if capacity.load == "workload.rate" and workload.rate_per_s is None:
        return (f"the workload has threads ({workload.threads}); write load: workload.threads, or "
                "give the workload a rate in place of them")  # fmt: skip
    if capacity.load == "workload.threads" and workload.threads is None:
        return (f"the workload has a rate ({RATE.text_of(workload.rate_per_s or 0)}); write load: "
                "workload.rate, or give the workload threads in place of it")  # fmt: skip
    return None


def _no_price(capacity: Capacity, scenario: Scenario) -> str | None:
    profile = scenario.hardware.profile
    if not capacity.prices or ALL_PROFILES in capacity.prices or profile in capacity.prices:
        return None
    return f"no price of {profile}; write {profile}: {{store: ..., tidb_node: ...}}"
