"""Variants against a baseline other than the study's own, from what each replication came to."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from analysis.metrics.row_table import POINT
from analysis.metrics.unit_metrics import KEY
from analysis.report.summary import GROUP, comparison_rows
from analysis.report.tidy import rows_table


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
