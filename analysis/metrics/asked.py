"""The numbers asked for, a row each."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from analysis.metrics.catalogue import COMMITS, COUNTERS, METRICS, MetricKey
from analysis.metrics.unit_metrics import KEY, names_of, unit_metrics


def asked_metrics(
    sums: pd.DataFrame, measured_s: pd.Series[float], keys: Sequence[MetricKey] | None
) -> pd.DataFrame:
    """Returns published numbers as rows.

    Args:
        sums: of facts, a row a unit; columns ``metric``, ``class``, ``stat``.
        measured_s: by unit, in the same order.
        keys: the numbers wanted; None for all.

    Returns:
        ``place`` (of the unit in ``sums``), ``metric``, ``class``, ``stat``, ``unit``, ``value``;
        a number that a unit does not have is absent.
    """
    published = unit_metrics(sums, measured_s)
    if keys is not None:
        wanted: set[tuple[str, ...]] = {(key.metric, key.class_, key.stat) for key in keys}
        names = [name[:3] for name in names_of(published)]
        there = published.iloc[:, [place for place, name in enumerate(names) if name in wanted]]
        uncounted = wanted.difference(names)
        published = pd.concat([there, _zeros(uncounted, sums)], axis=1)
    tall = published.set_axis(pd.RangeIndex(len(published)), axis=0).melt(ignore_index=False)
    tall = tall.dropna(subset="value").rename_axis("place").reset_index()
    return tall[["place", *KEY, "value"]]


def _zeros(wanted: Collection[tuple[str, ...]], sums: pd.DataFrame) -> pd.DataFrame:
    """Returns the counters among the numbers that no unit has: 0, or none without a commit."""
    facts = sums.columns
    counts = (facts.get_level_values(0) == COMMITS) & (facts.get_level_values(2) == "total")
    commits = pd.Series(np.nansum(sums.to_numpy()[:, counts], axis=1), index=sums.index)
    columns = {
        (metric, class_, stat, METRICS[metric].unit): 0.0 * commits.where(commits > 0)
        if COUNTERS[metric].per == "transaction"
        else 0.0 * commits
        for metric, class_, stat in sorted(wanted)
        if metric in COUNTERS and stat == "mean"
    }
    names = list(zip(*columns, strict=True)) or [()] * len(KEY)
    table = pd.DataFrame(dict(enumerate(columns.values())), index=sums.index)
    return table.set_axis(pd.MultiIndex.from_arrays(names, names=KEY), axis=1)
