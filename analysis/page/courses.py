"""Lines over simulated time, as a chart's data: a value a bin, gaps where there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

PATHS: Final = ("in_memory", "pipelined", "sync", "fallback")
"""Ways that a lock can take."""


@dataclass(frozen=True, slots=True)
class Course:
    """What happened at one point, by bin.

    Attributes:
        table: ``variant``, ``metric``, ``class``, ``bin``, ``bin_s``, ``stat``, ``value``, ``low``,
            ``high``.
        units: ``window_ns``, ``warmup_windows``, ``simulated_s``.
        variants: in the order of the study.
    """

    table: pd.DataFrame
    units: pd.DataFrame
    variants: Sequence[str]

    @property
    def span_s(self) -> float:
        """Simulated time of the longest replication."""
        return float(self.units["simulated_s"].max())

    @property
    def bin_s(self) -> float:
        """Length of a bin."""
        return float(self.table["bin_s"].iloc[0])

    @property
    def bins(self) -> int:
        """Bins that are whole; the last one may be cut, and is left out."""
        return int(self.span_s / self.bin_s + 1e-9)

    @property
    def warmup_s(self) -> float:
        """Where the longest warm-up of the replications ends."""
        return float((self.units["warmup_windows"] * self.units["window_ns"]).max()) / 1e9

    def has(self, metric: str) -> bool:
        """Returns whether anything but zero was seen of a metric."""
        return bool((self.table.loc[self.table["metric"] == metric, "value"] > 0).any())

    def stats(self, metric: str) -> set[str]:
        """Returns the statistics that there are of a metric."""
        return set(self.table.loc[self.table["metric"] == metric, "stat"])

    def line(self, variant: str, of: tuple[str, str, str]) -> pd.DataFrame:
        """Returns ``value``, ``low``, ``high`` by bin; empty if there is no value at all.

        Args:
            variant: whose.
            of: metric, class, statistic.
        """
        table = self.table
        metric, class_, stat = of
        rows = table[
            (table["variant"] == variant)
            & (table["metric"] == metric)
            & (table["class"] == class_)
            & (table["stat"] == stat)
        ].set_index("bin")[["value", "low", "high"]]
        return rows if rows.empty else rows.reindex(pd.RangeIndex(self.bins))


def series(
    name: str, look: Mapping[str, Any], line: pd.DataFrame, scale: float, *, bands: bool
) -> dict[str, Any]:
    """Returns a chart's line: ``name``, its look, ``v``, and with bands ``lo`` and ``hi``."""
    found = {"name": name, **look, "v": numbers(line["value"] * scale)}
    if bands:
        found |= {"lo": numbers(line["low"] * scale), "hi": numbers(line["high"] * scale)}
    return found


def numbers(values: pd.Series[float]) -> list[float | None]:
    """Returns numbers with four telling digits; None for a gap."""
    return [short_number(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def short_number(value: float, digits: int = 4) -> float | None:
    """Returns a number as short as JSON takes it: 12.0 is 12; None for no number."""
    if math.isnan(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded == int(rounded) else rounded
