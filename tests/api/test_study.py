"""A study from Python: run, opened again, its tables and figures."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import pessim
from analysis import api
from analysis.cli.app import main
from pessim import ScenarioError, Study, StudyFolderError

DELAY = "tikv.pessimistic-txn.wake-up-delay-duration"
SCENARIO: dict[str, Any] = {
    "about": "Is a study the same in every form?",
    "extends": "pessim:quickstart",
    "run": {"warmup": "100ms", "measure": "200ms", "replications": 2, "batches": 1},
    "workload": {"warehouses": 10},
    "sweep": {"points": [
        {"workload.threads": 4, DELAY: "500us"}, {"workload.threads": 8, DELAY: "20ms"},
    ]},
    "expect": [],
}  # fmt: skip
CASE = ["point", "workload.threads", f"{DELAY}_ms", "variant", "metric", "class", "stat", "unit"]


@pytest.fixture(scope="module", name="study")
def study_of_two_points(shared_session: None, tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("api") / "two"
    with redirect_stderr(io.StringIO()) as told:
        study = pessim.run(SCENARIO, folder=folder, plots="none", master="local[2]")
    assert "units: 8 of 8 in " in told.getvalue()
    return study


def test_the_package_gives_what_the_api_names() -> None:
    assert vars(pessim)["__all__"] == api.__all__


def test_a_notebook_shows_question_and_answer_as_text_whatever_they_are(tmp_path: Path) -> None:
    files = {
        "scenario.yaml": "{}",
        "summary.json": '{"study": "a<b", "verdict": {"outcome": "passed"}}',
        "answer.json": '{"question": "<script>x</script>?", "answer": ["1 < 2 & 3", 4]}',
    }
    for name, text in files.items():
        tmp_path.joinpath(name).write_text(text, "utf-8")
    shown = pessim.open(tmp_path)._repr_html_()
    assert shown.startswith("<b>&lt;script&gt;x&lt;/script&gt;?</b><p>1 &lt; 2 &amp; 3</p><code>")
    assert "Study a&lt;b: passed" in shown
    tmp_path.joinpath("answer.json").unlink()
    assert pessim.open(tmp_path)._repr_html_().startswith("<b>a&lt;b</b><code>")


spark = [pytest.mark.spark, pytest.mark.slow]


class TestOfAFinishedStudy:
    pytestmark = spark

    def test_the_axes_of_a_summary_are_numbers_in_named_units(self, study: Study) -> None:
        axes = study.summary[["workload.threads", f"{DELAY}_ms"]].drop_duplicates()
        assert axes.to_numpy().tolist() == [[4, 0.5], [8, 20.0]]
        assert set(CASE) <= set(study.summary.columns)
        rows = study.summary.query("metric == 'txn_per_s' and `class` == 'all'")
        assert len(rows) == 4
        assert (rows["ci_low"] <= rows["value"]).all()
        assert set(rows["unit"]) == {"1/s"}

    def test_the_answer_is_what_the_report_begins_with(self, study: Study) -> None:
        page = study.folder.joinpath("report.md").read_text("utf-8")
        assert study.answer
        assert all(sentence in page for sentence in study.answer)

    def test_the_mean_of_the_units_is_the_summary(self, study: Study) -> None:
        means = study.units.groupby(CASE)["value"].mean()
        told = study.summary.set_index(CASE)["value"]
        assert len(study.units["unit_hash"].unique()) == 8
        both = pd.concat([means, told], axis=1, keys=["units", "summary"]).dropna()
        assert len(both) == told.notna().sum()
        assert np.allclose(both["units"], both["summary"], rtol=1e-8)

    def test_any_variant_may_be_the_baseline(self, study: Study) -> None:
        usual, turned = study.compare(), study.compare(baseline="in_memory")
        assert set(turned["variant"]) == {"pipelined"}
        keys = ["point", "metric", "class", "stat"]
        both = usual.merge(turned, on=keys, suffixes=("", "_turned"))
        assert len(both) > 50
        assert np.allclose(both["ratio"] * both["ratio_turned"], 1)
        ends = (both["ci_low"] * both["ci_high_turned"]).dropna()
        assert len(ends) > 50
        assert np.allclose(ends, 1)
        p99 = study.compare("lock_latency_ms.p99")
        assert p99[["metric", "class", "stat"]].drop_duplicates().to_numpy().tolist() == [
            ["lock_latency_ms", "all", "p99"]
        ]
        with pytest.raises(ValueError, match="no variant is called 'best'; use one of pipelined"):
            study.compare(baseline="best")

    def test_pictures_go_by_the_names_of_the_report(self, study: Study) -> None:
        assert {"lock_latency", "over_time", "disk_writes"} <= set(dir(study.plot))
        first, second = study.plot.lock_latency(), study.plot.lock_latency(point=1)
        assert isinstance(first, Figure)
        assert "workload.threads = 8" in second.get_suptitle()
        assert "workload.threads = 4" in first.get_suptitle()
        with pytest.raises(AttributeError, match=r"no picture pie; it has .*lock_latency"):
            study.plot.pie()
        assert hasattr(study.plot, "lock_latency")
        assert not hasattr(study.plot, "nope")
        with pytest.raises(AttributeError, match="lock_latency has no point 2"):
            study.plot.lock_latency(point=2)
        assert first is not study.plot.lock_latency()

    def test_it_is_the_same_when_it_is_opened_and_not_run_twice(self, study: Study) -> None:
        before = {path: path.stat().st_mtime_ns for path in study.folder.rglob("*.parquet")}
        again = pessim.run(SCENARIO, folder=study.folder, plots="none", master="local[2]")
        opened = pessim.open(str(study.folder))
        assert again.units.equals(study.units)
        assert opened.summary.equals(study.summary)
        assert before == {path: path.stat().st_mtime_ns for path in before}
        assert str(study.folder) in repr(opened)
        assert opened.verdict["outcome"] in repr(opened)

    def test_its_folder_takes_no_other_question(self, study: Study) -> None:
        message = "holds a study that asks another question, with other values of workload.warehou"
        with pytest.raises(StudyFolderError, match=message):
            pessim.run(SCENARIO, set={"workload.warehouses": 11}, folder=study.folder)
        assert len(study.compare("txn_per_s")) == 2

    def test_csv_has_the_tables_of_the_folder(self, study: Study, tmp_path: Path) -> None:
        assert main(["export", str(study.folder), "--format", "csv", "--out", str(tmp_path)]) == 0
        for name in ("summary", "units", "comparisons"):
            told = pd.read_csv(tmp_path / "csv" / f"{name}.csv").drop(columns="study")
            stored = pd.read_parquet(study.folder / f"{name}.parquet")
            assert list(told.columns) == list(stored.columns)
            value = "ratio" if name == "comparisons" else "value"
            assert np.allclose(told[value], stored[value], equal_nan=True)

    def test_what_was_not_asked_is_not_there(self, study: Study) -> None:
        with pytest.raises(StudyFolderError, match="has no section capacity"):
            _ = study.capacity
        assert study.expectations.empty
        assert "workload.threads" in study.expectations.columns
        assert study.report.is_file()


def test_an_estimate_has_the_columns_of_a_summary() -> None:
    table = pessim.explain(SCENARIO)
    assert set(CASE) <= set(table.columns)
    rows = table.query("metric == 'lock_latency_ms'").set_index(["workload.threads", "variant"])
    assert rows["value"].min() > 0
    by_variant = rows["value"].unstack()
    assert (by_variant["in_memory"] < by_variant["pipelined"]).all()
    assert set(pessim.explain(SCENARIO, points=1)["workload.threads"]) == {4}


def test_mistakes_are_told_as_the_command_tells_them(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="did you mean threads"):
        pessim.run({"workload": {"kind": "tpcc", "thread": 5}}, folder=tmp_path)
    with pytest.raises(ScenarioError, match="'pessim:quickstar'; did you mean quickstart"):
        pessim.check("pessim:quickstar")
    with pytest.raises(StudyFolderError, match="no such folder"):
        pessim.open(tmp_path / "none")
    (tmp_path / "scenario.yaml").write_text("about: Half?\n")
    with pytest.raises(
        StudyFolderError, match=r"has no summary\.json that can be read; python run_sim\.py report"
    ):
        pessim.open(tmp_path)


def test_warnings_and_shipped_scenarios_are_there() -> None:
    late = {"extends": "pessim:crash", "run": {"measure": "1s"}}
    assert any("operations" in warning for warning in pessim.check(late))
    shipped = pessim.scenarios()
    assert shipped["name"].str.startswith("pessim:").all()
    assert shipped["about"].str.endswith("?").all()


def test_names_are_taken_when_they_are_used() -> None:
    assert {"run", "open", "Study"} <= set(dir(pessim))
    with pytest.raises(AttributeError, match="no attribute 'walk'"):
        _ = pessim.walk  # type: ignore[attr-defined]


def test_what_cannot_be_compared_is_said_to_be_so(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "scenario.yaml").write_text("{}")
    (folder / "summary.json").write_text('{"study": "it", "verdict": {}}')
    case = {"point": "{}", "metric": "lock_latency_ms", "class": "all", "stat": "mean"}
    summary = pd.DataFrame([
        {**case, "variant": "a", "refused": None, "at_least": True},
        {**case, "stat": "p99", "variant": "b", "refused": "overloaded", "at_least": False},
    ])  # fmt: skip
    summary.to_parquet(folder / "summary.parquet")
    compared = pd.DataFrame([{**case, "metric": "txn_per_s", "baseline": "a", "variant": "b"}])
    compared.to_parquet(folder / "comparisons.parquet")
    study = pessim.open(folder)
    for figure, why in (
        ("lock_latency_ms", "of a only a lower bound is known"),
        ("lock_latency_ms.p99", "that of b is refused, overloaded"),
        ("splits", "the study has none"),
    ):
        with pytest.warns(UserWarning, match=f"{figure} cannot be compared: {why}"):
            assert study.compare(figure).empty
    assert len(study.compare("txn_per_s")) == 1


def test_what_has_no_transactions_cannot_be_explained() -> None:
    with pytest.raises(ScenarioError, match="etcd has no transactions to explain"):
        pessim.explain("pessim:etcd_loopback")
