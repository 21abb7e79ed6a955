"""Tidy tables: swept keys as numbers, what a search found as rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.report.summary import write_summary
from analysis.report.tidy import point_columns, tables_of
from tests.page import hostile

LOAD = {"load": 900.0, "load_ci_low": 880.0, "load_ci_high": 920.0,
        "txn_per_s": 860.0, "txn_per_s_ci_low": 840.0, "txn_per_s_ci_high": 880.0}  # fmt: skip


@pytest.mark.parametrize(
    ("key", "said", "column", "values"),
    [
        ("workload.threads", [5, 50], "workload.threads", [5, 50]),
        ("a.delay", ["200us", "3ms"], "a.delay_ms", [0.2, 3.0]),
        ("a.size", ["1KiB", "1MB"], "a.size_bytes", [1024.0, 1e6]),
        ("a.width", ["500MB/s", "1GB/s"], "a.width_bytes_per_s", [5e8, 1e9]),
        ("workload.rate", ["450/s", "900/s"], "workload.rate_per_s", [450.0, 900.0]),
        ("a.part", ["5%", "50%"], "a.part_share", [0.05, 0.5]),
        ("a.delay", ["200us", "auto"], "a.delay", ["200us", "auto"]),
        ("a.on", [True, False], "a.on", [True, False]),
        ("a.profile", ["gp3", "nvme"], "a.profile", ["gp3", "nvme"]),
        ("a.list", [[1, 2], [3]], "a.list", ["[1, 2]", "[3]"]),
    ],
)
def test_amounts_of_one_kind_are_numbers(
    key: str, said: list[object], column: str, values: list[object]
) -> None:
    table = point_columns([{key: value} for value in said])
    assert list(table.columns) == ["point", column]
    assert table[column].tolist() == values


def test_a_mapping_has_a_column_an_entry_and_a_point_need_not_have_a_key() -> None:
    table = point_columns([{"d": {"p50": "1ms", "p99": "5ms"}}, {"t": 3}])
    assert table["d.p50_ms"].tolist()[0] == 1.0
    assert table["d.p99_ms"].isna().tolist() == [False, True]
    assert table["t"].isna().tolist() == [True, False]
    assert table["point"].tolist() == ['{"d": {"p50": "1ms", "p99": "5ms"}}', '{"t": 3}']


def test_a_capacity_is_a_row_a_case() -> None:
    case = {
        "point": {"hardware.profile": "gp3"}, "variant": "sync", "status": "found", **LOAD,
        "replications": 3, "binds": "lock_latency_ms.p99", "headroom": None, "present": None,
        "station": {"name": "raft_log", "busy": 0.9, "load": 950.0},
        "cost_per_hour": 3.5, "cost_per_1000_txn": 0.001, "pareto": True,
    }  # fmt: skip
    unknown = {**case, "variant": "in_memory", "status": "above", "station": None}
    found = {"load": "workload.rate", "unit": "1/s", "cases": [case, unknown]}
    table = tables_of({"rows": [], "comparisons": [], "capacity": found})["capacity"]
    assert table["hardware.profile"].tolist() == ["gp3", "gp3"]
    assert table["load"].tolist() == [900.0, 900.0]
    assert table["station"].tolist() == ["raft_log", None]
    assert table["load_key"].tolist() == ["workload.rate"] * 2


def test_a_sensitivity_is_a_row_a_factor() -> None:
    effects = [
        {"factor": name, "mu": 0.1, "mu_star": 0.2, "mu_star_conf": 0.05, "sigma": 0.1,
         "above_noise": name == "a"} for name in ("a", "b")
    ]  # fmt: skip
    outcome = {
        "metric": "lock_latency_ms", "class": "all", "stat": "mean", "variant": "in_memory",
        "baseline": "pipelined", "morris": {"effects": effects},
        "sobol": {"indices": [{"factor": "a", "first": 0.7, "first_conf": 0.1, "total": 0.8,
                               "total_conf": 0.1}]},
        "shares": None,
    }  # fmt: skip
    table = tables_of({"rows": [], "comparisons": [], "sensitivity": {"outcomes": [outcome]}})
    rows = table["sensitivity"].set_index("factor")
    assert rows.loc["a", "sobol_total"] == 0.8
    assert rows["sobol_first"].isna().tolist() == [False, True]
    assert rows["above_noise"].tolist() == [True, False]


def test_a_table_of_an_earlier_question_goes(tmp_path: Path) -> None:
    before = hostile.summary()
    write_summary(tmp_path, before | {"capacity": {"cases": []}})
    assert (tmp_path / "capacity.parquet").is_file()
    write_summary(tmp_path, before)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "comparisons.parquet", "summary.json", "summary.parquet",
    ]  # fmt: skip
