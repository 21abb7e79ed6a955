"""CSV: what a strict reader gets back, and what a spreadsheet must not run."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from analysis.export.csv_tables import table_text, write_csv_course, write_csv_tables
from analysis.report.tidy import rows_table
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import StudyFolderError


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_rows_come_back_as_they_are_in_the_summary(study: FinishedStudy, tmp_path: Path) -> None:
    paths = write_csv_tables(study, tmp_path)
    assert [path.name for path in paths] == ["summary.csv", "comparisons.csv"]
    content = paths[0].read_bytes().decode()
    assert content.count("\r\n") == content.count("\n") == 2
    head, row = read(content)
    assert dict(zip(head, row, strict=True)) == {
        "study": "small", "point": "{}", "variant": "in_memory", "metric": "txn_per_s",
        "class": "all", "stat": "mean", "unit": "1/s", "value": "-1.5", "ci_low": "",
        "ci_high": "2", "replications": "2", "refused": "", "at_least": "False",
    }  # fmt: skip


def test_a_point_is_a_column_for_each_key() -> None:
    rows = [
        {"point": {"workload.threads": 50}, "variant": "a", "value": 1},
        {"point": {"hardware.profile": 'x"y, z', "workload.threads": 60}, "variant": "b",
         "value": 2.5},
    ]  # fmt: skip
    text = "".join(table_text("s", rows_table(rows).drop(columns="point")))
    assert read(text) == [
        ["study", "workload.threads", "hardware.profile", "variant", "value"],
        ["s", "50", "", "a", "1.0"],
        ["s", "60", 'x"y, z', "b", "2.5"],
    ]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_name_is_never_a_formula(name: str) -> None:
    table = pd.DataFrame({"a": [name], "b": ["a-b"], "c": [-1.5]})
    assert read("".join(table_text(name, table)))[1] == [f"'{name}", f"'{name}", "a-b", "-1.5"]


def test_a_point_may_be_a_list(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [["=a", 1]], "b": [{"b": "é"}]})
    assert read("".join(table_text("s", table)))[1][1:] == ['["=a", 1]', '{"b": "\\u00e9"}']


def test_the_course_has_a_line_a_window(study: FinishedStudy, tmp_path: Path) -> None:
    (path,) = write_csv_course(study, tmp_path)
    head, *rows = read(path.read_bytes().decode())
    assert len(rows) == 4 * 16
    column = {name: place for place, name in enumerate(head)}
    committed = sum(int(row[column["transactions"]]) for row in rows)
    assert committed == sum(record.transactions for record in study.done.values())
    measured = [row for row in rows if row[column["warmup"]] == "0"]
    assert len(measured) == 4 * 12
    for row in measured:
        mean, p99 = (float(row[column[f"lock_latency_{stat}_ms"]]) for stat in ("mean", "p99"))
        assert 0.1 < mean < p99 < 100


def test_no_window_has_a_quantile_above_its_greatest_value(
    study: FinishedStudy, tmp_path: Path
) -> None:
    (path,) = write_csv_course(study, tmp_path)
    rows = csv.DictReader(io.StringIO(path.read_bytes().decode(), newline=""), strict=True)
    for unit in study.done:
        moments = pd.read_parquet(study.folder / "units" / unit.unit_hash / "moments.parquet")
        locks = moments[moments["metric"] == "lock_latency"].groupby("window")["max"].max()
        for window in range(16):
            p99_ms = float(next(rows)["lock_latency_p99_ms"])
            assert 0.9 * p99_ms < locks[window] / 1e6
            assert p99_ms <= round(locks[window] / 1e6, 6)


@pytest.mark.parametrize("content", [None, b"{"])
def test_a_table_that_cannot_be_read_is_told(
    study: FinishedStudy, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "summary.parquet").write_bytes(content)
    with pytest.raises(StudyFolderError, match="makes it again"):
        write_csv_tables(replace(study, folder=tmp_path), tmp_path)
