"""How often a unit is called overloaded or not settled although it is neither, and the reverse.

Units with 200 seeds each: M/M/1 below, at and above its capacity, and TPC-C in an open loop on a
small cluster at half its capacity and at twice as much. Facts go to Parquet and are judged there,
as a worker does it.

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
from analysis.study.parquet_sink import ParquetSink
from benchmarks import queue_units
from sim.scenario import load_study
from sim.simulation import run_unit
from sim.units import NS_PER_MS, NS_PER_S

SEEDS: Final = 200
OPEN_LOOP: Final = Path(__file__).with_name("light_load.yaml")
_SPANS: Final = {"1 s": NS_PER_S, "10 s": 10 * NS_PER_S, "60 s": 60 * NS_PER_S}
_LOADS: Final = (0.5, 0.8, 0.9, 0.99, 1.05, 1.2)
_RATES: Final = ("250/s", "500/s", "2000/s")
"""A quarter, half and twice of what the cluster can do."""

Runner = Callable[[Any, int, Any], Any]


def measure(seeds: int = SEEDS) -> dict[str, dict[str, int]]:
    """Returns by unit how many of ``seeds`` got each verdict."""
    found = {}
    for name, scenario, runner in _cases():
        judged = [_judged(scenario, seed, runner) for seed in range(seeds)]
        found[name] = {
            **{str(verdict): 0 for verdict in Verdict},
            **Counter(str(each.verdict) for each in judged),
        }
    return found


def _cases() -> Iterator[tuple[str, Any, Runner]]:
    for words, measure_ns in _SPANS.items():
        for warmup, warmup_ns in (("auto", None), ("given", measure_ns // 5)):
            run = queue_units.QueueRun(1, measure_ns, warmup_ns)
            for load in _LOADS:
                scenario = queue_units.QueueScenario(run, servers=1, load=load)
                yield f"M/M/1 {load}, {words}, warm-up {warmup}", scenario, queue_units.run_unit
    for rate in _RATES:
        study = load_study(OPEN_LOOP, [f"workload.rate={rate}"])
        scenario = study.scenario(study.points[0], next(iter(study.variants)))
        yield f"TPC-C {rate}", scenario, run_unit


def _judged(scenario: Any, seed: int, runner: Runner) -> JudgedUnit:
    """Runs a unit and judges it; the replication is the seed, as its streams are named by both."""
    with tempfile.TemporaryDirectory(prefix="pessim-verdict-") as name:
        folder = Path(name)
        with ParquetSink(folder) as sink:
            result = runner(scenario, seed, sink)
        return judged_unit(folder, scenario, result.simulated_ns)


if __name__ == "__main__":
    for case, verdicts in measure().items():
        print(f"{case:40}", *(f"{count:>5} {verdict}" for verdict, count in verdicts.items()))
