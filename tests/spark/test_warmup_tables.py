"""What a warm-up was cut from, against the facts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis.pipeline.session import SparkStarter
from analysis.pipeline.study_tables import read_study_tables
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.study.ledger import read_ledger
from analysis.study.plan import Plan
from tests.stub_model import run_settings, stub_study

pytestmark = pytest.mark.spark

STUDY = stub_study(run=run_settings(measure_ns=20_000_000_000, replications=1), variants=["sync"])


def test_each_replication_has_a_hundred_bins_at_most(starter: SparkStarter, tmp_path: Path) -> None:
    plan = Plan(STUDY)
    plan.add([({}, "sync", 0)])
    (unit,) = plan.units
    job = UnitJob(STUDY, str(tmp_path / "units"), "tests.stub_model:run_unit")
    assert run_unit_task(job, Attempt(unit, {})) is None
    done = read_ledger(tmp_path / "units", plan.units).done
    found = read_study_tables(starter.context(), tmp_path, done).warmups.round({"at_s": 6})
    # 202 windows of 100 ms: three a bin, and the last one, which has only one, is left out.
    assert set(found["unit_hash"]) == {unit.unit_hash}
    assert set(found["point_index"]) == {0}
    by_metric = {name: rows.set_index("at_s")["value"] for name, rows in found.groupby("metric")}
    assert {name: len(rows) for name, rows in by_metric.items()} == {"txns": 67, "lock_latency": 67}
    facts = pq.read_table(tmp_path / "units" / unit.unit_hash / "counter.parquet").to_pandas()
    assert by_metric["txns"][0.15] == pytest.approx(in_bin_from(facts, "txns", 0) / 0.3)
    moments = pq.read_table(tmp_path / "units" / unit.unit_hash / "moments.parquet").to_pandas()
    rows = moments[(moments["metric"] == "lock_latency") & moments["window"].between(3, 5)]
    assert by_metric["lock_latency"][0.45] == pytest.approx(
        rows["sum"].sum() / rows["count"].sum() / 1e6
    )


def in_bin_from(facts: pd.DataFrame, metric: str, first: int) -> float:
    rows = facts[(facts["metric"] == metric) & facts["window"].between(first, first + 2)]
    return float(rows["value"].sum())
