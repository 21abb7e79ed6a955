"""What a whole command costs: CPU time of everything that it starts, by Linux' own account.

Spark's workers are nobody's waited-for children, so ``getrusage`` does not see them. The command
gets a session of its own, and all processes of the session are looked at while it runs; what one
does after the last look before its end, a tenth of a second at most, is lost.
"""

from __future__ import annotations

import os
import signal
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
        start_new_session=True,
    ) as command:  # fmt: skip
        complaint = ""
        while command.returncode is None:
            try:
                _, complaint = command.communicate(timeout=_LOOK_EVERY_S)
            except subprocess.TimeoutExpired:
                ticks |= _ticks_of_session(command.pid)
            except KeyboardInterrupt:  # which reaches this session only
                os.killpg(command.pid, signal.SIGINT)
                raise
    if command.returncode:
        last = complaint.strip().rpartition("\n")[2]
        raise CommandFailed(f"run_sim.py {' '.join(words)}: status {command.returncode}: {last}")
    cpu_s = sum(ticks.values()) / os.sysconf("SC_CLK_TCK")
    return Cost(cpu_s, perf_counter() - begun_s)


def _ticks_of_session(session: int) -> dict[int, int]:
    """Returns the CPU time so far of each process of a session, in clock ticks.

    Source: proc(5), /proc/pid/stat: after the name session, utime and stime are the fields 3, 11,
    and 12, counted from 0.
    """
    ticks = {}
    for process in Path("/proc").glob("[1-9]*"):
        try:
            fields = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[3]) == session:
            ticks[int(process.name)] = int(fields[11]) + int(fields[12])
    return ticks
