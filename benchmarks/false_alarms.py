"""How often a unit is called overloaded or not settled although it is neither, and the reverse.

Units with 200 seeds each (TPC-C: 25): M/M/1 (1 or 10 s at 1,000 services a second, with the warm-up
found or a fifth of the time) below, near and above its capacity, and TPC-C for 0.45 s in an open
loop on a small cluster at a ninth, a quarter and a third of its capacity, and at 1.35 times as
much. Facts go to Parquet and are judged there, as a worker does it.

Run it with ``python -m benchmarks.false_alarms``.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from analysis.pipeline.unit_judgement import JudgedUnit, judged_unit
from analysis.statistics.saturation import Verdict
from analysis.study.load import load_study
from analysis.study.parquet_sink import ParquetSink
from benchmarks import queue_units
from sim.simulation import run_unit
from sim.units import NS_PER_S

SEEDS: Final = 200
OPEN_LOOP: Final = Path(__file__).with_name("light_load.yaml")
_SPANS: Final = {"1 s": NS_PER_S, "10 s": 10 * NS_PER_S}
_STABLE: Final = (0.5, 0.8)
_LOADED: Final = (0.99, 1.05, 1.2)
_RATES: Final = dict.fromkeys(("250/s", "500/s", "800/s", "3000/s"), SEEDS // 8)
"""Arrivals and seeds. The cluster serves some 2,200/s, of 3,000/s as of 4,000/s."""

Runner = Callable[[Any, int, Any], Any]


def measure() -> Iterator[tuple[str, dict[str, int]]]:
    """Yields what a unit is, and how many of its seeds got each verdict."""
    for name, scenario, runner, seeds in _cases():
        judged = Counter(str(_judged(scenario, seed, runner).verdict) for seed in range(seeds))
        yield name, {str(verdict): judged[str(verdict)] for verdict in Verdict}


def _cases() -> Iterator[tuple[str, Any, Runner, int]]:
    for load in (*_STABLE, *_LOADED):
        for words, measure_ns in _SPANS.items():
            for warmup, warmup_ns in (("auto", None), ("given", measure_ns // 5)):
                run = queue_units.QueueRun(1, measure_ns, warmup_ns)
                queue = queue_units.QueueScenario(run, servers=1, load=load)
                yield f"M/M/1 {load}, {words}, {warmup}", queue, queue_units.run_unit, SEEDS
    for rate, seeds in _RATES.items():
        study = load_study(OPEN_LOOP, [f"workload.rate={rate}"])
        scenario = study.scenario(study.points[0], next(iter(study.variants)))
        yield f"TPC-C {rate}", scenario, run_unit, seeds


def _judged(scenario: Any, seed: int, runner: Runner) -> JudgedUnit:
    """Runs a unit and judges it; the replication is the seed, as its streams are named by both."""
    with tempfile.TemporaryDirectory(prefix="pessim-verdict-") as name:
        folder = Path(name)
        with ParquetSink(folder) as sink:
            result = runner(scenario, seed, sink)
        return judged_unit(folder, scenario, result.simulated_ns)


if __name__ == "__main__":
    for case, verdicts in measure():
        counts = "  ".join(f"{count:3} {verdict}" for verdict, count in verdicts.items())
        print(f"{case:28}{counts}", flush=True)
