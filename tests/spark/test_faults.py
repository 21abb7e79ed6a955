"""Units that fail, die or cannot be written: what that costs, and what it does not."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from analysis.pipeline.run_units import run_units
from analysis.pipeline.session import SparkStarter
from analysis.study.ledger import read_failure, read_ledger, scan
from tests.spark.watching import Remembers, facts_of, job_in, small_study

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_a_unit_that_raises_costs_itself_and_is_told_at_once(
    starter: SparkStarter, tmp_path: Path
) -> None:
    job, units = job_in(tmp_path, small_study(), "faulty_units:fail_then_dawdle")
    watch = Remembers()
    outcomes = run_units(starter.context(), job, [{}], units, watch)
    assert [len(outcomes.done), len(outcomes.failed), len(outcomes.missing)] == [4, 2, 0]
    assert [error for _, error, _ in watch.failures] == ["ValueError: no such disk"] * 2
    assert watch.failures[0][2] < len(units) - 1, "others were still running"
    failure = read_failure(tmp_path / "units", units[0].unit_hash)
    assert failure is not None
    assert "fail_then_dawdle" in failure.trace
    ledger = read_ledger(tmp_path / "units", units, job.model)
    assert list(ledger.failed) == [unit for unit in units if unit.variant == "pipelined"]
    assert read_ledger(tmp_path / "units", units, "another").missing == units
    run_units(starter.context(), job, [{}], units[:1], Remembers())
    again = read_failure(tmp_path / "units", units[0].unit_hash)
    assert again is not None
    assert again.attempts == 2, "those of earlier runs count"


def test_after_a_failure_the_rest_can_be_left(starter: SparkStarter, tmp_path: Path) -> None:
    job, units = job_in(tmp_path, small_study(replications=4), "faulty_units:fail_then_dawdle")
    outcomes = run_units(starter.context(), job, [{}], units, Remembers(stop_at=1))
    assert outcomes.failed
    assert len(outcomes.missing) >= 6, "at most two seconds' worth were done"
    assert scan(tmp_path / "units").running == set()


def test_a_worker_that_dies_is_replaced(starter: SparkStarter, tmp_path: Path) -> None:
    marker = tmp_path / "died-once"
    job, units = job_in(tmp_path, small_study(str(marker)), "faulty_units:kill_worker_once")
    outcomes = run_units(starter.context(), job, [{}], units, Remembers())
    assert marker.exists()
    assert list(outcomes.done) == units
    assert set(facts_of(tmp_path / "units")) == {unit.unit_hash for unit in units}


def test_a_unit_whose_worker_always_dies_takes_nobody_along(
    starter: SparkStarter, tmp_path: Path
) -> None:
    study = small_study(replications=1)
    job, units = job_in(tmp_path, study, "faulty_units:kill_worker_in_memory")
    watch = Remembers()
    outcomes = run_units(starter.context(), job, [{}], units, watch)
    assert list(outcomes.done) == units[:2]
    assert list(outcomes.failed) == units[2:]
    said = "its Python process ended unexpectedly 4 times, the last time alone"
    assert [error.startswith(said) for _, error, _ in watch.failures] == [True]
    assert scan(tmp_path / "units").running == set()


def test_a_unit_that_died_is_tried_without_neighbours(
    starter: SparkStarter, tmp_path: Path
) -> None:
    study = small_study(str(tmp_path / "units"), replications=1)
    job, units = job_in(tmp_path, study, "faulty_units:kill_worker_with_neighbours")
    first = [units[2], units[0], units[1]]
    watch = Remembers()
    outcomes = run_units(starter.context(), job, [{}], first, watch)
    assert list(outcomes.done) == first
    assert watch.failures == []
    assert len(facts_of(tmp_path / "units")) == 3


def test_a_full_disk_ends_the_run_and_no_unit_is_blamed(
    starter: SparkStarter, tmp_path: Path
) -> None:
    job, units = job_in(tmp_path, small_study(replications=3), "faulty_units:fill_the_disk")
    watch = Remembers()
    with pytest.raises(OSError, match="No space left on device") as caught:
        run_units(starter.context(), job, [{}], units, watch)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == job.units_dir
    assert watch.failures == []
    ledger = read_ledger(tmp_path / "units", units, job.model)
    assert list(ledger.done) == units[:6]
    assert ledger.missing == units[6:]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_ends_the_run(starter: SparkStarter, tmp_path: Path) -> None:
    job, units = job_in(tmp_path, small_study(replications=1), "stub_model:run_unit")
    Path(job.units_dir).chmod(0o500)
    with pytest.raises(PermissionError, match="Permission denied"):
        run_units(starter.context(), job, [{}], units, Remembers())


def test_a_folder_that_goes_away_ends_the_run(starter: SparkStarter, tmp_path: Path) -> None:
    job, units = job_in(tmp_path, small_study(replications=1), "stub_model:run_unit")
    Path(job.units_dir).rmdir()
    tmp_path.joinpath("units").write_text("in the way")
    with pytest.raises(OSError, match="Not a directory"):
        run_units(starter.context(), job, [{}], units, Remembers())


def test_spark_that_hangs_up_on_us_prints_no_traceback(
    starter: SparkStarter, capfd: pytest.CaptureFixture[str]
) -> None:
    server = starter.context()._accumulatorServer
    with socket.socket() as closed:
        server.handle_error(closed, None)
    assert capfd.readouterr() == ("", "")
