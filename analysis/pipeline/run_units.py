"""Units over the cluster with ``mapInArrow``: one unit is one task.

Ids are a Spark range with as many partitions as units, so a lost executor costs only the units it
was running. The job runs in a thread; the caller's thread watches, which keeps Ctrl-C quick.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from analysis.pipeline.session import LOCAL_ATTEMPTS
from analysis.pipeline.unit_task import UnitJob, UnitOutcome, run_unit_task
from analysis.study.plan import Unit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOB_GROUP: Final = "pessim-units"
POLL_S: Final = 0.25
OUTCOME_SCHEMA: Final = "unit_hash string, error string, trace string, attempt_s double"
_ARROW_OUTCOME: Final = pa.schema(
    [
        ("unit_hash", pa.string()),
        ("error", pa.string()),
        ("trace", pa.string()),
        ("attempt_s", pa.float64()),
    ]
)


def run_units(
    spark: SparkSession,
    job: UnitJob,
    units: Sequence[Unit],
    on_progress: Callable[[int], None],
) -> list[UnitOutcome]:
    """Runs every unit and returns how each went; a unit whose worker kept dying has an error too.

    Args:
        spark: the session.
        job: the study and where units go.
        units: what is to be run, in order.
        on_progress: called every quarter of a second with the number of units finished.
    """
    outcomes: dict[str, UnitOutcome] = {}
    failure: list[str] = []

    def collect() -> None:
        try:
            outcomes.update(_collect_outcomes(spark, job, units))
        except Exception as error:  # told per unit below
            failure.append(why_job_failed(str(error)))

    thread = threading.Thread(target=collect, name="spark-units", daemon=True)
    thread.start()
    units_dir = Path(job.units_dir)
    while thread.is_alive():
        thread.join(POLL_S)
        on_progress(sum((units_dir / unit.unit_hash).exists() for unit in units))
    return [outcomes.get(unit.unit_hash) or _lost(unit, units_dir, failure) for unit in units]


def why_job_failed(text: str) -> str:
    """Returns what a user can use of Spark's words: the cause, not where it was noticed."""
    if "Python worker exited unexpectedly" in text:
        return (
            f"its Python process ended unexpectedly {LOCAL_ATTEMPTS} times, as when the machine "
            "runs out of memory"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return (causes or lines or ["no reason given"])[-1 if causes else 0]


def _lost(unit: Unit, units_dir: Path, failure: Sequence[str]) -> UnitOutcome:
    """A unit without a row: done before the job broke, or gone with its worker."""
    done = (units_dir / unit.unit_hash).exists()
    error = "" if done else f"worker lost: {failure[0] if failure else 'no reason given'}"
    return UnitOutcome(unit.unit_hash, error, "", 0.0)


def _collect_outcomes(
    spark: SparkSession, job: UnitJob, units: Sequence[Unit]
) -> dict[str, UnitOutcome]:
    spark.sparkContext.setJobGroup(JOB_GROUP, "units", interruptOnCancel=True)
    planned = spark.sparkContext.broadcast((job, list(units)))

    def run_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        known_job, known_units = planned.value
        for batch in batches:
            for index in batch.column("id").to_pylist():
                outcome = run_unit_task(known_job, known_units[index])
                yield pa.RecordBatch.from_pylist([asdict(outcome)], schema=_ARROW_OUTCOME)

    ids = spark.range(0, len(units), 1, numPartitions=len(units))
    rows = ids.mapInArrow(run_batches, OUTCOME_SCHEMA).collect()
    return {row["unit_hash"]: UnitOutcome(**row.asDict()) for row in rows}
