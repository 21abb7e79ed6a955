"""Which published numbers are lower bounds."""

from __future__ import annotations

import pandas as pd

from analysis.metrics.catalogue import AT_LEAST, METRICS, SERIES
from analysis.metrics.unit_metrics import named, names_of


def lower_bounds(sums: pd.DataFrame) -> pd.DataFrame:
    """Returns which published numbers are lower bounds, a row a unit: what never ended counts.

    Args:
        sums: as for ``unit_metrics``.

    Returns:
        Columns as of ``unit_metrics``, of those that are a bound in some unit; true or false.
    """
    bounds = [name for name in names_of(sums) if name[2].startswith(AT_LEAST)]
    of_fact = {series.fact: metric for metric, series in SERIES.items()}
    names = [
        (of_fact[fact], class_, stat.removeprefix(AT_LEAST), METRICS[of_fact[fact]].unit)
        for fact, class_, stat in bounds
    ]
    table = sums.loc[:, pd.MultiIndex.from_tuples(bounds)] if bounds else sums.iloc[:, :0]
    return table.notna().set_axis(named(names), axis=1)
