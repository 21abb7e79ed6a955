"""Units through Spark: their sums against a plain oracle, and what happens when a unit does not."""

from __future__ import annotations

import io
import json
import shutil
import time
from collections import defaultdict
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis.cli.exit_status import ExitStatus
from analysis.cli.run_command import run_study
from analysis.metrics.study_tables import StudyTables
from analysis.pipeline.aggregate import QUANTILES
from analysis.pipeline.run_units import run_units
from analysis.pipeline.session import SparkStarter
from analysis.pipeline.study_tables import read_study_tables
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.report.freshness import present_summary
from analysis.running.rounds import Retry, RoundSettings
from analysis.study.ledger import read_ledger
from analysis.study.source_digest import model_digest
from analysis.study.study import Study
from analysis.study.study_folder import locked_study_folder
from sim.record.histogram import RELATIVE_ERROR, bucket_bounds
from tests.planned import plan_units
from tests.spark.watching import Remembers
from tests.stub_model import claim_that, run_settings, stub_study

pytestmark = pytest.mark.spark

STUDY = stub_study(
    run=run_settings(measure_ns=1_000_000_000, replications=2),
    points=({"workload.threads": 20}, {"workload.threads": 40}),
)
CLAIMED = stub_study(
    run=run_settings(measure_ns=1_000_000_000, replications=2),
    expect=(claim_that("lock_latency_ms", "in_memory", against="pipelined", below=0.6),),
)
"""A study that is drawn, once."""
STUB = "tests.stub_model:run_unit"


@pytest.fixture(scope="module", name="study_tables")
def tables_of_a_study(
    starter: SparkStarter, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, StudyTables]:
    folder = tmp_path_factory.mktemp("study")
    plan = plan_units(STUDY)
    job = UnitJob(STUDY, str(folder / "units"), STUB)
    (folder / "units").mkdir()
    outcomes = run_units(starter.context(), job, STUDY.points, plan, Remembers())
    assert len(outcomes.done) == 12
    done = read_ledger(folder / "units", plan).done
    return folder, read_study_tables(starter.context(), folder, done)


def test_sums_and_means_are_those_of_the_facts(study_tables: tuple[Path, StudyTables]) -> None:
    folder, tables = study_tables
    unit = tables.units.iloc[5]
    moments = pq.read_table(folder / "units" / unit["unit_hash"] / "moments.parquet").to_pandas()
    kept = moments[(moments["window"] >= 2) & (moments["metric"] == "lock_latency")]
    for name in (unit["variant"], "all"):
        found = of_unit(tables, 5, "lock_latency", name)
        assert found["count"] == kept["count"].sum()
        assert found["mean"] == pytest.approx(kept["sum"].sum() / kept["count"].sum())
        assert found["max"] == kept["max"].max()


def test_quantiles_are_within_the_stated_error(study_tables: tuple[Path, StudyTables]) -> None:
    folder, tables = study_tables
    unit = tables.units.iloc[0]
    facts = pq.read_table(folder / "units" / unit["unit_hash"] / "histogram.parquet").to_pandas()
    kept = facts[(facts["window"] >= 2) & (facts["metric"] == "lock_latency")]
    merged: dict[int, int] = defaultdict(int)
    for bucket, count in zip(kept["bucket"], kept["count"], strict=True):
        merged[bucket] += count
    values = np.repeat(
        [np.prod(bucket_bounds(bucket)) ** 0.5 for bucket in sorted(merged)],
        [merged[bucket] for bucket in sorted(merged)],
    )
    found = of_unit(tables, 0, "lock_latency", "all")
    for name, share in QUANTILES.items():
        exact = np.quantile(values, share, method="inverted_cdf")
        assert found[name] == pytest.approx(exact, rel=RELATIVE_ERROR * 1.001)


def test_counters_are_cut_at_the_warmup(study_tables: tuple[Path, StudyTables]) -> None:
    folder, tables = study_tables
    unit = tables.units.iloc[3]
    facts = pq.read_table(folder / "units" / unit["unit_hash"] / "counter.parquet").to_pandas()
    kept = facts[(facts["window"] >= 2) & (facts["metric"] == "fsyncs")]
    found = of_unit(tables, 3, "fsyncs", "raft")
    assert found["total"] == kept["value"].sum() < facts["value"].sum()


def of_unit(tables: StudyTables, place: int, metric: str, name: str) -> dict[str, float]:
    """Returns a unit's sums by statistic."""
    own = tables.sums.iloc[place].dropna()
    return {
        stat: value
        for (fact, class_, stat), value in zip(own.index, own, strict=True)
        if (fact, class_) == (metric, name)
    }


def test_tails_are_means_of_the_replications_shares(
    study_tables: tuple[Path, StudyTables],
) -> None:
    folder, tables = study_tables
    units = tables.units.query("point_index == 0 and variant == 'in_memory'")
    tail = tables.tails.query("point_index == 0 and variant == 'in_memory'")
    tail = tail[tail["metric"] == "lock_latency"].sort_values("bucket")
    assert tail["share"].is_monotonic_decreasing
    assert tail["above"].iloc[-1] == 0
    middle = tail.iloc[len(tail) // 2]
    shares, above = [], 0
    for unit_hash, cut in zip(units["unit_hash"], units["warmup_windows"], strict=True):
        file = folder / "units" / unit_hash / "histogram.parquet"
        rows = pq.read_table(file).to_pandas().query("metric == 'lock_latency'")
        rows = rows[rows["window"] >= cut]
        beyond = int(rows.loc[rows["bucket"] > middle["bucket"], "count"].sum())
        shares.append(beyond / rows["count"].sum())
        above += beyond
    assert 0 < above == middle["above"]
    assert middle["replications"] == len(units) > 1
    assert middle["share"] == pytest.approx(np.mean(shares))
    assert middle["deviation"] == pytest.approx(np.std(shares, ddof=1))


def test_heat_has_every_lock_request_of_the_whole_run(
    study_tables: tuple[Path, StudyTables],
) -> None:
    folder, tables = study_tables
    units = tables.units.query("point_index == 0 and variant == 'in_memory'")
    heat = tables.heat.query("point_index == 0 and variant == 'in_memory'")
    facts = pd.concat(
        pq.read_table(folder / "units" / unit_hash / "histogram.parquet").to_pandas()
        for unit_hash in units["unit_hash"]
    ).query("metric == 'lock_latency'")
    assert heat["count"].sum() == facts["count"].sum()
    assert heat["column"].min() == 0, "the warm-up is in"
    assert heat["bucket"].max() >= facts["bucket"].max() > heat["bucket"].max() - 16


def test_courses_are_those_of_the_facts(study_tables: tuple[Path, StudyTables]) -> None:
    folder, tables = study_tables
    units = tables.units.query("point_index == 0 and variant == 'in_memory'")
    facts = [
        pq.read_table(folder / "units" / unit_hash / "moments.parquet").to_pandas()
        for unit_hash in units["unit_hash"]
    ]
    of_window = [table.query("metric == 'lock_latency' and window == 3") for table in facts]
    each = [float(rows["sum"].sum() / rows["count"].sum()) for rows in of_window]
    both = pd.concat(of_window)
    mean = at_bin(tables.courses, "lock_latency", "mean", 3)
    assert mean["value"] == pytest.approx(both["sum"].sum() / both["count"].sum())
    assert [mean["low"], mean["high"]] == pytest.approx(sorted(each))
    assert at_bin(tables.courses, "lock_latency", "max", 3)["value"] == both["max"].max()
    tail = at_bin(tables.courses, "lock_latency", "p99", 3)
    assert mean["value"] < tail["value"] <= both["max"].max() * (1 + 2 * RELATIVE_ERROR)
    commits = at_bin(tables.courses, "txns", "mean", 3)
    assert commits["low"] <= commits["value"] <= commits["high"]
    assert commits["bin_s"] == units["window_ns"].iloc[0] / 1e9


def at_bin(courses: pd.DataFrame, metric: str, stat: str, place: int) -> pd.Series[float]:
    """Returns the one row of the in-memory variant at the first point."""
    rows = courses[
        (courses["point_index"] == 0)
        & (courses["variant"] == "in_memory")
        & (courses["metric"] == metric)
        & (courses["stat"] == stat)
        & (courses["bin"] == place)
    ]
    assert len(rows) == 1
    return rows.iloc[0]


def run(
    starter: SparkStarter,
    folder: Path,
    study: Study,
    function: str = STUB,
    retry: Retry = "missing",
) -> int:
    with locked_study_folder(folder):
        job = UnitJob(study, str(folder / "units"), function)
        settings = RoundSettings(folder=folder, job=job, starter=starter, retry=retry)
        return run_study(settings, study, time.perf_counter())


@pytest.fixture(scope="module", name="drawn")
def folder_of_a_drawn_study(
    starter: SparkStarter, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """Returns the folder of a study with all its files, which no test may change, and its words."""
    folder, said = tmp_path_factory.mktemp("drawn"), io.StringIO()
    with redirect_stdout(said):
        assert run(starter, folder, CLAIMED) == ExitStatus.FINE
    return folder, said.getvalue()


def test_a_study_leaves_all_its_files_and_is_then_reused(
    starter: SparkStarter,
    drawn: tuple[Path, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = Path(shutil.copytree(drawn[0], tmp_path / "study"))
    first = json.loads((folder / "summary.json").read_text())
    assert "PASSED" in drawn[1]
    for name in ("manifest.json", "summary.parquet", "plots/over_time.png", "plots/over_time.svg"):
        assert (folder / name).is_file()
    ratio = {
        (row["variant"], row["metric"], row["class"], row["stat"]): row["ratio"]
        for row in first["comparisons"]
    }
    assert ratio["in_memory", "lock_latency_ms", "all", "mean"] == pytest.approx(0.5, rel=1e-5)
    assert ratio["sync", "txn_per_s", "all", "mean"] == 1
    assert first["expectations"][0]["holds"]

    assert run(starter, folder, CLAIMED, "no.such:model") == ExitStatus.FINE
    again = json.loads((folder / "summary.json").read_text())
    assert again | {"cost": first["cost"]} == first
    said = capsys.readouterr().out
    assert "6 units reused" in said
    assert "nothing has changed" in said


def test_results_that_are_lost_or_changed_are_made_again(
    starter: SparkStarter, drawn: tuple[Path, str], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(drawn[0], tmp_path / "study"))
    done = read_ledger(folder / "units", plan_units(CLAIMED)).done
    assert present_summary(folder, CLAIMED, done) is not None
    for name in ("plots/over_time.svg", "summary.json", "manifest.json"):
        file = folder / name
        content = file.read_text()
        file.write_text("{}")
        assert present_summary(folder, CLAIMED, done) is None
        file.unlink()
        assert present_summary(folder, CLAIMED, done) is None
        file.write_text(content)
    (folder / "plots" / "over_time.svg").unlink()
    assert run(starter, folder, CLAIMED) == ExitStatus.FINE
    assert present_summary(folder, CLAIMED, done) is not None


def test_without_plots_the_page_keeps_its_charts_and_phases_have_names(
    starter: SparkStarter,
    drawn: tuple[Path, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = Path(shutil.copytree(drawn[0], tmp_path / "study"))
    (folder / "summary.json").unlink()
    job = UnitJob(CLAIMED, str(folder / "units"), STUB)
    settings = RoundSettings(folder=folder, job=job, starter=starter, plots="none")
    with locked_study_folder(folder):
        assert run_study(settings, CLAIMED, time.perf_counter()) == ExitStatus.FINE
    said = capsys.readouterr().err.splitlines()
    assert said[-2:] == ["summing up 6 units", "writing the page"]
    assert not list((folder / "plots").iterdir())
    page = (folder / "report.html").read_text()
    assert "time-0-" in page
    assert "<img" not in page
    first, again = (
        json.loads((place / "summary.json").read_text()) for place in (drawn[0], folder)
    )
    assert again | {"cost": first["cost"]} == first


@pytest.mark.usefixtures("no_figures")
def test_units_of_another_model_are_run_again(
    starter: SparkStarter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = stub_study(run=run_settings(measure_ns=300_000_000, replications=1))
    before = UnitJob(study, str(tmp_path / "units"), STUB, model="of last week")
    for unit in plan_units(study)[:2]:
        assert run_unit_task(before, Attempt(unit, {})) is None
    assert run(starter, tmp_path, study) == ExitStatus.FINE
    assert "2 units there are damaged or were made by another version" in capsys.readouterr().err
    done = read_ledger(tmp_path / "units", plan_units(study), model_digest()).done
    assert len(done) == 3


@pytest.mark.usefixtures("no_figures")
def test_a_claim_that_does_not_hold_is_status_1(
    starter: SparkStarter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = claim_that("lock_latency_ms", "sync", against="pipelined", below=1.9)
    study = stub_study(run=run_settings(measure_ns=500_000_000, replications=2), expect=(claim,))
    assert run(starter, tmp_path, study) == ExitStatus.CLAIM_FAILED
    said = capsys.readouterr().out
    assert "is not below 1.9: DOES NOT HOLD" in said
    assert "FAILED" in said.splitlines()[-1]


@pytest.mark.usefixtures("no_figures")
def test_a_failing_variant_costs_only_its_units(
    starter: SparkStarter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = stub_study(run=run_settings(measure_ns=500_000_000, replications=2))
    status = run(starter, tmp_path, study, "tests.stub_model:fail_in_memory")
    assert status == ExitStatus.UNITS_FAILED
    said = capsys.readouterr()
    assert "unit failed: in_memory, replication 0" in said.err
    assert "no such disk" in said.err
    assert "Traceback" not in said.err
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["units"] == {"done": 4, "reused": 0, "failed": 2}
    assert run(starter, tmp_path, study) == ExitStatus.UNITS_FAILED, "what failed is left alone"
    assert "--retry failed" in capsys.readouterr().err
    assert run(starter, tmp_path, study, retry="failed") == ExitStatus.FINE
