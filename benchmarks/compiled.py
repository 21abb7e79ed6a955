"""CPU time of a unit interpreted over that of the same unit compiled, and whether facts are equal.

Both run in a process of their own and take turns, a slice of simulated time each, so that a slow
minute of the machine meets both; the median of the ratios is the figure.

Run it with ``python -m benchmarks.compiled``, after ``make fast``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

from analysis.pipeline.compiled_model import library
from benchmarks.tpcc_unit import tpcc_scenario, tpcc_unit
from sim.compiled import VARIABLE
from sim.record.facts import TABLES, MemorySink
from sim.simulation import run_unit
from sim.units import NS_PER_MS

NOT_COMPILED: Final = "the model is not compiled; make fast does it"

_ROOT: Final = Path(__file__).resolve().parents[1]
_CALL: Final = "from benchmarks.compiled import take_turns; take_turns({slice_ns})"
_WARMUP_SLICES: Final = 4
_SLICE_NS: Final = 150 * NS_PER_MS
_TINY_NS: Final = 10 * NS_PER_MS
_TURNS: Final = 15


def measure(*, tiny: bool = False) -> dict[str, float | bool | str]:
    """Returns ``compiled_speedup`` and ``compiled_facts_equal``, or why there are none."""
    found = library()
    if found is None:
        return dict.fromkeys(("compiled_speedup", "compiled_facts_equal"), NOT_COMPILED)
    slice_ns, turns = (_TINY_NS, 2) if tiny else (_SLICE_NS, _TURNS)
    interpreted, compiled = (_Process(name, slice_ns) for name in ("", str(found)))
    facts_equal = interpreted.next_line() == compiled.next_line()
    ratios = []
    for turn in range(turns):
        both = (interpreted, compiled) if turn % 2 else (compiled, interpreted)
        seconds = {process: process.slice_s() for process in both}
        ratios.append(seconds[interpreted] / seconds[compiled])
    for process in (interpreted, compiled):
        process.end()
    return {"compiled_speedup": round(median(ratios), 2), "compiled_facts_equal": facts_equal}


def take_turns(slice_ns: int) -> None:
    """Prints a digest of facts, then the CPU seconds of a slice of a unit for each line read."""
    print(_facts_digest(_WARMUP_SLICES * slice_ns), flush=True)
    unit = tpcc_unit(_WARMUP_SLICES * slice_ns)
    for _ in sys.stdin:
        began_s = process_time()
        unit.env.run_until(unit.env.now_ns + slice_ns)
        print(process_time() - began_s, flush=True)


def _facts_digest(measure_ns: int) -> str:
    """Returns a digest over all facts of a unit with all checkers."""
    scenario, sink = tpcc_scenario(), MemorySink()
    run = replace(scenario.run, measure_ns=measure_ns, checks=True)
    result = run_unit(replace(scenario, run=run), 0, sink)
    facts = (repr(result), *(repr(sink.rows(table)) for table in TABLES))
    return sha256("\n".join(facts).encode()).hexdigest()


class _Process:
    """A unit in a process of its own, interpreted or with a library."""

    def __init__(self, library_path: str, slice_ns: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CALL.format(slice_ns=slice_ns)],
            cwd=_ROOT,
            env={**os.environ, VARIABLE: library_path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def next_line(self) -> str:
        """Waits for what it says next."""
        assert self._process.stdout is not None, "it was opened as a pipe"
        return self._process.stdout.readline()

    def slice_s(self) -> float:
        """Lets it run a slice; returns its CPU seconds."""
        assert self._process.stdin is not None, "it was opened as a pipe"
        self._process.stdin.write("next\n")
        self._process.stdin.flush()
        return float(self.next_line())

    def end(self) -> None:
        """Ends the process."""
        self._process.communicate()


if __name__ == "__main__":
    print(measure())
