"""What one Spark task does: run one unit into its folder, or leave a file that says why not.

A unit that raises costs itself, not the job: the other units go on. The
function that runs a unit is named as ``module:function``: the name travels to executors.

An executor that does not see the study's folder simulates into one of its own, whose facts go into
an object store. An empty file in the store says meanwhile that the unit is being simulated; one
that is left behind is an attempt whose process died.
"""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from analysis.pipeline.object_store import ObjectStore
from analysis.pipeline.unit_judgement import judged_unit
from analysis.program import module
from analysis.study.ledger import UnitFailure, write_failure
from analysis.study.parquet_sink import ParquetSink
from analysis.study.study import Study
from analysis.study.unit_folder import (
    TEMPORARY_PREFIX,
    UnitNotWrittenError,
    UnitRecord,
    model_digest,
    write_unit,
)
from analysis.study.units import Point, Unit
from sim.record.facts import FactSink
from sim.unit_result import UnitResult, simulated_ns

MODEL = f"{module('sim.simulation')}:run_unit"


@dataclass(frozen=True, slots=True)
class UnitJob:
    """All that a worker needs to know, for every unit of the study."""

    study: Study
    units_dir: str
    unit_function: str = field(default_factory=lambda: MODEL)
    model: str = field(default_factory=model_digest)
    store: ObjectStore | None = None
    """Where executors put units in place of ``units_dir``, which is the driver's copy then."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at one unit."""

    unit: Unit
    point: Point
    """Settings of the unit's point."""
    before: int = 0
    """How often the unit has been tried in earlier runs."""


def run_unit_task(job: UnitJob, attempt: Attempt) -> UnitFailure | None:
    """Runs one unit, and leaves its folder, or a file that says why there is none.

    Returns:
        Why it failed; None if it is done.

    Raises:
        UnitNotWrittenError: if nothing can be written, which is not the unit's fault.
    """
    units_dir = Path(job.units_dir)
    try:
        write_unit(units_dir, attempt.unit.unit_hash, partial(_simulate, job, attempt))
    except UnitNotWrittenError:
        raise
    except Exception as raised:  # one unit's failure is no other's
        error = " ".join(f"{type(raised).__name__}: {raised}".split())
        failure = unit_failure(job, attempt, error, traceback.format_exc())
        write_failure(units_dir, failure)
        return failure
    return None


@cache
def settle_process() -> None:
    """Sets aside, once in a process that goes on, what is here to stay: modules, study, plan.

    PySpark's daemon searches a worker for reference cycles after every task; through all modules
    the search took three times as long as a tiny unit. Forks share what nobody searches.
    """
    gc.collect()
    gc.freeze()


def unit_failure(
    job: UnitJob, attempt: Attempt, error: str, trace: str = "", attempts: int = 1
) -> UnitFailure:
    """Returns the words for a unit that failed ``attempts`` times in this run."""
    unit = attempt.unit
    return UnitFailure(
        unit_hash=unit.unit_hash,
        variant=unit.variant,
        replication=unit.replication,
        point=dict(attempt.point),
        error=error,
        trace=trace,
        model=job.model,
        attempts=attempt.before + attempts,
    )


def _simulate(
    job: UnitJob, attempt: Attempt, sink: ParquetSink, close: Callable[[], Path]
) -> UnitRecord:
    unit, point = attempt.unit, attempt.point
    scenario = job.study.scenario(point, unit.variant)
    sink.until_ns = simulated_ns(scenario)
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    result = unit_function(job.unit_function)(scenario, unit.replication, sink)
    wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
    judged = judged_unit(close(), scenario, result.simulated_ns)
    return UnitRecord(
        unit_hash=unit.unit_hash,
        variant=unit.variant,
        replication=unit.replication,
        point=dict(point),
        window_ns=scenario.run.window_ns,
        simulated_ns=result.simulated_ns,
        warmup_windows=judged.warmup_windows,
        verdict=str(judged.verdict),
        verdict_reason=judged.reason,
        others_went_on=judged.others_went_on,
        events=result.events,
        transactions=result.transactions,
        violations=list(result.violations),
        wall_s=wall_s,
        cpu_s=cpu_s,
        model=job.model,
    )


def unit_function(name: str) -> Callable[[Any, int, FactSink], UnitResult]:
    """Returns the function named ``module:function``."""
    where, _, attribute = name.partition(":")
    function: Callable[[Any, int, FactSink], UnitResult] = getattr(import_module(where), attribute)
    return function


def run_unit_into_store(
    store: ObjectStore, job: UnitJob, attempt: Attempt, *, again: bool, most_deaths: int
) -> bool:
    """Runs one unit and puts its folder, or the file that says why it failed, into the store.

    Args:
        store: of the study.
        job: the study; its folder is the driver's, and is not touched.
        attempt: which unit.
        again: whether an earlier attempt of this run may have left something.
        most_deaths: so many attempts that died are enough.

    Returns:
        False if its process died too often before.

    Raises:
        UnitNotWrittenError: if the store cannot be read or written.
    """
    name = attempt.unit.unit_hash
    mark = f"units/{TEMPORARY_PREFIX}{name}-{uuid4().hex[:8]}"
    try:
        if again:
            there = store.unit_names()
            if name in there:
                return True
            if sum(each.startswith(f"{TEMPORARY_PREFIX}{name}-") for each in there) >= most_deaths:
                return False
        store.write(mark, b"")
        try:
            _run(store, job, attempt)
        finally:
            with suppress(OSError):
                store.remove(mark)
    except UnitNotWrittenError:
        raise
    except OSError as error:
        raise UnitNotWrittenError(error.errno, error.strerror, error.filename) from error
    return True


def _run(store: ObjectStore, job: UnitJob, attempt: Attempt) -> None:
    with TemporaryDirectory(prefix="pessim-unit-") as own:
        run_unit_task(replace(job, units_dir=own, store=None), attempt)
        for path in Path(own).iterdir():
            if path.is_dir():
                store.write_unit(path)
            else:
                store.write(f"units/{path.name}", path.read_bytes())
