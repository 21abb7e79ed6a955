"""A scenario's claims as a tidy table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from analysis.metrics.row_table import POINT, RowTable
from analysis.report.tidy import beside_points

_COLUMNS: Final = (
    "variant", "against", "metric", "class", "stat", "below", "above", "value", "holds", "refuted",
    "reason",
)  # fmt: skip
_KINDS: Final = {"below": float, "above": float, "value": float, "holds": bool, "refuted": bool}


def expectation_table(
    claims: Sequence[Mapping[str, Any]], points: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Returns a row a claim and point, with the same columns whatever is claimed.

    Args:
        claims: as ``summary.json`` has them.
        points: of the study.
    """
    found = [dict(claim["point"]) for claim in claims]
    known = [*points, *(point for point in found if point not in points)]
    table = RowTable.from_rows(claims, known)
    rest = table.columns.reindex(columns=list(_COLUMNS)).astype(object).astype(_KINDS)
    return beside_points(known, table.columns[POINT], rest)
