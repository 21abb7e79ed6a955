"""How often the 95 % intervals of a study contain the truth, on queues whose truth is known.

So many studies of ten replications each go the whole way as points of one study: tasks on Spark,
facts in Parquet, the warm-up found in each replication, sums by executors, t intervals. Nothing is
told to the pipeline that a user's study would not tell it.

A share of 400 studies has a standard error of 1.1 points itself: an honest 95 % interval is seen
between 92.9 and 97.1 % in nineteen of twenty lines.

Run it with ``python -m benchmarks.coverage [STUDIES]``.

Source of the truths: Kleinrock, Queueing Systems I, 3.2 (M/M/1), 3.5 (M/M/c); Gross et al.,
Fundamentals of Queueing Theory, 4th ed., 2.3.2 (time in an M/M/c system).
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml
from scipy.optimize import brentq

from analysis.metrics.catalogue import QUANTILES
from analysis.pipeline.run_units import Watch, run_units
from analysis.pipeline.session import SparkStarter, stop_spark
from analysis.pipeline.study_tables import read_study_tables
from analysis.pipeline.unit_task import UnitJob
from analysis.report.summary import study_summary
from analysis.study.finished_study import FinishedStudy
from analysis.study.ledger import read_ledger
from analysis.study.load import load_study
from analysis.study.plan import Plan
from analysis.study.study import Study
from benchmarks.queue_units import SERVICE_NS
from sim.record.histogram import RELATIVE_ERROR
from sim.units import NS_PER_S

STUDIES: Final = 400
REPLICATIONS: Final = 10
QUEUES: Final = {"mm1_50": (1, 0.5), "mm1_80": (1, 0.8), "mm4_80": (4, 0.8)}
"""M/M/1 and M/M/4 at 50 % and 80 %: servers and load."""
TAILS: Final = {"p50": 0.5, "p90": 0.1, "p95": 0.05, "p99": 0.01, "p999": 0.001}

Truth = dict[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Line:
    """What was found of one number."""

    queue: str
    metric: str
    stat: str
    truth: float
    """In ms."""
    refused: float
    """Share of the studies in which latencies were refused; the rest is about the others."""
    covered: float
    """Share of the studies whose interval contains the truth."""
    covered_bare: float
    """The same without what is added for the histogram's error."""
    half_width: float
    """Mean half width over the truth."""
    bias: float
    """Mean of the studies over the truth, less 1."""


def truths(servers: int, load: float) -> Truth:
    """Returns by metric and stat what is known of a queue, in ms."""
    free = (1 - load) * 1.0  # served less arriving, per ms
    waits = _erlang_c(servers, load)
    mean = servers + waits / free
    found = {("lock_latency_ms", "mean"): mean}
    above = partial(_stays_longer, servers=servers, load=load)
    for stat, share in TAILS.items():
        found["lock_latency_ms", stat] = float(
            brentq(lambda at, share=share: above(at) - share, 0.0, 1000.0 * mean)
        )
    if servers > 1:
        found["lock_wait_ms", "mean"] = waits / free
        for stat, share in TAILS.items():
            found["lock_wait_ms", stat] = math.log(waits / share) / free if waits > share else 0.0
    return found


def _erlang_c(servers: int, load: float) -> float:
    """Returns the share of customers that have to wait."""
    offered = servers * load
    last = offered**servers / math.factorial(servers) / (1 - load)
    return last / (sum(offered**n / math.factorial(n) for n in range(servers)) + last)


def _stays_longer(at_ms: float, servers: int, load: float) -> float:
    """Returns the share of customers that are in the system for longer than ``at_ms``."""
    service, waits = 1 / servers, _erlang_c(servers, load)
    spare = servers - 1 - servers * load
    if servers == 1:
        return math.exp(-(1 - load) * at_ms)
    queued = waits * (1 - math.exp(-service * at_ms * spare)) / spare
    return math.exp(-service * at_ms) * (1 + queued)


def measure(studies: int = STUDIES) -> list[Line]:
    """Returns what was found of each number of each queue."""
    rows = summarised(studies)
    found = []
    for queue, (servers, load) in QUEUES.items():
        for (metric, stat), truth in truths(servers, load).items():
            mine = [
                row for row in rows
                if (row["variant"], row["metric"], row["stat"]) == (queue, metric, stat)
                and row["class"] == "all"
            ]  # fmt: skip
            found.append(_line(queue, metric, stat, truth, mine))
    return found


def _line(queue: str, metric: str, stat: str, truth: float, rows: list[Mapping[str, Any]]) -> Line:
    told = [row for row in rows if "refused" not in row]
    value, low, high = (
        np.array([row[name] for row in told], dtype=np.float64)
        for name in ("value", "ci_low", "ci_high")
    )
    bare = (high - low) / 2 - (value * RELATIVE_ERROR if stat in QUANTILES else 0.0)
    return Line(
        queue=queue,
        metric=metric,
        stat=stat,
        truth=truth,
        refused=1 - len(told) / len(rows),
        covered=float(np.mean((low <= truth) & (truth <= high))),
        covered_bare=float(np.mean(np.abs(value - truth) <= bare)),
        half_width=float(np.mean(high - low) / 2 / truth),
        bias=float(np.mean(value) / truth - 1),
    )


def queue_study(studies: int) -> Study:
    """Returns studies side by side, as points; ``run_queue_of`` says what stands for what."""
    compare = {
        name: {"workload.rate": f"{load * NS_PER_S / SERVICE_NS}/s",
               "tikv.storage.scheduler-worker-pool-size": servers}
        for name, (servers, load) in QUEUES.items()
    }  # fmt: skip
    content = {
        "run": {"seed": 1, "measure": "40s", "window": "1s", "replications": REPLICATIONS},
        "workload": {"kind": "tpcc", "warehouses": 1, "rate": "1/s"},
        "compare": compare,
        "sweep": {"grid": {"workload.warehouses": list(range(1, studies + 1))}},
    }
    with tempfile.TemporaryDirectory(prefix="pessim-coverage-") as folder:
        file = Path(folder) / "coverage.yaml"
        file.write_text(yaml.safe_dump(content), encoding="utf-8")
        return load_study(file)


def summarised(studies: int) -> list[Mapping[str, Any]]:
    """Runs all units and returns the rows of the summary."""
    plan = Plan(queue_study(studies))
    plan.add(
        (point, variant, replication)
        for point in plan.study.points
        for variant in QUEUES
        for replication in range(REPLICATIONS)
    )
    starter = SparkStarter("local[2]")
    with tempfile.TemporaryDirectory(prefix="pessim-coverage-") as name:
        units_dir = Path(name) / "units"
        try:
            job = UnitJob(plan.study, str(units_dir), "benchmarks.queue_units:run_queue_of")
            run_units(starter.context(), job, plan.points, plan.units, Watch())
            done = read_ledger(units_dir, plan.units).done
            tables = read_study_tables(starter.context(), units_dir.parent, done, figure_points=0)
        finally:
            stop_spark(starter)
    run = FinishedStudy(
        study=plan.study, name="coverage", folder=units_dir.parent, plan=plan, done=done
    )
    summary = study_summary(run, tables)
    return list(summary["rows"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", type=int, nargs="?", default=STUDIES, help="of each queue")
    wanted = parser.parse_args().studies
    begun_s = time.perf_counter()
    print(f"{'':33}{'truth':>9}  refused  covered  of t alone  half width    bias")
    for line in measure(wanted):
        print(f"{line.queue:10} {line.metric:16} {line.stat:5}{line.truth:7.3f} ms  "
              f"{line.refused:7.1%}  {line.covered:7.1%}  {line.covered_bare:10.1%}  "
              f"{line.half_width:10.1%}  {line.bias:+6.2%}")  # fmt: skip
    print(f"{time.perf_counter() - begun_s:.0f} s")
