"""Numbers of units: the same in any company, and only of the facts that are asked for."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from analysis.metrics.catalogue import MetricKey
from analysis.metrics.unit_metrics import unit_metrics
from analysis.pipeline.session import SparkStarter
from analysis.pipeline.study_tables import parts_of, read_unit_metrics, read_unit_sums
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.study.unit_folder import UnitRecord, read_unit
from analysis.study.units import Unit
from tests.stub_model import run_settings, stub_study

pytestmark = pytest.mark.spark

STUDY = stub_study(run=run_settings(measure_ns=300_000_000))
Found = list[UnitRecord]


@pytest.fixture(scope="module", name="folder")
def folder_of_units(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Found]:
    """Returns a folder with five units, and their records."""
    units_dir = tmp_path_factory.mktemp("units")
    job = UnitJob(STUDY, str(units_dir), "tests.stub_model:run_unit")
    found: Found = []
    for variant, replication in [("sync", 0), ("in_memory", 0), ("sync", 1), ("in_memory", 1)]:
        unit = Unit(STUDY.config_hash({}, variant, replication), 0, variant, replication)
        assert run_unit_task(job, Attempt(unit, {})) is None
        record = read_unit(units_dir / unit.unit_hash)
        assert record is not None
        found.append(record)
    return units_dir, found


def test_sums_do_not_depend_on_how_many_units_are_read_at_once(
    starter: SparkStarter, folder: tuple[Path, Found]
) -> None:
    units_dir, found = folder
    read = [
        read_unit_sums(starter.context(), units_dir, parts_of(found, 1), at_once=at_once)
        for at_once in (1, 3, 400)
    ]
    for other in read[1:]:
        pd.testing.assert_frame_equal(read[0], other, check_exact=True)


def test_what_is_asked_for_is_what_the_whole_study_says(
    starter: SparkStarter, folder: tuple[Path, Found]
) -> None:
    units_dir, found = folder
    keys = [
        MetricKey("lock_latency_ms", "all", "p99"),
        MetricKey("lock_latency_ms", "sync"),
        MetricKey("disk_write_bytes_per_txn", "raft_log"),
        MetricKey("cpu_busy", "store_poller"),
        MetricKey("lock_station_ms", "replicate"),
        MetricKey("tpmc"),
    ]
    told = read_unit_metrics(starter.context(), units_dir, found, keys)
    sums = read_unit_sums(starter.context(), units_dir, parts_of(found, 1))
    seconds = pd.Series([record.measured_s for record in found])
    whole = unit_metrics(sums, seconds).droplevel("unit", axis=1)
    hashes = [record.unit_hash for record in found]
    for row in told.itertuples(index=False):
        name, _, metric, class_, stat, _, value = row
        assert value == whole.loc[hashes.index(name), (metric, class_, stat)]
    assert len(told) == 4 * 5 + 2  # mean latency under sync exists in two of four units


def test_a_counter_that_nobody_counted_is_zero_and_a_latency_is_none(
    starter: SparkStarter, folder: tuple[Path, Found]
) -> None:
    units_dir, found = folder
    keys = [
        MetricKey("locks_total", "sync"),
        MetricKey("region_errors", "not_leader"),
        MetricKey("statement_retries"),
        MetricKey("lock_latency_ms", "fallback"),
    ]
    alone = read_unit_metrics(starter.context(), units_dir, found[1:2], keys)
    assert dict(zip(alone["metric"], alone["value"], strict=True)) == {
        "locks_total": 0,
        "region_errors": 0,
        "statement_retries": 0,
    }
    together = read_unit_metrics(starter.context(), units_dir, found, keys)
    own = together[together["unit_hash"] == found[1].unit_hash]
    assert own["value"].tolist() == alone["value"].tolist()


def test_without_keys_everything_is_told(starter: SparkStarter, folder: tuple[Path, Found]) -> None:
    units_dir, found = folder
    told = read_unit_metrics(starter.context(), units_dir, found[:1])
    assert {"txn_per_s", "lock_latency_ms", "disk_busy"} <= set(told["metric"])
    assert set(told["unit_hash"]) == {found[0].unit_hash}
