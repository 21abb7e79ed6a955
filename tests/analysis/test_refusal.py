"""Latencies that mean nothing are not told, and it is said why."""

from __future__ import annotations

import io
import json
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

from analysis.metrics.unit_metrics import KEY
from analysis.report.comparison import comparison_tables
from analysis.report.expectations import judge
from analysis.report.refusal import reasons, refusals, unit_facts, verdict_lines
from analysis.report.summary import comparison_rows, summary_rows, summary_text, variant_values
from analysis.report.terminal import print_tables
from analysis.study.expectation import Expectation
from tests.stub_model import claim_that

POINTS: list[dict[str, Any]] = [{"workload.rate": "500/s"}, {"workload.rate": "900/s"}]
VARIANTS = ["pipelined", "in_memory"]
PILED_UP = "transactions pile up: at the end 400 of 900 (44 %) have not ended"


def units(**verdicts: list[str]) -> pd.DataFrame:
    """Returns units of two points; the verdicts are those of the second point's variants."""
    return pd.DataFrame(
        [
            {
                "point_index": point,
                "variant": variant,
                "replication": replication,
                "verdict": verdict if point else "stable",
                "others_went_on": False,
                "verdict_reason": PILED_UP if point and verdict == "overloaded" else "",
                "warmup_windows": 2 * replication,
                "window_ns": 100_000_000,
            }
            for point in (0, 1)
            for variant, of_it in verdicts.items()
            for replication, verdict in enumerate(of_it)
        ]
    )


PARTLY = units(pipelined=["stable", "overloaded", "overloaded"], in_memory=["stable"] * 3)
WHY = f"2 of 3 replications are overloaded: {PILED_UP}"


def wide(table: pd.DataFrame) -> pd.DataFrame:
    names = [("lock_latency_ms", "all", "mean", "ms"), ("txn_per_s", "all", "mean", "1/s")]
    values = {name: [1.0 + place for place in range(len(table))] for name in names}
    metrics = pd.DataFrame(values).rename_axis(KEY, axis=1)
    return variant_values(metrics, table, VARIANTS, [0, 1, 2])


def rows_of(table: pd.DataFrame) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    refused = refusals(table)
    rows = summary_rows(wide(table), POINTS, refused)
    return list(rows), list(comparison_rows(wide(table), POINTS, "pipelined", refused))


def test_latencies_of_the_case_are_refused_and_nothing_else() -> None:
    rows, _ = rows_of(PARTLY)
    (refused,) = [row for row in rows if "refused" in row]
    named = (refused["point"], refused["variant"], refused["metric"])
    assert named == (POINTS[1], "pipelined", "lock_latency_ms")
    assert refused["refused"] == WHY
    assert [refused[end] for end in ("value", "ci_low", "ci_high")] == [None] * 3
    assert refused["replications"] == 3
    assert all(row["value"] is not None for row in rows if row is not refused)


@pytest.mark.parametrize("side", VARIANTS)
def test_what_is_refused_of_either_side_is_not_compared(side: str) -> None:
    verdicts = {name: ["stable" if name != side else "not settled"] * 3 for name in VARIANTS}
    _, compared = rows_of(units(**verdicts))
    assert [(row["point"], row["metric"]) for row in compared] == [
        (POINTS[0], "lock_latency_ms"),
        (POINTS[0], "txn_per_s"),
        (POINTS[1], "txn_per_s"),
    ]


def test_a_stable_study_says_nothing_of_refusals() -> None:
    near = units(pipelined=["near saturation"] * 3, in_memory=["stable"] * 3)
    assert refusals(near) == {}
    assert not any("refused" in row for row in rows_of(near)[0])


@pytest.mark.parametrize(
    ("unsettled", "replications", "refused"),
    [(1, 1, True), (1, 10, True), (1, 11, False), (1, 50, False), (2, 50, True), (2, 90, False)],
)
def test_drifts_that_chance_explains_refuse_nothing(
    unsettled: int, replications: int, *, refused: bool
) -> None:
    # A test of level 0.5 % in each of 50 settled replications finds a drift in every fourth case.
    verdicts = ["not settled"] * unsettled + ["stable"] * (replications - unsettled)
    assert bool(refusals(units(pipelined=verdicts))) == refused
    assert refusals(units(pipelined=[*verdicts, "overloaded"])), "one that piles up is enough"


@pytest.mark.parametrize(
    ("claim", "where"),
    [
        (claim_that("lock_latency_ms", "pipelined", below=99), "pipelined"),
        (claim_that("lock_latency_ms", "in_memory", against="pipelined", above=0), "pipelined"),
    ],
)
def test_claims_on_refused_numbers_do_not_hold(claim: Expectation, where: str) -> None:
    refused = refusals(PARTLY)
    rows = summary_rows(wide(PARTLY), POINTS, refused)
    against = comparison_rows(wide(PARTLY), POINTS, "pipelined", refused)
    fine, verdict = judge([claim], rows, against)
    assert fine["holds"]
    assert not verdict["holds"]
    assert verdict["point"] == POINTS[1]
    assert verdict["reason"] == f"refused, {where}: {WHY}"
    assert [row["holds"] for row in judge([claim], list(rows), against)] == [True, False]


def test_the_table_has_a_word_and_says_why_once() -> None:
    rows, compared = rows_of(PARTLY)
    out = io.StringIO()
    summary = {"rows": rows, "comparisons": compared}
    tables = comparison_tables(summary, VARIANTS, POINTS)
    print_tables(Console(file=out, width=200), tables)
    assert out.getvalue().count("refused ") == 1
    assert out.getvalue().count(f"pipelined: latencies are refused: {WHY}") == 1


def test_the_summary_has_verdicts_and_cuts_by_case() -> None:
    facts = unit_facts(PARTLY, POINTS)
    assert facts[2] == {
        "point": POINTS[1],
        "variant": "pipelined",
        "verdicts": {"stable": 1, "overloaded": 2},
        "reason": PILED_UP,
        "others_went_on": False,
        "warmup_s": {"min": 0.0, "median": 0.2, "max": 0.4},
    }
    assert len(facts) == 4
    assert json.loads(json.dumps(facts)) == facts
    assert json.loads("".join(summary_text({"units": facts}))) == {"units": facts}


def test_the_last_lines_say_what_is_not_stable_the_worst_first() -> None:
    near = {
        "point": {},
        "variant": "sync",
        "verdicts": {"near saturation": 3},
        "reason": "store_poller 97 % busy",
        "others_went_on": False,
    }
    assert verdict_lines([near, *unit_facts(PARTLY, POINTS)]) == [
        f"pipelined at workload.rate = 900/s: overloaded in 2 of 3 replications ({PILED_UP})",
        "sync: near saturation (store_poller 97 % busy)",
    ]
    busier = [near | {"reason": f"store_poller {busy} % busy"} for busy in range(60, 100)]
    assert verdict_lines(busier)[5:] == ["and 35 more cases"]
    assert len(verdict_lines(busier[:6])) == 6


def test_of_outages_the_one_is_told_in_which_nothing_went_on() -> None:
    table = units(sync=["outage"] * 3)
    table["verdict_reason"] = ["4 had not ended; the longest took 1 s", "throughput fell", ""] * 2
    table["others_went_on"] = [True, False, True] * 2
    told = unit_facts(table, POINTS)[1]
    assert (told["reason"], told["others_went_on"]) == ("throughput fell", False)


def test_what_is_said_of_all_is_said_once() -> None:
    near = {"point": {}, "variant": "sync", "verdicts": {"not judged": 3}, "reason": "too short"}
    fine = near | {"verdicts": {"stable": 3}, "reason": ""}
    assert verdict_lines([near] * 40) == ["all 40 cases: not judged (too short)"]
    assert verdict_lines([near]) == ["sync: not judged (too short)"]
    assert verdict_lines([near, near, fine]) == ["sync: not judged (too short)"] * 2


def test_the_age_of_what_had_not_ended_is_no_latency() -> None:
    names = ["lock_latency_ms", "txn_unfinished_age_ms", "txn_per_s"]
    rows = [(0, "a", name, "all", "mean", "") for name in names]
    index = pd.MultiIndex.from_tuples(rows, names=["point_index", "variant", *KEY])
    assert list(reasons(index, {(0, "a"): WHY})) == [WHY, None, None]
