"""``summary.json``: rows, comparisons, claims."""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd
import pytest

from analysis.metrics.rounding import kept
from analysis.metrics.row_table import RowTable
from analysis.metrics.unit_metrics import KEY
from analysis.report.expectations import judge, verdict_words
from analysis.report.summary import comparison_rows, summary_rows, summary_text, variant_values
from sim.record.histogram import RELATIVE_ERROR
from tests.stub_model import claim_that

POINTS = [{"workload.threads": 50}]


def wide(stat: str, **replications: list[float]) -> pd.DataFrame:
    """Returns lock latencies of variants by replication."""
    units = [
        {"point_index": 0, "variant": variant, "replication": replication}
        for variant, values in replications.items()
        for replication, _ in enumerate(values)
    ]
    name = ("lock_latency_ms", "all", stat, "ms")
    values = {name: [value for values in replications.values() for value in values]}
    table = pd.DataFrame(units)
    columns = sorted(set(table["replication"]))
    metrics = pd.DataFrame(values).rename_axis(KEY, axis=1)
    return variant_values(metrics, table, list(replications), columns)


def test_a_row_says_everything() -> None:
    rows = summary_rows(wide("mean", pipelined=[1.0, 2.0, 3.0]), POINTS)
    half = 4.302653 / math.sqrt(3)
    assert list(rows) == [
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


def test_a_summary_is_written_as_json_would_write_it() -> None:
    table = wide("p99", pipelined=[1.0, 2.0], in_memory=[0.5])
    rows, compared = summary_rows(table, POINTS), comparison_rows(table, POINTS, "pipelined")
    none = comparison_rows(table, POINTS, "sync")
    summary = {"study": 'a "b"\n', "rows": rows, "comparisons": compared, "none": none[:0]}
    plain = {key: list(value) if isinstance(value, RowTable) else value
             for key, value in summary.items()} | {"cost": {"wall_s": 1.5, "of": []}}  # fmt: skip
    text = "".join(summary_text(summary | {"cost": plain["cost"]}))
    assert text == json.dumps(plain, indent=1) + "\n"


def test_a_row_is_a_dictionary_wherever_it_is_taken() -> None:
    table = wide("mean", pipelined=[1.0], in_memory=[0.5])
    rows = summary_rows(table, POINTS)
    assert [rows[0], rows[1]] == list(rows) == list(rows.at_point(0)) == list(rows[:2])
    assert list(rows.at_point(1)) == []
    refused = RowTable(
        rows.columns.assign(refused=pd.Series([None, "overloaded"], dtype=object)), POINTS
    )
    assert [row.get("refused", "-") for row in refused] == ["-", "overloaded"]
    assert "refused" not in refused[0]


def test_numbers_that_are_none_become_null() -> None:
    assert kept(math.nan) is None
    assert kept(1 / 3) == 0.3333333333


OF_MEAN = {"variant": "in_memory", "metric": "lock_latency_ms", "class": "all", "stat": "mean"}
ROWS: list[dict[str, Any]] = [
    {"point": {}} | OF_MEAN | {"value": 1.0, "ci_low": None, "ci_high": None}
]
COMPARISONS: list[dict[str, Any]] = [
    {"point": {}, "baseline": "pipelined"}
    | OF_MEAN
    | {"ratio": 0.5, "ci_low": 0.45, "ci_high": 0.55}
]


@pytest.mark.parametrize(
    ("claim", "words", "reason"),
    [
        ({"below": 0.6}, "holds", "0.5 [0.45, 0.55]"),
        ({"below": 0.52}, "not shown", "0.5 [0.45, 0.55] is not wholly below 0.52"),
        ({"below": 0.45}, "does not hold", "0.5 [0.45, 0.55] is not below 0.45"),
        ({"above": 0.4, "below": 0.6}, "holds", "0.5 [0.45, 0.55]"),
        ({"above": 0.5}, "not shown", "0.5 [0.45, 0.55] is not wholly above 0.5"),
        ({"above": 0.6}, "does not hold", "0.5 [0.45, 0.55] is not above 0.6"),
        ({"above": 0.6, "below": 0.7}, "does not hold", "0.5 [0.45, 0.55] is not above 0.6"),
        ({"against": "", "below": 2.0}, "not shown",
         "1 has no interval; run at least two replications"),
        ({"stat": "p42", "below": 2.0}, "not shown", "no such number in this study"),
    ],
)  # fmt: skip
def test_claims_are_judged_on_interval_ends(claim: dict[str, Any], words: str, reason: str) -> None:
    stub = claim_that("lock_latency_ms", "in_memory", **{"against": "pipelined"} | claim)
    (verdict,) = judge([stub], ROWS, COMPARISONS)
    assert (verdict_words(verdict), verdict["reason"]) == (words, reason)
    assert verdict["holds"] == (words == "holds")


def test_a_ratio_to_none_at_all_asks_for_no_further_replications() -> None:
    stub = claim_that("txn_aborts", "in_memory", against="pipelined", below=1.0)
    none = OF_MEAN | {"metric": "txn_aborts", "ratio": 0.0, "ci_low": None, "ci_high": None}
    (verdict,) = judge([stub], [], [{"point": {}, "baseline": "pipelined"} | none])
    assert not verdict["holds"]
    assert verdict["reason"] == (
        "with in_memory there is none at all, and such a ratio has no interval; "
        "claim txn_aborts of in_memory alone"
    )


def test_a_ratio_of_a_bound_is_no_claim_fulfilled_elsewhere() -> None:
    stub = claim_that("lock_latency_ms", "in_memory", against="pipelined", below=0.6)
    at_400 = {"workload.threads": 400}
    rows: list[dict[str, Any]] = [
        {"point": at_400} | OF_MEAN | {"value": 1.0, "ci_low": 0.9, "ci_high": 1.1},
        {"point": at_400}
        | OF_MEAN
        | {"variant": "pipelined", "value": 2951.0, "ci_low": None, "ci_high": None}
        | {"at_least": True},
    ]
    known, unknown = judge([stub], rows, COMPARISONS)
    assert known["holds"]
    assert not unknown["holds"]
    assert unknown["point"] == at_400
    assert unknown["reason"] == (
        "no ratio: more than 2,951 is all that is known of pipelined, since work had not ended"
    )
