"""Text alternatives of figures: their main numbers as short plain text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from analysis.experiments.case_words import (
    capacity_text,
    case_words,
    key_of,
    promise_words,
    unit_words,
)
from analysis.experiments.sensitivity_conclusion import VAGUE_SHARE
from analysis.metrics.catalogue import stat_name
from analysis.metrics.rounding import digits
from analysis.plots.axes import Axis, Point
from analysis.plots.sweep_outcomes import OutcomeCells, compared

_QUANTILES: Final = ("p50", "p99", "p999")


def listed(parts: Iterable[str], between: str = "; ") -> str:
    """Returns the parts that are not empty as one text."""
    return between.join(part for part in parts if part)


def latencies(rows: pd.DataFrame, variants: Sequence[str], metric: str) -> str:
    """Returns each variant's quantiles: ``sync p50 3 ms, p99 9 ms; ...``."""
    told = []
    for variant in variants:
        of = (rows["variant"] == variant) & (rows["metric"] == metric) & (rows["class"] == "all")
        values = rows[of].set_index("stat")["value"].dropna()
        known = [
            f"{stat_name(stat)} {digits(values[stat])} ms" for stat in _QUANTILES if stat in values
        ]
        told.append(f"{variant} {', '.join(known) or 'refused'}")
    return listed(told)


def part_sizes(table: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """Returns each variant's whole and its parts by their names, the largest first."""
    told = []
    for variant, sizes in table.items():
        whole = sum(sizes.values())
        largest = sorted(sizes.items(), key=lambda pair: -pair[1])
        of = ", ".join(f"{name} {digits(size)}" for name, size in largest if size > 0.005 * whole)
        told.append(f"{variant} {digits(whole)} {unit}" + (f" ({of})" if of else ""))
    return listed(told)


def ends(values: Sequence[float]) -> str:
    """Returns the first and the last of some values."""
    if not values:
        return "no value"
    first, last = digits(values[0]), digits(values[-1])
    return first if len(values) == 1 else f"{first} to {last}"


def between(values: Sequence[float]) -> str:
    """Returns the smallest and the greatest of some values."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return "no value"
    low, high = digits(min(known)), digits(max(known))
    return low if low == high else f"{low} to {high}"


def sizes_by_part(
    rows: pd.DataFrame, variants: Sequence[str], parts_: Sequence[str], scale: float
) -> dict[str, dict[str, float]]:
    """Returns summary rows of one metric as sizes by variant and class."""
    found: dict[str, dict[str, float]] = {}
    for variant in variants:
        mine = rows[(rows["variant"] == variant) & rows["class"].isin(parts_)].dropna(
            subset=["value"]
        )
        found[variant] = {
            str(class_): float(value) * scale
            for class_, value in zip(mine["class"], mine["value"], strict=True)
        }
    return found


def capacity_words(found: Mapping[str, Any]) -> dict[str, str]:
    """Returns the texts of ``capacity_figures``, by figure."""
    capacities = (f"{case_words(case)} {capacity_text(found, case)}" for case in found["cases"])
    bound = (f"{case_words(case)} {case['binds'] or 'not known'}" for case in found["cases"])
    return {
        "capacity_probability": (
            f"Curves over load of the probability that a run meets all objectives "
            f"({promise_words(found)}). Capacity in {unit_words(found)}: {listed(capacities)}."
        ),
        "capacity_margins": (
            "Each objective's value over its limit, at every load that was run; 1 is the limit. "
            f"What binds: {listed(bound)}."
        ),
        "capacity_cost": (
            "Transactions per second at capacity over the price of all nodes per hour: "
            f"{listed(_cost(case) for case in found['cases'])}."
        ),
    }


def _cost(case: Mapping[str, Any]) -> str:
    if case["cost_per_1000_txn"] is None:
        return ""
    beaten = ", beaten by none" if case["pareto"] else ""
    return (
        f"{case_words(case)} {digits(case['txn_per_s'])} for {digits(case['cost_per_hour'])} an "
        f"hour, {digits(1000 * case['cost_per_1000_txn'])} per million{beaten}"
    )


def sensitivity_words(found: Mapping[str, Any]) -> dict[str, str]:
    """Returns the texts of ``sensitivity_figures``, by figure."""
    outcomes = [outcome for outcome in found["outcomes"] if outcome["varies"]]
    walked = [outcome for outcome in outcomes if outcome["shares"] is not None]
    kept = ", ".join(map(str, found["kept"])) or "none"
    return {
        "sensitivity_effects": (
            "Bars of each factor's effect over its whole range, by outcome; the three largest: "
            f"{listed(map(_effects, outcomes))}."
        ),
        "sensitivity_shares": (
            "Bars of each factor's share of the variance, by outcome: "
            f"{listed(map(_shares, walked))}."
        ),
        "sensitivity_walks": (
            "Lines of each outcome as one factor goes from end to end, the others at the centre; "
            f"factors: {kept}. {listed(map(_walks, walked))}."
        ),
    }


def _effects(outcome: Mapping[str, Any]) -> str:
    rows = sorted(outcome["morris"]["effects"], key=lambda row: -(row["mu_star"] or 0.0))
    told = ", ".join(f"{row['factor']} {digits(row['mu_star'])}" for row in rows[:3])
    return f"{key_of(outcome)}: {told}"


def _shares(outcome: Mapping[str, Any]) -> str:
    rows = sorted(outcome["shares"]["factors"], key=lambda row: -(row["total"] or 0.0))
    told = ", ".join(f"{row['factor']} {_share(row)}" for row in rows)
    return f"{key_of(outcome)}: {told}"


def _share(row: Mapping[str, Any]) -> str:
    if (row["total_conf"] or 0.0) > VAGUE_SHARE:
        return "too vague"
    return f"{digits(100 * (row['total'] or 0.0))} %"


def _walks(outcome: Mapping[str, Any]) -> str:
    told = []
    for walk in outcome["walks"]:
        known = [value for value in walk["outcomes"] if value is not None]
        told.append(f"{walk['factor']} {ends(known)}")
    return f"{key_of(outcome)}: {', '.join(told)}"


def outcome_words(
    cells: OutcomeCells, variants: Sequence[str], points: Sequence[Point], axes: Sequence[Axis]
) -> str:
    """Returns what an outcome of a sweep comes to."""
    over = listed(
        (f"{axis.name} from {axis.labels[0]} to {axis.labels[-1]}" for axis in axes), ", "
    )
    values, ratios = [], []
    for variant in variants:
        numbers = [cells.value(point, variant).scaled(cells.outcome.scale) for point in points]
        refused = sum(bool(number.refused) for number in numbers)
        but = f" (refused at {refused} of {len(points)} points)" if refused else ""
        values.append(f"{variant} {between([number.value for number in numbers])}{but}")
    for variant in compared(variants):
        known = [cells.ratio(point, variant).value for point in points]
        if not all(map(math.isnan, known)):
            ratios.append(f"{variant} over {variants[0]} {between(known)}")
    said = f"{cells.outcome.title} over {over}: {listed(values)}."
    return f"{said} Ratio: {listed(ratios)}." if ratios else said
