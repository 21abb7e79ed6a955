"""Numbers and rows of ``summary.json`` as short plain text, for text alternatives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import pandas as pd

from analysis.metrics.catalogue import stat_name

_QUANTILES: Final = ("p50", "p99", "p999")


def digits(value: float | None) -> str:
    """Returns a number with three digits, never in powers of ten; "no value" for none."""
    if value is None or math.isnan(value):
        return "no value"
    if value != 0 and abs(value) < 0.0001:
        return f"{value:.7f}".rstrip("0").rstrip(".")
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{float(f'{value:.3g}'):g}"


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
