"""CPU time of a unit interpreted over that of the same unit compiled, and whether facts are equal.

Both run in a process of their own and take turns, a slice of simulated time each; the median of the
ratios is the figure.

Run it with ``python -m benchmarks.compiled``, after ``make fast``.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

from analysis.pipeline.compiled_model import library
from benchmarks.slices import SliceProcess, ratios
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
_TURNS: Final = 11


def measure(*, tiny: bool = False) -> dict[str, float | bool | str]:
    """Returns ``compiled_speedup`` and ``compiled_facts_equal``, or why there are none."""
    found = library()
    if found is None:
        return dict.fromkeys(("compiled_speedup", "compiled_facts_equal"), NOT_COMPILED)
    slice_ns, turns = (_TINY_NS, 2) if tiny else (_SLICE_NS, _TURNS)
    call = _CALL.format(slice_ns=slice_ns)
    interpreted, compiled = (
        SliceProcess(call, _ROOT, {VARIABLE: path}) for path in ("", str(found))
    )
    facts_equal = interpreted.next_line() == compiled.next_line()
    speedup = round(median(ratios(interpreted, compiled, turns)), 2)
    return {"compiled_speedup": speedup, "compiled_facts_equal": facts_equal}


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


if __name__ == "__main__":
    print(measure())
