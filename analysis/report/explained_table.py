"""What to expect of a study as a table, with the columns that its summary will have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.metrics.catalogue import METRICS
from analysis.report.explained import Explained, expected
from analysis.report.tidy import beside_points


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
            for metric, class_, value in expected(case):
                places.append(place)
                rows.append({
                    "variant": variant, "metric": metric, "class": class_, "stat": "mean",
                    "unit": METRICS[metric].unit, "value": value, "bottleneck": case.bottleneck,
                    "saturated": case.is_saturated,
                })  # fmt: skip
    return beside_points(points, pd.Series(places, dtype="int64"), pd.DataFrame(rows))
