"""Tables of rows one after another, also when one of them lacks the figures of a column."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.metrics.row_table import RowTable

WITH = pd.DataFrame({"point_index": [0], "metric": ["tpmc"], "ci_low": [1.0]})
WITHOUT = pd.DataFrame({"point_index": [0], "metric": ["splits"], "ci_low": [None]})


@pytest.mark.parametrize("parts", [[WITH, WITHOUT], [WITHOUT, WITH]])
def test_a_column_without_values_is_null(parts: list[pd.DataFrame]) -> None:
    # Warnings are errors: pandas warns of columns of two kinds, of which one says nothing.
    rows = RowTable.of([RowTable(part, [{}]) for part in parts])
    assert {row["metric"]: row["ci_low"] for row in rows} == {"tpmc": 1.0, "splits": None}


def test_an_empty_table_adds_nothing() -> None:
    rows = RowTable.of([RowTable(WITH.iloc[:0], [{}]), RowTable(WITH, [{}])])
    assert list(rows) == [{"point": {}, "metric": "tpmc", "ci_low": 1.0}]


def test_a_column_that_nobody_fills_stays() -> None:
    rows = RowTable.of([RowTable(WITHOUT, [{}]), RowTable(WITHOUT, [{}])])
    assert [row["ci_low"] for row in rows] == [None, None]
