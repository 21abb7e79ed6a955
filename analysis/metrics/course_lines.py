"""A point of a study over simulated time, in bins, for pictures and charts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True, slots=True)
class CourseLines:
    """What happened at one point, by bin.

    Attributes:
        table: ``variant``, ``metric``, ``class``, ``bin``, ``bin_s``, ``stat``, ``value``, ``low``,
            ``high``.
        units: ``variant``, ``window_ns``, ``warmup_windows``, ``simulated_s``.
    """

    table: pd.DataFrame
    units: pd.DataFrame

    @property
    def span_s(self) -> float:
        """Simulated time of the longest replication."""
        return float(self.units["simulated_s"].max())

    def line(self, variant: str, metric: str, stat: str, class_: str = "all") -> pd.DataFrame:
        """Returns a line by ascending time: ``at_s``, ``value``, ``low``, ``high``.

        A bin without a value is a gap: its row has none. The last bin is left out if it is cut. The
        line is empty if there is no value at all.
        """
        table = self.table
        rows = table[
            (table["variant"] == variant)
            & (table["metric"] == metric)
            & (table["stat"] == stat)
            & (table["class"] == class_)
        ]
        if rows.empty:
            return rows.assign(at_s=[])[["at_s", "value", "low", "high"]]
        bin_s = float(rows["bin_s"].iloc[0])
        bins = pd.RangeIndex(int(self.span_s / bin_s + 1e-9), name="bin")
        spread = rows.set_index("bin")[["value", "low", "high"]].reindex(bins)
        return spread.assign(at_s=(np.asarray(bins) + 0.5) * bin_s)

    def has(self, metric: str) -> bool:
        """Returns whether anything but zero was seen of a metric."""
        return bool((self.table.loc[self.table["metric"] == metric, "value"] > 0).any())
