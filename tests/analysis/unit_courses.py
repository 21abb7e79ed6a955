"""Courses of units of which only some is known."""

from __future__ import annotations

from typing import Final

import numpy as np

from analysis.statistics.intervals import Array
from analysis.statistics.saturation import UnitCourse

WINDOW_S: Final = 0.1


def unit_course(
    committed: Array, before: slice = slice(0), cut: int = 0, **known: Array
) -> UnitCourse:
    """Returns a course; what is not known of it is 0."""
    names = ("begun", "ended", "total_s", "longest_s", "latency")
    series = dict.fromkeys(names, np.zeros(len(committed))) | known
    return UnitCourse(committed=committed, window_s=WINDOW_S, cut=cut, before=before, **series)
