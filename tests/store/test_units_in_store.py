"""Units of executors that see no folder of the driver's: what they leave, and what is copied."""

from __future__ import annotations

from pathlib import Path

import pytest
from pandas.testing import assert_frame_equal
from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

from analysis.pipeline.object_store import ObjectStore
from analysis.pipeline.session import SparkStarter, stop_spark
from analysis.pipeline.store_copy import StoreCopy, copied_study_folder
from analysis.pipeline.study_tables import read_unit_metrics
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_into_store, run_unit_task
from analysis.study.ledger import read_failure, read_ledger, scan
from analysis.study.unit_folder import UnitNotWrittenError
from tests.planned import plan_units
from tests.store.s3_server import BUCKET, address, free_port
from tests.stub_model import run_settings, stub_study

STUDY = stub_study(run=run_settings(measure_ns=300_000_000, replications=1))
UNITS = plan_units(STUDY)


def into(
    store: ObjectStore, unit: int, function: str = "run_unit", *, again: bool = False, most: int = 3
) -> bool:
    job = UnitJob(STUDY, "/not/of/this/machine", f"tests.stub_model:{function}", store=store)
    attempt = Attempt(UNITS[unit], {})
    return run_unit_into_store(store, job, attempt, again=again, most_deaths=most)


def test_what_executors_put_is_copied_whole(s3_port: int, tmp_path: Path) -> None:
    store = ObjectStore.at(address("copied", s3_port))
    (tmp_path / "units").mkdir()
    copy = StoreCopy(store, tmp_path / "units")
    assert into(store, 0)
    copy.pull()
    ledger = read_ledger(tmp_path / "units", UNITS)
    assert list(ledger.done) == UNITS[:1], "its digests agree"
    assert into(store, 1)
    copy.pull()
    assert len(scan(tmp_path / "units").done) == 1, "a store is not asked all the time"
    copy.pull(now=True)
    assert len(scan(tmp_path / "units").done) == 2
    assert not list((tmp_path / "units").glob(".*"))


def test_a_failure_is_copied_with_its_reason(s3_port: int, tmp_path: Path) -> None:
    store, units_dir = ObjectStore.at(address("failed", s3_port)), tmp_path / "units"
    units_dir.mkdir()
    failing = next(at for at, unit in enumerate(UNITS) if unit.variant == "in_memory")
    assert into(store, failing, "fail_in_memory")
    StoreCopy(store, units_dir).pull()
    failure = read_failure(units_dir, UNITS[failing].unit_hash)
    assert failure is not None
    assert "no such disk" in failure.error


def test_attempts_that_died_are_seen_counted_and_forgotten(s3_port: int, tmp_path: Path) -> None:
    store, units_dir = ObjectStore.at(address("died", s3_port)), tmp_path / "units"
    units_dir.mkdir()
    name, copy = UNITS[0].unit_hash, StoreCopy(store, units_dir)
    for number in range(3):
        store.write(f"units/.writing-{name}-{number}", b"")
    copy.pull(now=True)
    assert scan(units_dir).running == {name}
    assert not into(store, 0, again=True)
    assert into(store, 1, again=True), "another unit"
    copy.forget([name])
    assert scan(units_dir).running == set()
    assert into(store, 0, again=True)
    assert into(store, 0, "no_such_function", again=True), "it is there already"


def test_results_and_units_go_back(s3_port: int, tmp_path: Path) -> None:
    store = ObjectStore.at(address("back", s3_port))
    with copied_study_folder(tmp_path / "here", store) as folder:
        (folder / "plots").mkdir()
        (folder / "plots" / "a.svg").write_text("<svg/>")
        (folder / "report.html").write_text("done")
        (folder / "units" / "ef56.failed").write_text("{}")
        assert into(store, 0)
    assert store.read("report.html") == b"done"
    assert store.read("plots/a.svg") == b"<svg/>"
    assert store.unit_names() == {"ef56.failed", UNITS[0].unit_hash}
    with pytest.raises(FileNotFoundError):
        store.read(".lock")
    with copied_study_folder(tmp_path / "there", store) as folder:
        assert scan(folder / "units").done == {UNITS[0].unit_hash}


def test_facts_that_only_the_driver_has_are_read_by_it(tmp_path: Path) -> None:
    """As with executors elsewhere: no Spark is asked, and the numbers are the same."""
    starter = SparkStarter("spark://nowhere:7077", shares_folder=False)
    assert starter.readers() is None
    job = UnitJob(STUDY, str(tmp_path), "tests.stub_model:run_unit")
    for unit in UNITS:
        assert run_unit_task(job, Attempt(unit, {})) is None
    done = read_ledger(tmp_path, UNITS).done
    records = list(done.values())
    read = read_unit_metrics(starter.readers(), tmp_path, records)
    assert set(read["unit_hash"]) == {unit.unit_hash for unit in UNITS}
    assert_frame_equal(read, read_unit_metrics(None, tmp_path, records))
    stop_spark(starter)


def test_a_store_that_goes_away_is_not_the_units_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    impatient = S3FileSystem(
        endpoint_override=f"127.0.0.1:{port}",
        scheme="http",
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=1),
    )
    monkeypatch.setattr("analysis.pipeline.object_store._opened", lambda _: (impatient, "bucket/x"))
    gone = ObjectStore(address("x", port))
    with pytest.raises(UnitNotWrittenError) as caught:
        into(gone, 0)
    assert (caught.value.filename, BUCKET in str(caught.value)) == ("s3://bucket/x", True)
    assert "its server cannot be reached" in str(caught.value)
