"""Numbers and rows of ``summary.json`` as short plain text, for text alternatives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd


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


def value_of(
    rows: pd.DataFrame, variant: str, metric: str, stat: str, class_: str = "all"
) -> float | None:
    """Returns a value of the summary at one point, or None if there is none or it is refused."""
    found = rows[
        (rows["variant"] == variant)
        & (rows["metric"] == metric)
        & (rows["stat"] == stat)
        & (rows["class"] == class_)
    ]["value"].dropna()
    return None if found.empty else float(found.iloc[0])


def latencies(
    rows: pd.DataFrame,
    variants: Sequence[str],
    metric: str = "lock_latency_ms",
    stats: Sequence[str] = ("p50", "p99", "p999"),
) -> str:
    """Returns each variant's quantiles: ``sync p50 3 ms, p99 9 ms; ...``."""
    told = []
    for variant in variants:
        values = {stat: value_of(rows, variant, metric, stat) for stat in stats}
        known = [f"{_stat(stat)} {digits(value)} ms" for stat, value in values.items() if value]
        told.append(f"{variant} {', '.join(known) or 'refused'}")
    return listed(told)


def _stat(stat: str) -> str:
    return "p99.9" if stat == "p999" else stat


def part_sizes(
    table: Mapping[str, Mapping[str, float]], unit: str, total: Mapping[str, float] | None = None
) -> str:
    """Returns each variant's whole and its parts, the largest first.

    Args:
        table: by variant, size by part.
        unit: of all sizes.
        total: by variant; None for the sum of the parts.
    """
    told = []
    for variant, sizes in table.items():
        whole = sum(sizes.values()) if total is None else total[variant]
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
