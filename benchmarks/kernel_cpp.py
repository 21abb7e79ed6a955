"""Model M in C++ (``kernel_twin.cpp``): compiled, given its random numbers, run.

The numbers are drawn here from the same streams as the twins in Python use, so all three must have
the same latencies. CPU time is that of the run alone, without reading numbers or writing latencies.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks import kernel_model as m
from sim.distributions import Sampler

_SOURCE: Final = Path(__file__).with_name("kernel_twin.cpp")
_REPEATS: Final = 10
_TOO_FEW_NUMBERS: Final = 3
_NUMBERS_PER_S: Final = 40_000
"""Of each stream of a station, to begin with."""

_Numbers = NDArray[np.int64]


def compiler() -> str | None:
    """Returns a C++ compiler, None if there is none."""
    return next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)


def said_by(source: str, *options: str) -> str:
    """Compiles a small C++ program, runs it, and returns what it prints.

    Raises:
        RuntimeError: there is no C++ compiler, or the program is not of this processor.
    """
    with TemporaryDirectory() as folder:
        file, program = Path(folder) / "program.cpp", Path(folder) / "program"
        file.write_text(source)
        words = [compiler() or "c++", "-O1", *options, "-o", str(program), str(file)]
        try:
            subprocess.run(words, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise RuntimeError("a C++ compiler for x86-64 Linux is needed") from error
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout


class CppTwin:
    """The compiled program.

    Args:
        folder: for the program and its files.
        compiler: what ``compiler`` returns.

    Raises:
        CalledProcessError: if it does not compile.
    """

    def __init__(self, folder: Path, compiler: str) -> None:
        self._folder = folder
        self._program = folder / "kernel_twin"
        words = [compiler, "-O2", "-std=c++17", "-o", str(self._program), str(_SOURCE)]
        subprocess.run(words, check=True, capture_output=True, text=True)

    def run(self, mode: str, seed: int, until: int) -> tuple[m.Outcome, float]:
        """Plays the model from 0 to ``until`` ticks; returns the outcome and CPU seconds."""
        numbers, latencies = self._folder / "numbers", self._folder / "latencies"
        count = round(until / m.TICKS_PER_S * _NUMBERS_PER_S) + 1
        words = [str(m.MODES.index(mode)), str(until), str(_REPEATS), str(numbers), str(latencies)]
        while True:
            np.concatenate(list(_streams(m.Draws(seed), count))).tofile(numbers)
            done = subprocess.run(
                [self._program, *words], capture_output=True, text=True, check=False
            )
            if done.returncode != _TOO_FEW_NUMBERS:
                break
            count *= 2
        done.check_returncode()
        cpu_s, events = done.stdout.split()
        return _outcome(latencies, int(events)), float(cpu_s)


def _streams(draws: m.Draws, count: int) -> Iterator[_Numbers]:
    """Yields each stream's numbers after how many there are, in the order of the program."""
    stores = [f"store-{number}" for number in range(m.STORES)]
    nodes = [f"sql-{number}" for number in range(m.SQL_NODES)]

    def times(name: str, mean: int) -> _Numbers:
        sampler = draws.times(name, mean)
        return _counted([sampler.draw() for _ in range(count)])

    for store in stores:
        yield times(f"{store}/scheduler", m.SCHEDULER_MEAN)
        yield times(f"{store}/log", m.SYNC_MEAN)
        yield times(f"{store}/apply", m.APPLY_MEAN)
        for other in (*nodes, *(other for other in stores if other != store)):
            yield times(f"{store}->{other}", m.TRANSMISSION_MEAN)
    for node in nodes:
        for store in stores:
            yield times(f"{node}->{store}", m.TRANSMISSION_MEAN)
    for client in range(m.CLIENTS):
        transactions = count // m.CLIENTS + 1
        thinking: Sampler = draws.times(f"client-{client}/think", m.THINK_MEAN)
        choices = draws.choices(client)
        yield _counted([thinking.draw() for _ in range(transactions + 1)])
        regions = [m.choose_regions(client, choices) for _ in range(transactions)]
        yield _counted(list(chain.from_iterable([len(each), *each] for each in regions)))


def _counted(numbers: list[int]) -> _Numbers:
    return np.array([len(numbers), *numbers], dtype=np.int64)


def _outcome(latencies: Path, events: int) -> m.Outcome:
    words = np.fromfile(latencies, dtype=np.int64).tolist()
    outcome = m.Outcome(events=events)
    at = 0
    for found in (*outcome.lock_latencies, *outcome.txn_latencies):
        end = at + 1 + words[at]
        found.extend(words[at + 1 : end])
        at = end
    return outcome
