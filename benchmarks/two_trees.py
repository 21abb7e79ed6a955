"""CPU time of a unit in this checkout over that in another one, in alternating slices.

Both run the same scenario in a process of their own and take turns, a slice of simulated time each:
the ratio of each pair counts, seconds do not.

Run it with ``python -m benchmarks two_trees OTHER [--rounds 30]``; make the other checkout with
``git worktree add``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from benchmarks.slices import SliceProcess, ratios

HERE: Final = Path(__file__).resolve().parents[1]

SLICES: Final = """
import gc, sys
from pathlib import Path
from time import process_time
from analysis.study.load import load_study
from sim import simulation

class Nowhere:
    def write(self, table, columns):
        pass

    def reached(self, now_ns):
        pass

said = ["run.measure=60s", "run.warmup=200ms", "run.replications=1"]
study = load_study(Path("scenarios/rfc77.yaml"), overrides=said)
Unit = getattr(simulation, "SimulatedUnit", None) or simulation.Unit  # Its name in older trees.
gc.disable()
units = [Unit(study.scenario(study.points[0], name), 0, Nowhere()) for name in study.variants]
for unit in units:
    unit.env.run_until(300_000_000)
print("ready", flush=True)
for _ in sys.stdin:
    began = process_time()
    for unit in units:
        unit.env.run_until(unit.env.now_ns + 60_000_000)
    print(process_time() - began, flush=True)
"""
"""What each process runs: 60 simulated ms of every variant of ``rfc77.yaml`` for each line read."""


def measure(other: Path, rounds: int) -> dict[str, float]:
    """Returns the ratio of CPU times, this checkout over ``other``: median and quartiles."""
    here, there = (SliceProcess(SLICES, tree, {"PYTHONPATH": str(tree)}) for tree in (HERE, other))
    for process in (here, there):
        process.next_line()  # its warm-up is over
    found = ratios(here, there, rounds)
    lower, _, upper = quantiles(found, n=4)
    return {"ratio": median(found), "lower_quartile": lower, "upper_quartile": upper}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="CPU of a unit, this checkout over another one")
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=30)
    said = parser.parse_args()
    for name, value in measure(said.other.resolve(), said.rounds).items():
        print(f"{name}: {value:.3f}")
