"""``summary.json``: rows, comparisons, claims."""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd
import pytest

from analysis.report.expectations import judge
from analysis.report.summary import comparison_rows, number, summary_rows, variant_values
from sim.record.histogram import RELATIVE_ERROR
from tests.stub_model import StubClaim

POINTS = [{"workload.threads": 50}]


def wide(stat: str, **replications: list[float]) -> pd.DataFrame:
    """Returns lock latencies of variants by replication."""
    units, metrics = [], []
    for variant, values in replications.items():
        for replication, value in enumerate(values):
            unit = {"unit_hash": f"{variant}{replication}", "point_index": 0}
            units.append(unit | {"variant": variant, "replication": replication})
            name = {"metric": "lock_latency_ms", "class": "all", "stat": stat, "unit": "ms"}
            metrics.append({"unit_hash": unit["unit_hash"], "value": value} | name)
    return variant_values(pd.DataFrame(metrics), pd.DataFrame(units))


def test_a_row_says_everything() -> None:
    rows = summary_rows(wide("mean", pipelined=[1.0, 2.0, 3.0]), POINTS)
    half = 4.302653 / math.sqrt(3)
    assert rows == [
        {
            "point": {"workload.threads": 50},
            "variant": "pipelined",
            "metric": "lock_latency_ms",
            "class": "all",
            "stat": "mean",
            "value": 2.0,
            "ci_low": pytest.approx(2 - half),
            "ci_high": pytest.approx(2 + half),
            "replications": 3,
            "unit": "ms",
        }
    ]


def test_quantiles_are_widened_by_the_histograms_error() -> None:
    (row,) = summary_rows(wide("p99", pipelined=[2.0, 2.0]), POINTS)
    assert row["ci_high"] - row["value"] == pytest.approx(2 * RELATIVE_ERROR)


def test_one_replication_has_null_intervals() -> None:
    table = wide("mean", pipelined=[2.0], in_memory=[1.0])
    assert {row["ci_low"] for row in summary_rows(table, POINTS)} == {None}
    (comparison,) = comparison_rows(table, POINTS, "pipelined")
    assert comparison["ratio"] == 0.5
    assert comparison["ci_low"] is None
    assert json.loads(json.dumps(comparison)) == comparison


def test_variants_keep_the_order_of_the_study() -> None:
    table = wide("mean", pipelined=[2.0], sync=[4.0], in_memory=[1.0])
    assert [row["variant"] for row in summary_rows(table, POINTS)] == [
        "pipelined",
        "sync",
        "in_memory",
    ]
    compared = comparison_rows(table, POINTS, "pipelined")
    assert [(row["variant"], row["ratio"]) for row in compared] == [("sync", 2), ("in_memory", 0.5)]


def test_pairs_are_made_by_replication_even_if_one_is_missing() -> None:
    table = wide("mean", pipelined=[1.0, 10.0, 100.0], in_memory=[0.5, 5.0])
    (comparison,) = comparison_rows(table, POINTS, "pipelined")
    assert comparison["ratio"] == pytest.approx(0.5)
    assert comparison["ci_high"] == pytest.approx(0.5)


def test_numbers_that_are_none_become_null() -> None:
    assert number(math.nan) is None
    assert number(1 / 3) == 0.3333333333


SUMMARY: dict[str, Any] = {
    "rows": [
        {
            "point": {},
            "variant": "in_memory",
            "metric": "lock_latency_ms",
            "class": "all",
            "stat": "mean",
            "value": 1.0,
            "ci_low": None,
            "ci_high": None,
        }
    ],
    "comparisons": [
        {
            "point": {},
            "baseline": "pipelined",
            "variant": "in_memory",
            "metric": "lock_latency_ms",
            "class": "all",
            "stat": "mean",
            "ratio": 0.5,
            "ci_low": 0.45,
            "ci_high": 0.55,
        }
    ],
}


@pytest.mark.parametrize(
    ("claim", "holds", "reason"),
    [
        ({"against": "pipelined", "below": 0.6}, True, "0.5 [0.45, 0.55]"),
        ({"against": "pipelined", "below": 0.52}, False, "0.5 [0.45, 0.55] is not below 0.52"),
        ({"against": "pipelined", "above": 0.4, "below": 0.6}, True, "0.5 [0.45, 0.55]"),
        ({"against": "pipelined", "above": 0.5}, False, "0.5 [0.45, 0.55] is not above 0.5"),
        ({"below": 2.0}, False, "1 has no interval; run at least two replications"),
        ({"stat": "p42", "below": 2.0}, False, "no such number in this study"),
    ],
)
def test_claims_are_judged_on_interval_ends(
    claim: dict[str, Any], holds: bool, reason: str
) -> None:
    (verdict,) = judge([StubClaim("lock_latency_ms", "in_memory", **claim)], SUMMARY)
    assert (verdict["holds"], verdict["reason"]) == (holds, reason)
