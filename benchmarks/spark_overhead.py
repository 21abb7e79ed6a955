"""What Spark adds to the units that it runs, against a process pool and against one core.

``overhead``: 64 units of 2 s of CPU through ``run_units`` on ``local[2]``, over the same unit tasks
in a ``ProcessPoolExecutor(2)``. ``scaling``: a study of 32 such units, aggregation included, on
``local[1]`` over ``local[2]``. Spark's start is told apart. ``recognised``: the whole command for a
finished study of 200 units. A machine's speed changes while others use it, so the two sides take
turns, and the median of the pairs is the figure.

Run it with ``python -m benchmarks.spark_overhead``; ``--unit-ms 250 --pairs 1`` for a short one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final

from analysis.pipeline.run_units import Watch
from analysis.study.plan import Plan
from analysis.study.units import Unit
from benchmarks.ten_thousand import ROOT, SCENARIO, finished_study
from sim.record.facts import FactSink

if TYPE_CHECKING:
    from pyspark import SparkContext

    from sim.simulation import UnitResult

OVERHEAD_UNITS: Final = 64
STUDY_UNITS: Final = 32
FINISHED_UNITS: Final = 200
CPU_PER_SIMULATED: Final = 100
"""CPU time of a unit over its simulated time: 20 ms become 2 s."""

LONGEST_WINDOW_US: Final = 5_000
NS_PER_S: Final = 1_000_000_000


def spin(scenario: Any, replication: int, sink: FactSink) -> UnitResult:
    """Runs the model for a moment, then turns until the unit has used its CPU time."""
    from sim.simulation import run_unit

    begun_s = process_time()
    result = run_unit(scenario, replication, sink)
    until_s = begun_s + scenario.run.measure_ns * CPU_PER_SIMULATED / NS_PER_S
    while process_time() < until_s:
        pass
    return result


class _Work:
    """Some units of a study with one point, in a folder of their own."""

    def __init__(self, folder: Path, units: int, unit_ms: int) -> None:
        from analysis.experiments.experiment import Request
        from analysis.pipeline.unit_task import UnitJob
        from analysis.study.load import load_study
        from analysis.study.plan import Plan

        measure_us = unit_ms * 1000 // CPU_PER_SIMULATED
        window_us = min(measure_us, LONGEST_WINDOW_US)
        settings = [f"run.measure={measure_us}us", f"run.window={window_us}us"]
        study = load_study(SCENARIO, settings)
        self.plan: Plan = Plan(study)
        self.units: list[Unit] = self.plan.add(
            [
                Request(study.points[0], variant, replication)
                for replication in range(units // len(study.variants))
                for variant in study.variants
            ]
        )
        (folder / "units").mkdir(parents=True)
        self.folder = folder
        self.job = UnitJob(study, str(folder / "units"), "benchmarks.spark_overhead:spin")


class _EndsAtFailure(Watch):
    def failed(self, unit: Unit, error: str) -> None:
        """Ends the benchmark."""
        raise SystemExit(f"{unit}: {error}")


def process_pool() -> Executor:
    """Returns a pool of two new processes."""
    return ProcessPoolExecutor(2, get_context("spawn"))


def through_pool_s(pool: Executor, folder: Path, units: int, unit_ms: int) -> float:
    """Returns the seconds of units in a pool."""
    from analysis.pipeline.unit_task import Attempt, run_unit_task

    work = _Work(folder, units, unit_ms)
    attempts = [Attempt(unit, work.plan.points[0]) for unit in work.units]
    begun_s = perf_counter()
    for failed in pool.map(partial(run_unit_task, work.job), attempts):
        if failed:
            raise SystemExit(failed.error)
    return perf_counter() - begun_s


def through_spark_s(spark: SparkContext, folder: Path, units: int, unit_ms: int) -> float:
    """Returns the seconds of units through a session that is there."""
    return _through_spark_s(spark, _Work(folder, units, unit_ms))


def _through_spark_s(spark: SparkContext, work: _Work) -> float:
    from analysis.pipeline.run_units import run_units

    begun_s = perf_counter()
    run_units(spark, work.job, work.plan.points, work.units, _EndsAtFailure())
    return perf_counter() - begun_s


def spark_s(folder: Path, units: int, unit_ms: int, master: str) -> dict[str, float]:
    """Returns the seconds of Spark's start, of units through Spark, and of making the summary."""
    from analysis.pipeline.session import SparkStarter, stop_spark
    from analysis.pipeline.study_tables import read_study_tables
    from analysis.report.summary import study_summary, write_summary
    from analysis.study.finished_study import FinishedStudy
    from analysis.study.ledger import read_ledger

    work = _Work(folder, units, unit_ms)
    starter = SparkStarter(master)
    try:
        spark = starter.context()
        units_s = _through_spark_s(spark, work)
        begun_s = perf_counter()
        done = read_ledger(folder / "units", work.units).done
        tables = read_study_tables(spark, folder, done)
        run = FinishedStudy(
            study=work.job.study, name="spin", folder=folder, plan=work.plan, done=done
        )
        write_summary(folder, study_summary(run, tables))
        report_s = perf_counter() - begun_s
    finally:
        stop_spark(starter)
    return {"start_s": starter.start_s, "units_s": units_s, "report_s": report_s}


def _apart(what: str, units: int, unit_ms: int) -> dict[str, float]:
    """Takes a measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.spark_overhead", "--one", what]
    command += ["--units", str(units), "--unit-ms", str(unit_ms)]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(said.splitlines()[-1])
    return found


def _one(what: str, units: int, unit_ms: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="pessim-bench-") as scratch:
        folder = Path(scratch) / "study"
        if what == "pool":
            with process_pool() as pool:
                through_pool_s(pool, Path(scratch) / "first", 2, unit_ms)
                return {"units_s": through_pool_s(pool, folder, units, unit_ms)}
        return spark_s(folder, units, unit_ms, what)


def overhead(pairs: int, unit_ms: int) -> dict[str, Any]:
    """Returns what Spark adds to a pool's time, as a share; also with its start counted."""
    without, whole = [], []
    for _ in range(pairs):
        pool = _apart("pool", OVERHEAD_UNITS, unit_ms)["units_s"]
        spark = _apart("local[2]", OVERHEAD_UNITS, unit_ms)
        without.append(spark["units_s"] / pool - 1)
        whole.append((spark["units_s"] + spark["start_s"]) / pool - 1)
    return {
        "overhead": round(median(without), 3),
        "overhead_with_start": round(median(whole), 3),
        "overhead_pairs": [round(share, 3) for share in without],
    }


def scaling(pairs: int, unit_ms: int) -> dict[str, Any]:
    """Returns how much sooner two cores end a study, Spark's start not counted."""
    units_only, studies = [], []
    for _ in range(pairs):
        one = _apart("local[1]", STUDY_UNITS, unit_ms)
        two = _apart("local[2]", STUDY_UNITS, unit_ms)
        units_only.append(one["units_s"] / two["units_s"])
        studies.append((one["units_s"] + one["report_s"]) / (two["units_s"] + two["report_s"]))
    return {
        "scaling": round(median(studies), 2),
        "scaling_units_only": round(median(units_only), 2),
        "scaling_pairs": [round(ratio, 2) for ratio in studies],
    }


def recognised() -> dict[str, Any]:
    """Returns the seconds of the whole command for a study that is finished."""
    with tempfile.TemporaryDirectory(prefix="pessim-bench-") as scratch:
        found = finished_study(Path(scratch) / "study", FINISHED_UNITS, "5ms", "local[2]")
    return {"recognised_s": found["again_s"], "recognised_units": found["done"]}


def main() -> None:
    """Prints the figures as JSON."""
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--unit-ms", type=int, default=2000)
    parser.add_argument("--units", type=int, default=OVERHEAD_UNITS)
    parser.add_argument("--one")
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(_one(asked.one, asked.units, asked.unit_ms)))
        return
    found = overhead(asked.pairs, asked.unit_ms) | scaling(asked.pairs, asked.unit_ms)
    print(json.dumps(found | recognised(), indent=1))


if __name__ == "__main__":
    main()
