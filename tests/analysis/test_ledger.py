"""The ledger is the folder: what its names say, and whose failures count."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.pipeline import unit_task
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.study.ledger import UnitFailure, read_failure, read_ledger, scan, write_failure
from analysis.study.parquet_sink import ParquetSink
from analysis.study.study_folder import StudyFolderError
from analysis.study.unit_folder import UnitRecord, write_unit
from analysis.study.units import AskedUnits, Unit, read_plan, write_plan
from tests.planned import plan_units
from tests.stub_model import run_settings, stub_study

STUDY = stub_study(run=run_settings(measure_ns=300_000_000, replications=2))
UNITS = plan_units(STUDY)
FAILURE = UnitFailure(UNITS[1].unit_hash, "sync", 0, {}, "ValueError: x", "trace", "this", 1)


def run(folder: Path, unit: Unit, function: str = "stub_model:run_unit") -> UnitFailure | None:
    job = UnitJob(STUDY, str(folder), f"tests.{function}", model="this")
    return run_unit_task(job, Attempt(unit, {}))


def test_names_say_what_became_of_units(tmp_path: Path) -> None:
    assert scan(tmp_path / "none").done == set()
    for name in ("a" * 64, ".writing-" + "c" * 64 + "-1f", ".writing-" + "a" * 64 + "-2f", ".x"):
        (tmp_path / name).mkdir()
    for name in ("a" * 64, "b" * 64):
        (tmp_path / f"{name}.failed").touch()
    seen = scan(tmp_path)
    found = [sorted(names) for names in (seen.done, seen.failed, seen.running)]
    assert found == [["a" * 64], ["b" * 64], ["c" * 64]]


def test_a_plan_is_split_three_ways(tmp_path: Path) -> None:
    assert run(tmp_path, UNITS[0]) is None
    write_failure(tmp_path, FAILURE)
    ledger = read_ledger(tmp_path, UNITS[:3], "this")
    assert list(ledger.done) == [UNITS[0]]
    assert ledger.failed == {UNITS[1]: "ValueError: x"}
    assert ledger.missing == [UNITS[2]]
    of_another = read_ledger(tmp_path, UNITS[:3], "another")
    assert (of_another.done, of_another.failed) == ({}, {})
    assert of_another.missing == UNITS[:3]


def test_a_failure_that_cannot_be_read_is_a_missing_unit(tmp_path: Path) -> None:
    for text in ("", "{", "[]", '{"error": "x"}'):
        (tmp_path / f"{UNITS[1].unit_hash}.failed").write_text(text)
        assert read_failure(tmp_path, UNITS[1].unit_hash) is None
        assert read_ledger(tmp_path, UNITS[1:2], "this").missing == UNITS[1:2]


def test_a_unit_that_is_done_has_not_failed(tmp_path: Path) -> None:
    write_failure(tmp_path, FAILURE)
    assert run(tmp_path, UNITS[1]) is None
    assert read_failure(tmp_path, UNITS[1].unit_hash) is None
    assert list(read_ledger(tmp_path, UNITS[1:2], "this").done) == UNITS[1:2]


def test_an_attempt_that_was_overtaken_leaves_the_whole_unit_alone(tmp_path: Path) -> None:
    """The same unit is written twice at once: the second is whole while the first still writes."""
    job = UnitJob(STUDY, str(tmp_path), "tests.stub_model:run_unit", model="this")
    inner = {}

    def overtaken(sink: ParquetSink, close: Callable[[], Path]) -> UnitRecord:
        record = unit_task._simulate(job, Attempt(UNITS[0], {}), sink, close)
        assert run(tmp_path, UNITS[0]) is None
        inner["at"] = (tmp_path / UNITS[0].unit_hash / "unit.json").stat().st_ino
        return record

    write_unit(tmp_path, UNITS[0].unit_hash, overtaken)
    assert (tmp_path / UNITS[0].unit_hash / "unit.json").stat().st_ino == inner["at"]
    assert list(read_ledger(tmp_path, UNITS[:1], "this").done) == UNITS[:1]
    assert [path.name for path in tmp_path.iterdir()] == [UNITS[0].unit_hash]


def test_an_older_models_unit_is_replaced_whole(tmp_path: Path) -> None:
    old = UnitJob(STUDY, str(tmp_path), "tests.stub_model:run_unit", model="of last week")
    run_unit_task(old, Attempt(UNITS[0], {}))
    assert run(tmp_path, UNITS[0]) is None
    assert list(read_ledger(tmp_path, UNITS[:1], "this").done) == UNITS[:1]
    assert [path.name for path in tmp_path.iterdir()] == [UNITS[0].unit_hash]


def test_a_plan_is_read_back(tmp_path: Path) -> None:
    units = [UNITS[0], replace(UNITS[1], point_index=1)]
    write_plan(tmp_path, AskedUnits([{}, {"workload.threads": 20}], units))
    plan = read_plan(tmp_path)
    assert (plan.points, plan.units) == ([{}, {"workload.threads": 20}], units)
    assert plan.words(units[1]) == "sync, workload.threads = 20, replication 0"
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[]", "{}", '{"points": [{}]}', '{"points": [], "units": [["a", 0, "v", 0]]}',
        '{"points": [{}], "units": [["a", 0, "v"]]}', '{"points": [1], "units": []}',
        '{"points": [{}], "units": [["a", "0", "v", 0]]}',
        '{"points": [{}], "units": [["a", -1, "v", 0]]}', "\xff",
    ],
)  # fmt: skip
def test_a_broken_plan_is_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "plan.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(StudyFolderError, match=r"plan\.json: is not a plan .*writes a new one"):
        read_plan(tmp_path)


def test_without_a_plan_it_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(StudyFolderError, match=r"is not a study folder .*No such file"):
        read_plan(tmp_path)


def test_a_failure_is_json_for_whoever_looks(tmp_path: Path) -> None:
    failure = run(tmp_path, UNITS[2], "stub_model:fail_in_memory")
    assert failure is not None
    content = json.loads((tmp_path / f"{UNITS[2].unit_hash}.failed").read_text())
    assert content["error"] == "ValueError: no such disk"
    assert content["variant"] == "in_memory"
    assert "fail_in_memory" in content["trace"]
