"""Text alternatives of figures: their main numbers as short plain text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import pandas as pd

from analysis.metrics.rounding import digits


def listed(parts: Iterable[str], between: str = "; ") -> str:
    """Returns the parts that are not empty as one text."""
    return between.join(part for part in parts if part)


def between(values: Sequence[float]) -> str:
    """Returns the smallest and the greatest of some values."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return "no value"
    low, high = digits(min(known)), digits(max(known))
    return low if low == high else f"{low} to {high}"


def part_sizes(
    rows: pd.DataFrame,
    variants: Sequence[str],
    parts: Sequence[str],
    unit: str,
    scale: float = 1.0,
) -> str:
    """Returns each variant's whole and its parts by their names, the largest first.

    Args:
        rows: of the summary, of one metric.
        variants: in order.
        parts: classes that are told of.
        unit: behind the whole.
        scale: from the metric's unit to that one.
    """
    known, told = rows.dropna(subset=["value"]), []
    for variant in variants:
        mine = known[(known["variant"] == variant) & known["class"].isin(parts)]
        sizes = {
            str(part): scale * float(size)
            for part, size in zip(mine["class"], mine["value"], strict=True)
        }
        whole = sum(sizes.values())
        largest = sorted(sizes.items(), key=lambda pair: -pair[1])
        of = ", ".join(f"{name} {digits(size)}" for name, size in largest if size > 0.005 * whole)
        told.append(f"{variant} {digits(whole)} {unit}" + (f" ({of})" if of else ""))
    return listed(told)
