"""Section ``sweep``: the points of a study, less those that a constraint leaves out.

Law: a grid is the product of its values, the last key varying fastest; points are as written; a
Latin hypercube becomes points once and for all. All points have the same keys. A key is changed by
variants or by the sweep, never by both, since one of the two would have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from analysis.statistics.latin_hypercube import latin_hypercube
from analysis.study.figures import said_twice
from analysis.study.interpolation import complaint_about
from analysis.study.overrides import Overrides, check_key, overlap
from analysis.study.sections import SWEEP_FORMS, LatinHypercubeSection, Range, SweepSection
from analysis.study.skipped import is_skipped, skip_rules
from sim.scenario.problems import Problem, shown
from sim.scenario.section import validated
from sim.scenario.tree import Node, Path, dotted, node_of

MOST_CASES = 10_000
"""Points times variants."""

_MOST_BEFORE_SKIP = 100_000
_MOST_SAMPLED_VALUES = 15_000
"""Values of all samples; more would not fit into the file that a study is written to."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a section ``sweep`` means."""

    points: list[Overrides] = field(default_factory=lambda: [{}])
    """Overrides of each point; one without any if nothing is swept."""
    skipped: int = 0
    """Points that constraints left out."""
    contours: Mapping[str, float] = field(default_factory=dict)
    """Ratios at which maps have a contour, by figure."""
    document: Mapping[str, Any] | None = None
    """The section as a file would say it, without what had to be drawn."""


def sweep_of(
    tree: Node,
    variants: Mapping[str, Overrides],
    problems: list[Problem],
) -> Sweep:
    """Returns the points of a study; a single one if there is no sweep, or a wrong one."""
    node = tree.entries.get("sweep")
    if node is None or node.value is None:
        return Sweep()
    before = len(problems)
    section = validated(tree, ("sweep",), SweepSection, problems)
    if section is None:
        return Sweep()
    contours = _contours(section, node, variants, problems)
    all_points = _points(section, node, variants, problems)
    if len(problems) > before:
        return Sweep()
    points = _remaining(node, all_points, problems)
    _check_number(section, node, len(points) * len(variants), problems)
    if len(problems) > before:
        return Sweep()
    document = node.plain()
    if document.pop("latin_hypercube", None) is not None:
        drawn = [{key: value.plain() for key, value in point.items()} for point in all_points]
        document = {"points": drawn} | document
    return Sweep(points, len(all_points) - len(points), contours, document)


def _remaining(node: Node, points: list[Overrides], problems: list[Problem]) -> list[Overrides]:
    """Returns the points that no constraint leaves out; all being left out is a problem."""
    before = len(problems)
    rules = skip_rules(node.entries.get("skip"), points, problems)
    if len(problems) > before:
        return []
    kept = [point for point in points if not is_skipped(point, rules)]
    if not kept:
        message = f"leaves out all {len(points)} points; remove a condition"
        problems.append(Problem(node.entries["skip"].key_mark, "sweep.skip", message))
    return kept


def _check_number(section: SweepSection, node: Node, cases: int, problems: list[Problem]) -> None:
    if cases > MOST_CASES:
        form = next(name for name in SWEEP_FORMS if getattr(section, name) is not None)
        message = f"{cases} points times variants; write {MOST_CASES} or less"
        problems.append(Problem(node.key_mark, f"sweep.{form}", message))


def _points(
    section: SweepSection,
    node: Node,
    variants: Mapping[str, Overrides],
    problems: list[Problem],
) -> list[Overrides]:
    """Returns all points, before any is skipped."""
    if section.grid is not None:
        return _grid(node.entries["grid"], variants, problems)
    if section.points is not None:
        return _listed(node.entries["points"], variants, problems)
    assert section.latin_hypercube is not None, "one of the forms is given"
    given = node.entries["latin_hypercube"]
    return _sampled(section.latin_hypercube, given, variants, problems)


def _grid(
    node: Node, variants: Mapping[str, Overrides], problems: list[Problem]
) -> list[Overrides]:
    axes = {key: _axis(key, axis, variants, problems) for key, axis in node.entries.items()}
    total = prod(len(values) for values in axes.values())
    if total > _MOST_BEFORE_SKIP:
        message = f"{total * len(variants)} points times variants; write {MOST_CASES} or less"
        problems.append(Problem(node.key_mark, "sweep.grid", message))
        return []
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def _axis(
    key: str, axis: Node, variants: Mapping[str, Overrides], problems: list[Problem]
) -> list[Node]:
    path = f"sweep.grid.{key}"
    values = axis.value if isinstance(axis.value, list) else []
    if not _may_be_swept(key, axis, "sweep.grid", variants, problems):
        return []
    if not values:
        problems.append(Problem(axis.mark, path, "is empty; write at least one value"))
    plain = [node.plain() for node in values]
    for place, node in enumerate(values):
        if plain[place] in plain[:place]:
            message = f"{shown(node.value)} appears twice; remove one"
            problems.append(Problem(node.mark, path, message))
    return values


def _listed(
    node: Node, variants: Mapping[str, Overrides], problems: list[Problem]
) -> list[Overrides]:
    entries = node.value if isinstance(node.value, list) else []
    points = [child.entries for child in entries]
    keys = list(points[0])
    for key, child in points[0].items():
        _may_be_swept(key, child, "sweep.points[0]", variants, problems)
    if not keys:
        problems.append(Problem(node.mark, "sweep.points[0]", "is empty; write {key: value}"))
    plain = [child.plain() for child in entries]
    for place, point in enumerate(points[1:], start=1):
        message = _other_keys(keys, list(point))
        if plain[place] in plain[:place]:
            message = "appears twice; remove one"
        if message is not None:
            mark = entries[place].mark
            problems.append(Problem(mark, f"sweep.points[{place}]", message))
    return [{key: point[key] for key in keys if key in point} for point in points]


def _other_keys(expected: Sequence[str], given: Sequence[str]) -> str | None:
    missing = [key for key in expected if key not in given]
    if missing:
        return f"has no {', '.join(missing)} as the first point has; write it"
    more = [key for key in given if key not in expected]
    return (
        f"has {', '.join(more)}, which the first point does not have; add it there, too"
        if more
        else None
    )


def _sampled(
    section: LatinHypercubeSection,
    node: Node,
    variants: Mapping[str, Overrides],
    problems: list[Problem],
) -> list[Overrides]:
    path: Path = ("sweep", "latin_hypercube")
    before = len(problems)
    given = node.entries["ranges"]
    ranges = ranges_of(given, (*path, "ranges"), variants, problems)
    values = section.samples * (len(ranges) + 1)
    if values > _MOST_SAMPLED_VALUES:
        most = _MOST_SAMPLED_VALUES // (len(ranges) + 1)
        message = f"{section.samples} samples of {len(ranges)} ranges; write {most} or less"
        problems.append(Problem(node.entries["samples"].mark, dotted((*path, "samples")), message))
    if len(problems) > before:
        return []
    by_text: dict[str, Overrides] = {}
    for shares in latin_hypercube(section.samples, len(ranges), section.seed):
        point = {
            each.key: node_of(each.at(share), given.entries[each.key].mark)
            for each, share in zip(ranges, shares, strict=True)
        }
        # Whole numbers can coincide; the same point twice would be the same units.
        by_text.setdefault(repr([value.value for value in point.values()]), point)
    return list(by_text.values())


def ranges_of(
    node: Node, path: Path, variants: Mapping[str, Overrides], problems: list[Problem]
) -> list[Range]:
    """Returns the ranges of a mapping of validated ``RangeSection``, adding what is wrong."""
    ranges = []
    for key, child in node.entries.items():
        if not _may_be_swept(key, child, dotted(path), variants, problems):
            continue
        said, scale = child.entries["between"], child.entries.get("scale")
        low, high = said.plain()
        chosen = Range(key, low, high, scale.plain() if scale and scale.value else "linear")
        message = complaint_about(low, high, chosen.scale)
        if message is not None:
            problems.append(Problem(said.mark, f"{dotted(path)}.{key}.between", message))
        else:
            ranges.append(chosen)
    return ranges


def _may_be_swept(
    key: str, node: Node, said_in: str, variants: Mapping[str, Overrides], problems: list[Problem]
) -> bool:
    """Returns whether a section and no variant has this key; says so if not."""
    for name, overrides in variants.items():
        if any(overlap(key, other) for other in overrides):
            message = f"variant {name} changes this key as well; leave it to one of the two"
            problems.append(Problem(node.key_mark, f"{said_in}.{key}", message))
    return check_key(key, node, said_in, problems)


def _contours(
    section: SweepSection, node: Node, variants: Mapping[str, Overrides], problems: list[Problem]
) -> dict[str, float]:
    if section.map is None:
        return {}
    if len(variants) < 2:
        message = "a map shows ratios of two variants; write compare, or remove it"
        problems.append(Problem(node.entries["map"].key_mark, "sweep.map", message))
    twice = said_twice(node.entries["map"].entries)
    if twice is not None:
        problems.append(Problem(node.entries["map"].mark, "sweep.map", twice))
    return {str(key): level for key, level in section.map.items()}
