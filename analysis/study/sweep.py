"""Section ``sweep``: the points of a study, less those that a constraint leaves out.

Law: a grid is the product of its values, the last key varying fastest; points are as written; a
Latin hypercube becomes points once and for all. All points have the same keys. A key is changed by
variants or by the sweep, never by both, since one of the two would have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any

from analysis.study.figures import refuse_twice
from analysis.study.interpolation import complaint_about
from analysis.study.overrides import Overrides, may_change, overlap, plain_point
from analysis.study.sections import SWEEP_FORMS, LatinHypercubeSection, Range, SweepSection
from analysis.study.skipped import is_skipped, skip_rules
from sim.scenario.problems import shown
from sim.scenario.section import validated
from sim.scenario.tree import Node, Place, node_of

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


def sweep_of(place: Place, variants: Mapping[str, Overrides]) -> Sweep:
    """Returns the points of a study; a single one if there is no sweep, or a wrong one."""
    before = len(place.problems)
    section = None
    if place.value is not None and not _has_misplaced_keys(place):
        section = validated(SweepSection, place)
    if section is None:
        return Sweep()
    contours = _contours(section, place, variants)
    all_points = _points(section, place, variants)
    if len(place.problems) > before:
        return Sweep()
    points = _remaining(place["skip"], all_points)
    if len(points) * len(variants) > MOST_CASES:
        form = next(name for name in SWEEP_FORMS if getattr(section, name) is not None)
        message = f"{len(points) * len(variants)} points times variants; write {MOST_CASES} or less"
        place[form].refuse_key(message)
    if len(place.problems) > before:
        return Sweep()
    document = place.node.plain()
    if document.pop("latin_hypercube", None) is not None:
        document = {"points": list(map(plain_point, all_points))} | document
    return Sweep(points, len(all_points) - len(points), contours, document)


def _has_misplaced_keys(place: Place) -> bool:
    """Returns whether swept keys stand above ``grid``, or within a section there; notes them."""
    before = len(place.problems)
    for key, each in place.below().items():
        if "." in key:
            each.refuse_key(f"swept keys stand in grid; write sweep: {{grid: {{{key}: [...]}}}}")
    grid = place["grid"]
    for section in (name for name in grid.node.entries if "." not in name):
        for key in grid[section].node.entries:
            grid[section].refuse_key(f"swept keys are dotted; write {section}.{key}: [...]")
    return len(place.problems) > before


def _remaining(skip: Place, points: list[Overrides]) -> list[Overrides]:
    """Returns the points that no constraint leaves out; all being left out is a problem."""
    before = len(skip.problems)
    rules = skip_rules(skip, points)
    if len(skip.problems) > before:
        return []
    kept = [point for point in points if not is_skipped(point, rules)]
    if not kept:
        skip.refuse_key(f"leaves out all {len(points)} points; remove a condition")
    return kept


def _points(
    section: SweepSection, place: Place, variants: Mapping[str, Overrides]
) -> list[Overrides]:
    """Returns all points, before any is skipped."""
    if section.grid is not None:
        return _grid(place["grid"], variants)
    if section.points is not None:
        return _listed(place["points"], variants)
    assert section.latin_hypercube is not None, "one of the forms is given"
    return _sampled(section.latin_hypercube, place["latin_hypercube"], variants)


def _grid(place: Place, variants: Mapping[str, Overrides]) -> list[Overrides]:
    axes = {key: _axis(each, variants) for key, each in place.below().items()}
    total = prod(len(values) for values in axes.values())
    if total > _MOST_BEFORE_SKIP:
        total *= len(variants)
        place.refuse_key(f"{total} points times variants; write {MOST_CASES} or less")
        return []
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def _axis(place: Place, variants: Mapping[str, Overrides]) -> list[Node]:
    values = place.value if isinstance(place.value, list) else []
    if not _may_be_swept(place, variants):
        return []
    if not values:
        place.refuse("is empty; write at least one value")
    plain = [node.plain() for node in values]
    for number, node in enumerate(values):
        if plain[number] in plain[:number]:
            message = f"{shown(node.value)} appears twice; remove one"
            replace(place, node=node).refuse(message)
    return values


def _listed(place: Place, variants: Mapping[str, Overrides]) -> list[Overrides]:
    first, *others = place.below().values()
    keys = list(first.node.entries)
    for each in first.below().values():
        _may_be_swept(each, variants)
    if not keys:
        first.refuse("is empty; write {key: value}")
    before = [first.node.plain()]
    for each in others:
        message = _other_keys(keys, list(each.node.entries))
        if each.node.plain() in before:
            message = "appears twice; remove one"
        before.append(each.node.plain())
        if message is not None:
            each.refuse(message)
    points = [each.node.entries for each in (first, *others)]
    return [{key: point[key] for key in keys if key in point} for point in points]


def _other_keys(expected: Sequence[str], given: Sequence[str]) -> str | None:
    missing = [key for key in expected if key not in given]
    if missing:
        return f"has no {', '.join(missing)} as the first point has; write it"
    more = ", ".join(key for key in given if key not in expected)
    return f"has {more}, which the first point does not have; add it there, too" if more else None


def _sampled(
    section: LatinHypercubeSection, place: Place, variants: Mapping[str, Overrides]
) -> list[Overrides]:
    before = len(place.problems)
    ranges = ranges_of(place["ranges"], variants)
    values = section.samples * (len(ranges) + 1)
    if values > _MOST_SAMPLED_VALUES:
        most = _MOST_SAMPLED_VALUES // (len(ranges) + 1)
        message = f"{section.samples} samples of {len(ranges)} ranges; write {most} or less"
        place["samples"].refuse(message)
    if len(place.problems) > before:
        return []
    by_text: dict[str, Overrides] = {}
    for shares in latin_hypercube(section.samples, len(ranges), section.seed):
        point = {
            each.key: node_of(each.at(share), place["ranges"][each.key].node.mark)
            for each, share in zip(ranges, shares, strict=True)
        }
        # Whole numbers can coincide; the same point twice would be the same units.
        by_text.setdefault(repr([value.value for value in point.values()]), point)
    return list(by_text.values())


def latin_hypercube(samples: int, dimensions: int, seed: int) -> list[list[float]]:
    """Returns ``samples`` points of ``dimensions`` shares in [0, 1), the same for the same seed.

    Of each dimension every interval [i / samples, (i + 1) / samples) has exactly one point.
    Source: McKay, Beckman, Conover, Technometrics 21(2), 1979; drawn by scipy.stats.qmc.
    """
    from scipy.stats import qmc  # takes half a second, and few studies ask for it

    points: list[list[float]] = qmc.LatinHypercube(d=dimensions, rng=seed).random(samples).tolist()
    return points


def ranges_of(place: Place, variants: Mapping[str, Overrides]) -> list[Range]:
    """Returns the ranges of a mapping of validated ``RangeSection``, noting what is wrong."""
    ranges = []
    for key, each in place.below().items():
        if not _may_be_swept(each, variants):
            continue
        low, high = each["between"].node.plain()
        chosen = Range(key, low, high, each["scale"].node.plain() or "linear")
        message = complaint_about(low, high, chosen.scale)
        if message is not None:
            each["between"].refuse(message)
        else:
            ranges.append(chosen)
    return ranges


def _may_be_swept(place: Place, variants: Mapping[str, Overrides]) -> bool:
    """Returns whether a section and no variant has this key; notes it if not."""
    for name, overrides in variants.items():
        if any(overlap(str(place.path[-1]), other) for other in overrides):
            place.refuse_key(f"variant {name} changes this key as well; leave it to one of the two")
    return may_change(place)


def _contours(
    section: SweepSection, place: Place, variants: Mapping[str, Overrides]
) -> dict[str, float]:
    if section.map is None:
        return {}
    if len(variants) < 2:
        place["map"].refuse_key("a map shows ratios of two variants; write compare, or remove it")
    refuse_twice(place["map"], place["map"].node.entries)
    return {str(key): level for key, level in section.map.items()}
