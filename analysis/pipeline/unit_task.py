"""What one Spark task does: run one unit into its folder and say how it went.

A unit that raises becomes a row with its error, not a failed job: the other units go on. The
function that runs a unit is named as ``module:function``, so that the pipeline can be tested
without the model.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

from analysis.pipeline.unit_judgement import judged_unit
from analysis.study.plan import ResolvedStudy, Unit
from analysis.study.source_digest import model_digest
from analysis.study.unit_folder import UnitRecord, write_unit
from sim.record.facts import FactSink

MODEL: Final = "sim.simulation:run_unit"


class UnitResult(Protocol):
    """What the model says of a finished unit."""

    events: int
    transactions: int
    simulated_ns: int
    violations: list[str]


@dataclass(frozen=True, slots=True)
class UnitJob:
    """All that a worker needs to know, for every unit of the study."""

    study: ResolvedStudy
    units_dir: str
    unit_function: str = MODEL
    model: str = field(default_factory=model_digest)


@dataclass(frozen=True, slots=True)
class UnitOutcome:
    """How a unit went; ``error`` is empty when it is done."""

    unit_hash: str
    error: str
    trace: str
    attempt_s: float


def run_unit_task(job: UnitJob, unit: Unit) -> UnitOutcome:
    """Runs one unit, and leaves its folder or an error."""
    begun = time.perf_counter()
    error = trace = ""
    try:
        write_unit(Path(job.units_dir), unit.unit_hash, partial(_simulate, job, unit))
    except Exception as raised:  # one unit's failure is that unit's row
        error, trace = f"{type(raised).__name__}: {raised}", traceback.format_exc()
    return UnitOutcome(unit.unit_hash, error, trace, time.perf_counter() - begun)


def _simulate(job: UnitJob, unit: Unit, sink: FactSink, close: Callable[[], Path]) -> UnitRecord:
    point = job.study.points[unit.point_index]
    scenario = job.study.scenario(point, unit.variant)
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
        events=result.events,
        transactions=result.transactions,
        violations=list(result.violations),
        wall_s=wall_s,
        cpu_s=cpu_s,
        model=job.model,
    )


def unit_function(name: str) -> Callable[[Any, int, FactSink], UnitResult]:
    """Returns the function named ``module:function``."""
    module, _, attribute = name.partition(":")
    function: Callable[[Any, int, FactSink], UnitResult] = getattr(import_module(module), attribute)
    return function
