"""Makes the class-data archive with which Spark's JVM starts in half the time.

Done once at set-up: a session writes the archive when its JVM ends, after the same jobs as a
study's, so that their classes are in it. The archive belongs to one Java build and one list of
jars; a JVM that it does not fit says nothing and starts without.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.pipeline import session as spark_session
from analysis.pipeline.study_tables import read_study_tables
from analysis.study.unit_folder import UnitRecord, write_unit
from analysis.study.units import Unit
from sim.record import Recorder
from sim.record.facts import FactSink

if TYPE_CHECKING:
    from pyspark import SparkContext

WINDOW_NS = 100_000_000
ARCHIVE_WAIT_S = 180.0
"""The JVM writes the archive as its last act."""


def write_archive(archive: Path) -> None:
    """Writes the archive, replacing an older one only when the new one is whole."""
    with tempfile.TemporaryDirectory(prefix="pessim-archive-") as scratch:
        folder = Path(scratch)
        fresh = folder / archive.name
        options = f"{spark_session.jvm_options(fresh)} -XX:ArchiveClassesAtExit={fresh}"
        starter = spark_session.SparkStarter("local[2]", options)
        try:
            _use(starter.context(), folder)
        finally:
            spark_session.stop_spark(starter, ARCHIVE_WAIT_S)
        shutil.move(fresh, archive)


def _use(spark: SparkContext, folder: Path) -> None:
    """Does what a study does, on two windows of facts."""
    unit = Unit("archive", 0, "pipelined", 0)
    record = write_unit(folder / "units", unit.unit_hash, _two_windows)
    read_study_tables(spark, folder, {unit: record})


def _two_windows(sink: FactSink, close: Callable[[], Path]) -> UnitRecord:
    recorder = Recorder(WINDOW_NS, sink)
    for window in range(2):
        for value in range(1, 50):
            recorder.series("lock_latency", "pipelined").add(value * 10_000)
            recorder.counter("txns", "new_order").value += value
        recorder.roll((window + 1) * WINDOW_NS)
    recorder.close(2 * WINDOW_NS)
    close()
    return UnitRecord(
        unit_hash="archive",
        variant="pipelined",
        replication=0,
        point={},
        window_ns=WINDOW_NS,
        simulated_ns=2 * WINDOW_NS,
        warmup_windows=0,
        verdict="stable",
        verdict_reason="",
        events=0,
        transactions=0,
        violations=[],
        wall_s=0.0,
        cpu_s=0.0,
        model="",
    )


if __name__ == "__main__":
    try:
        write_archive(spark_session.CLASS_ARCHIVE)
    except (OSError, spark_session.SparkStartError) as error:
        sys.exit(f"no class archive ({error}); Spark starts without it")
