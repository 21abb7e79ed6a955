"""A unit's folder: whole or absent, and believed only if it agrees with its digests."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.study.ledger import read_failure, read_ledger
from analysis.study.parquet_sink import PROGRESS_FILE, ParquetSink
from analysis.study.study_folder import (
    StudyFolderError,
    lock_holder,
    locked_study_folder,
    write_text_whole,
)
from analysis.study.unit_folder import (
    UnitNotWrittenError,
    UnitRecord,
    check_room,
    read_unit,
    write_unit,
)
from analysis.study.units import Unit
from sim.record import Recorder
from sim.record.facts import TABLES, FactSink, MemorySink
from tests.planned import plan_units
from tests.stub_model import run_settings, stub_study

STUDY = stub_study(run=run_settings(measure_ns=500_000_000))
STUB = "tests.stub_model:run_unit"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(name="unit")
def finished_unit(tmp_path: Path) -> tuple[Unit, Path]:
    unit = plan_units(STUDY)[0]
    assert run_unit_task(UnitJob(STUDY, str(tmp_path), STUB), Attempt(unit, {})) is None
    return unit, tmp_path / unit.unit_hash


def test_a_finished_unit_is_read_back(unit: tuple[Unit, Path]) -> None:
    record = read_unit(unit[1])
    assert record is not None
    assert (record.variant, record.replication) == ("pipelined", 0)
    assert record.warmup_windows == 2
    assert set(record.digests) == set(TABLES)
    for table, columns in TABLES.items():
        assert pq.read_table(unit[1] / f"{table}.parquet").column_names == list(columns)


def test_running_again_gives_the_same_bytes(unit: tuple[Unit, Path], tmp_path: Path) -> None:
    again = tmp_path / "again"
    run_unit_task(UnitJob(STUDY, str(again), STUB), Attempt(unit[0], {}))
    first, second = read_unit(unit[1]), read_unit(again / unit[0].unit_hash)
    assert first is not None
    assert second is not None
    assert first.digests == second.digests


def test_a_unit_says_how_far_it_is_once_a_second_until_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock_s = 100.0
    monkeypatch.setattr("analysis.study.parquet_sink.time.perf_counter", lambda: clock_s)
    told = []
    with ParquetSink(tmp_path) as sink:
        sink.until_ns = 5_000
        for clock_s in (100.1, 100.9, 101.1, 101.9, 102.2):
            sink.reached(int(clock_s * 10))
            told.append((tmp_path / PROGRESS_FILE).read_text())
    assert told == ["", "", "1011 5000", "1011 5000", "1022 5000"]
    assert not (tmp_path / PROGRESS_FILE).exists()


def test_a_model_tells_its_sink_the_time_at_the_end_of_each_window() -> None:
    class Clock(MemorySink):
        def __init__(self) -> None:
            super().__init__()
            self.reached_ns: list[int] = []

        def reached(self, now_ns: int) -> None:
            self.reached_ns.append(now_ns)

    recorder = Recorder(10, clock := Clock())
    recorder.roll(10)
    recorder.roll(20)
    recorder.close(25)
    assert clock.reached_ns == [10, 20, 25]


@pytest.mark.parametrize("damage", ["flip", "cut", "remove", "no record", "not json", "old keys"])
def test_a_damaged_unit_is_missing(unit: tuple[Unit, Path], damage: str) -> None:
    folder = unit[1]
    facts, record = folder / "histogram.parquet", folder / "unit.json"
    content = facts.read_bytes()
    match damage:
        case "flip":
            middle = len(content) // 2
            flipped = bytes([content[middle] ^ 1])
            facts.write_bytes(content[:middle] + flipped + content[middle + 1 :])
        case "cut":
            facts.write_bytes(content[:-10])
        case "remove":
            facts.unlink()
        case "no record":
            record.unlink()
        case "not json":
            record.write_text("{")
        case _:
            record.write_text(json.dumps({"unit_hash": "x"}))
    assert read_unit(folder) is None
    ledger = read_ledger(folder.parent, [unit[0]])
    assert ledger.missing == [unit[0]]


def test_a_damaged_unit_is_replaced(unit: tuple[Unit, Path]) -> None:
    (unit[1] / "unit.json").unlink()
    job = UnitJob(STUDY, str(unit[1].parent), STUB)
    assert run_unit_task(job, Attempt(unit[0], {})) is None
    assert read_unit(unit[1]) is not None


def test_a_failing_unit_leaves_nothing_but_why(tmp_path: Path) -> None:
    unit = next(unit for unit in plan_units(STUDY) if unit.variant == "in_memory")
    job = UnitJob(STUDY, str(tmp_path), "tests.stub_model:fail_in_memory")
    failure = run_unit_task(job, Attempt(unit, {}))
    assert failure is not None
    assert failure.error == "ValueError: no such disk"
    assert "fail_in_memory" in failure.trace
    assert read_failure(tmp_path, unit.unit_hash) == failure
    assert [path.name for path in tmp_path.iterdir()] == [f"{unit.unit_hash}.failed"]


@contextmanager
def small_files(limit: int) -> Iterator[None]:
    """Lets no file of this process grow beyond a limit, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_cannot_be_written_is_not_the_units_fault(tmp_path: Path) -> None:
    unit, job = plan_units(STUDY)[0], UnitJob(STUDY, str(tmp_path), STUB)
    with small_files(500), pytest.raises(UnitNotWrittenError, match="File too large"):
        run_unit_task(job, Attempt(unit, {}))
    assert list(tmp_path.iterdir()) == []
    failing = UnitJob(STUDY, str(tmp_path), "tests.stub_model:fail_in_memory")
    with small_files(0), pytest.raises(UnitNotWrittenError):
        run_unit_task(failing, Attempt(plan_units(STUDY)[2], {}))
    with small_files(500), pytest.raises(UnitNotWrittenError, match="File too large"):
        check_room(tmp_path)
    check_room(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_cleaned_away_is_not_the_units_fault(tmp_path: Path) -> None:
    def cleaned(_sink: FactSink, close: Callable[[], Path]) -> UnitRecord:
        shutil.rmtree(close())
        raise FileNotFoundError("moments.parquet")

    with pytest.raises(UnitNotWrittenError):
        write_unit(tmp_path, "abc", cleaned)


def test_an_interrupted_unit_leaves_nothing(tmp_path: Path) -> None:
    def interrupted(_sink: FactSink, _close: Callable[[], Path]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_unit(tmp_path, "abc", interrupted)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    leftover = tmp_path / "units" / ".writing-abc-123"
    leftover.mkdir(parents=True)
    (leftover / "moments.parquet").write_bytes(b"half")
    with locked_study_folder(tmp_path):
        assert not leftover.exists()


def test_a_folder_has_one_run_at_a_time(tmp_path: Path) -> None:
    assert lock_holder(tmp_path) is None
    me = rf"another run is writing here \(pid {os.getpid()} on .+, since 2.+ UTC\); wait for it"
    with locked_study_folder(tmp_path):
        holder = lock_holder(tmp_path)
        assert holder is not None
        assert holder.pid == os.getpid()
        with pytest.raises(StudyFolderError, match=me), locked_study_folder(tmp_path):
            pass
    assert lock_holder(tmp_path) is None
    with locked_study_folder(tmp_path):
        pass


@pytest.mark.parametrize("text", ["", "{", '{"pid": 1}', "[]"])
def test_a_holder_that_says_nothing_holds_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr("analysis.study.study_folder._BETWEEN_TRIES_S", 0.0)
    with locked_study_folder(tmp_path):
        (tmp_path / ".lock").write_text(text)
        assert lock_holder(tmp_path) is not None
        with pytest.raises(StudyFolderError, match="another run"), locked_study_folder(tmp_path):
            pass


HOLD = """
import sys
from pathlib import Path
from analysis.study.study_folder import locked_study_folder
with locked_study_folder(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        holder = lock_holder(tmp_path)
        assert holder is not None
        assert holder.pid == process.pid
        process.kill()
    assert str(process.pid) in (tmp_path / ".lock").read_text(), "its file is still there"
    assert lock_holder(tmp_path) is None
    with locked_study_folder(tmp_path):
        mine = lock_holder(tmp_path)
        assert mine is not None
        assert mine.pid == os.getpid()


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with (
        pytest.raises(StudyFolderError, match=r"results/x: cannot be written \(Not a directory\)"),
        locked_study_folder(tmp_path / "results" / "x"),
    ):
        pass


def test_a_study_is_not_put_inside_another(tmp_path: Path) -> None:
    study = tmp_path / "study"
    with locked_study_folder(study):
        write_text_whole(study / "scenario.yaml", "")
    for inside in (study / "other", study / "units" / "other"):
        message = f"other: is inside a study, {study}; choose another folder"
        with pytest.raises(StudyFolderError, match=message), locked_study_folder(inside):
            pass
        assert not inside.exists()
    before = tmp_path / "before"
    with locked_study_folder(before / "inner"):
        write_text_whole(before / "inner" / "scenario.yaml", "")
    (before / "units").mkdir()
    write_text_whole(before / "scenario.yaml", "")
    for own in (study, before / "inner"):
        with locked_study_folder(own):
            pass


def test_a_text_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "summary.json"
    for text in ("one", "two"):
        write_text_whole(target, text)
        assert target.read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]


def test_a_disk_that_is_full_while_a_file_is_written_is_named(tmp_path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "one"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left") as failed:
        write_text_whole(tmp_path / "summary.json", pieces())
    assert failed.value.filename == str(tmp_path / "summary.json")
    assert not list(tmp_path.iterdir())
    shutil.rmtree(tmp_path)
