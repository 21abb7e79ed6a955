"""CPU time of a unit in this checkout over that in another one, in alternating slices.

Both run the same scenario in a process of their own and take turns, a slice of simulated time each,
so that a slow minute of the machine meets both: the ratio of each pair counts, seconds do not.

Run it with ``python -m benchmarks two_trees OTHER [--rounds 30]``; make the other checkout with
``git worktree add``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles
from typing import IO, Final

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


class Tree:
    """One checkout's process."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SLICES],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until_ready(self) -> None:
        """Waits until the warm-up is over."""
        _ = _stream(self._process.stdout).readline()

    def slice_s(self) -> float:
        """Runs one slice; returns its CPU seconds."""
        stdin = _stream(self._process.stdin)
        stdin.write("next\n")
        stdin.flush()
        return float(_stream(self._process.stdout).readline())

    def end(self) -> None:
        """Ends the process."""
        _stream(self._process.stdin).close()
        self._process.wait()


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None, "it was opened as a pipe"
    return stream


def measure(other: Path, rounds: int) -> dict[str, float]:
    """Returns the ratio of CPU times, this checkout over ``other``: median and quartiles."""
    trees = [Tree(HERE), Tree(other)]
    for tree in trees:
        tree.wait_until_ready()
    ratios = []
    for number in range(rounds):
        seconds = {index: trees[index].slice_s() for index in ((0, 1), (1, 0))[number % 2]}
        ratios.append(seconds[0] / seconds[1])
    for tree in trees:
        tree.end()
    lower, _, upper = quantiles(ratios, n=4)
    return {"ratio": median(ratios), "lower_quartile": lower, "upper_quartile": upper}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="CPU of a unit, this checkout over another one")
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=30)
    said = parser.parse_args()
    for name, value in measure(said.other.resolve(), said.rounds).items():
        print(f"{name}: {value:.3f}")
