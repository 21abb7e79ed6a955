"""Units through Spark: their sums against a plain oracle, and what happens when a unit does not."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis.metrics.catalogue import QUANTILES
from analysis.metrics.study_tables import StudyTables
from analysis.pipeline.run_units import run_units
from analysis.pipeline.session import SparkStarter
from analysis.pipeline.study_tables import read_study_tables
from analysis.pipeline.unit_task import UnitJob
from analysis.study.ledger import read_ledger
from sim.record.histogram import RELATIVE_ERROR, bucket_bounds
from tests.planned import plan_units
from tests.spark.watching import Remembers
from tests.stub_model import run_settings, stub_study

pytestmark = pytest.mark.spark

STUDY = stub_study(
    run=run_settings(measure_ns=1_000_000_000, replications=2),
    points=({"workload.threads": 20}, {"workload.threads": 40}),
)
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
