"""What a unit takes of memory, and that it does not depend on how long it runs.

Peak resident memory of a fresh process that runs one unit, and of one that runs it for four times
as long. The difference is what the longer run touches for the first time (rows of districts that
had no customer before), not what time leaves behind.

Run it with ``python -m benchmarks memory``; ``bench`` has the first figure only.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from benchmarks.tpcc_unit import tpcc_unit
from sim.units import NS_PER_S

_SHORT_S: Final = 3
_TINY_S: Final = 0.03
_TIMES: Final = 4
_ROOT: Final = Path(__file__).resolve().parents[1]
_CALL: Final = "from benchmarks.memory import print_peak; print_peak({seconds})"
_KIB_PER_MIB: Final = 1024


def measure(*, tiny: bool = False) -> dict[str, float]:
    """Returns ``unit_memory_mib``: of a unit of three simulated seconds."""
    return {"unit_memory_mib": _peak_mib(_begin(_TINY_S if tiny else _SHORT_S))}


def main() -> None:
    """Prints the peaks of a unit and of one four times as long, which run side by side."""
    short, long = _begin(_SHORT_S), _begin(_TIMES * _SHORT_S)
    print({"unit_memory_mib": _peak_mib(short), "unit_memory_4x_mib": _peak_mib(long)})


def print_peak(seconds: float) -> None:
    """Runs a unit for so many simulated seconds; prints this process' peak memory in KiB.

    From Linux' own account: ``getrusage`` would count the parent's memory before ``exec`` as well.
    """
    tpcc_unit(int(seconds * NS_PER_S))
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def _begin(seconds: float) -> subprocess.Popen[str]:
    call = [sys.executable, "-c", _CALL.format(seconds=seconds)]
    return subprocess.Popen(call, cwd=_ROOT, stdout=subprocess.PIPE, text=True)


def _peak_mib(process: subprocess.Popen[str]) -> float:
    output, _ = process.communicate()
    return round(int(output) / _KIB_PER_MIB, 1)


if __name__ == "__main__":
    main()
