"""What a whole command costs: CPU time of everything that it starts, by Linux' own account.

Nobody waits for Spark's workers, so ``getrusage`` does not see them. All that descends from the
command is looked at while it runs; what a process does after the last look before its end, a tenth
of a second at most, is lost.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
_LOOK_EVERY_S: Final = 0.1


class CommandFailed(Exception):
    """The command did not end well."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of CPU, of all processes together, and of the clock."""

    cpu_s: float
    wall_s: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.cpu_s + other.cpu_s, self.wall_s + other.wall_s)


def cost_of(words: Sequence[str]) -> Cost:
    """Runs ``run_sim.py`` with ``words`` and returns what it took.

    Raises:
        CommandFailed: with what it said last, if its status is not 0.
    """
    begun_s = perf_counter()
    ticks: dict[int, int] = {}
    with subprocess.Popen(
        [sys.executable, "run_sim.py", *words],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as command:  # fmt: skip
        complaint = ""
        while command.returncode is None:
            try:
                _, complaint = command.communicate(timeout=_LOOK_EVERY_S)
            except subprocess.TimeoutExpired:
                ticks |= _ticks_below(command.pid)
    if command.returncode:
        last = complaint.strip().rpartition("\n")[2]
        raise CommandFailed(f"run_sim.py {' '.join(words)}: status {command.returncode}: {last}")
    cpu_s = sum(ticks.values()) / os.sysconf("SC_CLK_TCK")
    return Cost(cpu_s, perf_counter() - begun_s)


def _ticks_below(root: int) -> dict[int, int]:
    """Returns the CPU time so far of a process and of its descendants, in clock ticks.

    Source: proc(5), /proc/pid/stat: after the name, the parent, utime and stime are the fields 1,
    11 and 12, counted from 0.
    """
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for process in Path("/proc").glob("[1-9]*"):
        try:
            fields = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        ticks[int(process.name)] = int(fields[11]) + int(fields[12])
        children.setdefault(int(fields[1]), []).append(int(process.name))
    below = [root]
    for process_id in below:
        below += children.get(process_id, [])
    return {process_id: ticks[process_id] for process_id in below if process_id in ticks}
