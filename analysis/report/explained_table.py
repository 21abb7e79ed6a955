"""What to expect of a study as a table, with the columns that its summary will have.

An estimate beside what a finished study has found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from analysis.metrics.catalogue import METRICS
from analysis.metrics.numbers import Numbers
from analysis.metrics.shown import KEY_FIGURE_OF, TO_KIB
from analysis.report.estimate_table import Compared, Measured
from analysis.report.explained import Explained, expected
from analysis.report.tidy import beside_points
from sim.estimate import Estimate


def explained_table(
    points: Sequence[Mapping[str, Any]], found: Sequence[Explained]
) -> pd.DataFrame:
    """Returns a row a number, with the columns that a study's summary has for it.

    ``bottleneck`` is the busiest station of a case; ``saturated`` whether that one is too busy for
    more than a hint.
    """
    rows, places = [], []
    for place, each in enumerate(found):
        for variant, case in each.variants.items():
            for key, value in expected(case):
                places.append(place)
                rows.append({
                    "variant": variant, **key.columns, "unit": METRICS[key.metric].unit,
                    "value": value, "bottleneck": case.bottleneck, "saturated": case.is_saturated,
                })  # fmt: skip
    return beside_points(points, pd.Series(places, dtype="int64"), pd.DataFrame(rows))


_LEFT_OUT: Final = "proposals_per_txn"
"""Follows from the workload alone, so that nothing is learnt from it."""


def compared(
    estimate: Estimate, point: Mapping[str, Any], variant: str, summary: Mapping[str, Any]
) -> list[Compared]:
    """Returns every figure of an estimate beside the one that was simulated."""
    numbers = Numbers(summary["rows"], points=[point])
    found = []
    for key, value in expected(estimate):
        if key.metric == _LEFT_OUT:
            continue
        if key in KEY_FIGURE_OF:
            label, scale = KEY_FIGURE_OF[key].title, KEY_FIGURE_OF[key].scale
        elif key.metric == "disk_write_bytes_per_txn":
            label, scale = f"  {key.class_}", TO_KIB
        else:
            label, scale = f"{key.class_} busy (%)", 100.0
        number = numbers.get(point, variant, key).scaled(scale)
        half = number.half if number.has_interval else None
        measured = Measured(number.value, half) if number.is_there else None
        found.append(Compared(label, None if value is None else value * scale, measured))
    return found
