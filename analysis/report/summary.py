"""``summary.json``: every number with its interval, every variant against the baseline.

An interval is a 95 % t interval over replications; quantiles are widened by the histogram's stated
error. With one replication there is no interval, and it is null.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.metrics.catalogue import QUANTILES
from analysis.metrics.unit_metrics import KEY
from analysis.statistics.intervals import half_widths, means, paired_ratios
from sim.record.histogram import RELATIVE_ERROR

GROUP: Final = ["point_index", "variant", *KEY]


def variant_values(metrics: pd.DataFrame, units: pd.DataFrame) -> pd.DataFrame:
    """Puts replications side by side.

    Args:
        metrics: one row per unit and metric, from ``unit_metrics``.
        units: ``unit_hash``, ``point_index``, ``variant``, ``replication``.

    Returns:
        Index ``point_index, variant, metric, class, stat, unit``; a column a replication, NaN
        where it has no value.
    """
    whose = units[["unit_hash", "point_index", "variant", "replication"]]
    joined = metrics.merge(whose, on="unit_hash")
    wide = joined.pivot(index=GROUP, columns="replication", values="value")
    order = {name: place for place, name in enumerate(dict.fromkeys(units["variant"]))}
    return wide.sort_index(key=lambda level: level.map(order) if level.name == "variant" else level)


def summary_rows(wide: pd.DataFrame, points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows of ``summary.json``."""
    values = wide.to_numpy(dtype=np.float64)
    middle, half = means(values), half_widths(values)
    error = np.where(_is_quantile(wide), middle * RELATIVE_ERROR, 0.0)
    count = np.sum(~np.isnan(values), axis=1)
    return [
        {
            "point": dict(points[key[0]]),
            "variant": key[1],
            "metric": key[2],
            "class": key[3],
            "stat": key[4],
            "value": number(value),
            "ci_low": number(value - width),
            "ci_high": number(value + width),
            "replications": int(replications),
            "unit": key[5],
        }
        for key, value, width, replications in zip(
            wide.index, middle, half + error, count, strict=True
        )
    ]


def comparison_rows(
    wide: pd.DataFrame, points: Sequence[Mapping[str, Any]], baseline: str
) -> list[dict[str, Any]]:
    """Returns the comparisons of every other variant with the baseline, paired by replication."""
    variants = wide.index.get_level_values("variant")
    base = wide[variants == baseline].droplevel("variant")
    others = wide[variants != baseline]
    partner = others.index.droplevel("variant")
    known = partner.isin(base.index)
    others, partner = others[known], partner[known]
    if others.empty:
        return []
    ratio, low, high = paired_ratios(
        others.to_numpy(dtype=np.float64), base.reindex(partner).to_numpy(dtype=np.float64)
    )
    error = np.where(_is_quantile(others), (1.0 + RELATIVE_ERROR) ** 2, 1.0)
    return [
        {
            "point": dict(points[key[0]]),
            "baseline": baseline,
            "variant": key[1],
            "metric": key[2],
            "class": key[3],
            "stat": key[4],
            "ratio": number(middle),
            "ci_low": number(below),
            "ci_high": number(above),
        }
        for key, middle, below, above in zip(
            others.index, ratio, low / error, high * error, strict=True
        )
        if not math.isnan(middle)
    ]


def _is_quantile(wide: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.bool_]]:
    stats = wide.index.get_level_values("stat")
    return np.asarray(stats.isin(list(QUANTILES)))


def number(value: float) -> float | None:
    """Returns the number with ten digits, which JSON readers agree on; None for none."""
    return None if math.isnan(value) else float(f"{value:.10g}")
