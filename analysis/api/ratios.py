"""Ratios of variants as a table, and why there is none."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd

from analysis.metrics.catalogue import CAPACITY_METRICS, MetricKey
from analysis.metrics.row_table import POINT
from analysis.metrics.unit_metrics import KEY
from analysis.report.summary import GROUP, comparison_rows
from analysis.report.tidy import rows_table
from analysis.study.units import at_point


def of_figure(key: MetricKey, table: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of a table that are about one number."""
    is_it = (table["metric"] == key.metric) & (table["class"] == key.class_)
    return table[is_it & (table["stat"] == key.stat)]


def compared(units: pd.DataFrame, summary: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Returns the ratio of every other variant to a baseline, as ``comparisons`` has them.

    Args:
        units: of the study.
        summary: of the study; what is only known to be greater is not compared.
        baseline: a variant.

    Raises:
        ValueError: if the study has no such variant.
    """
    variants = list(dict.fromkeys(units["variant"]))
    if baseline not in variants:
        raise ValueError(f"no variant is called {baseline!r}; use one of {', '.join(variants)}")
    texts = list(dict.fromkeys(units["point"]))
    place = {text: at for at, text in enumerate(texts)}
    values = units.assign(**{POINT: units["point"].map(place)})
    wide = values.pivot(index=GROUP, columns="replication", values="value")
    bounds = summary[summary["at_least"]].assign(**{POINT: summary["point"].map(place)})
    found = comparison_rows(
        wide.astype(np.float64),
        [json.loads(text) for text in texts],
        baseline,
        bounds=pd.MultiIndex.from_frame(bounds[[POINT, "variant", *KEY]]),
    )
    return rows_table(found)


def warn_of_capacity(summary: pd.DataFrame, own: str) -> None:
    """Warns that of a search for capacity, comparisons with another baseline have not all."""
    found = [name for name in CAPACITY_METRICS if (summary["metric"] == name).any()]
    if found:
        warnings.warn(f"{' and '.join(found)} are left out: {_only_own(own)}", stacklevel=3)


def warn_of_gaps(
    key: MetricKey, summary: pd.DataFrame, chosen: pd.DataFrame, baseline: str, own: str
) -> None:
    """Warns of the ratios of a number that there should be, and are not.

    Args:
        key: the number.
        summary: of the study.
        chosen: the ratios of that number.
        baseline: that they are to.
        own: the study's own baseline.
    """
    rows = of_figure(key, summary)
    there = set(zip(chosen["point"], chosen["variant"], strict=True))
    based = set(rows.loc[rows["variant"] == baseline, "point"])
    others = rows[rows["variant"] != baseline]
    left = [
        (point, variant)
        for point, variant in zip(others["point"], others["variant"], strict=True)
        if (point, variant) not in there and (point in based or chosen.empty)
    ]
    if not left and not chosen.empty:
        return
    what = str(key)
    if left:
        point, variant = left[0]
        rows = rows[(rows["point"] == point) & rows["variant"].isin([baseline, variant])]
        if not chosen.empty:
            more = f" (and {len(left) - 1:,} more)" if left[1:] else ""
            what += f" of {at_point(variant, json.loads(point))}{more}"
    why = _why_not(key, rows, baseline, own)
    warnings.warn(f"{what} cannot be compared: {why}", stacklevel=3)


def _why_not(key: MetricKey, rows: pd.DataFrame, baseline: str, own: str) -> str:
    """Returns why there is no ratio of numbers of one point."""
    for row in rows[rows["at_least"]].itertuples():
        return f"of {row.variant} only a lower bound is known, since work had not ended"
    for row in rows[rows["refused"].notna()].itertuples():
        return f"that of {row.variant} is refused, {row.refused}"
    if rows.empty:
        return "the study has none"
    if key.metric in CAPACITY_METRICS and baseline != own:
        return _only_own(own)
    names = list(dict.fromkeys(rows["variant"]))
    if len(names) == 1 or baseline not in names:
        return f"only {names[0]} has it" if len(names) == 1 else f"{baseline} has none"
    zero = [row.variant for row in rows.itertuples() if row.value == 0]
    if baseline in zero:
        both = len(set(zero)) == len(names)
        return f"it is 0 {'in all variants' if both else f'in {baseline}'}, so there is no ratio"
    return "no replication has it of both"


def _only_own(own: str) -> str:
    return f"a capacity is compared with the study's own baseline, {own}, and with no other"
