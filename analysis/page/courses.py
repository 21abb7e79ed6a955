"""Lines over simulated time, as a chart's data: a value a bin, gaps where there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.metrics.course_lines import CourseLines

PATHS: Final = ("in_memory", "pipelined", "sync", "fallback")
"""Ways that a lock can take."""


@dataclass(frozen=True, slots=True)
class ChartedCourse(CourseLines):
    """What the charts of one point are made from; ``variants`` are in the order of the study."""

    variants: Sequence[str]

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

    def stats(self, metric: str) -> set[str]:
        """Returns the statistics that there are of a metric."""
        return set(self.table.loc[self.table["metric"] == metric, "stat"])


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
