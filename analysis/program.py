"""This program: where its files lie, and what its commands are called by whoever runs it.

The sources run from a checkout, where ``sim`` and ``analysis`` are packages at its top level, and
installed, where both lie beneath the package ``pessim``. Nothing else asks which of the two it is.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
"""The folder that holds ``sim``, ``analysis`` and ``scenarios``: of the checkout, or ``pessim``."""

IS_INSTALLED: Final = "." in str(__package__)
IMPORTED_FROM: Final = ROOT.parent if IS_INSTALLED else ROOT
"""What has to be on ``sys.path`` of another process that imports these modules."""

SCENARIOS: Final = ROOT / "scenarios"
NAME: Final = "pessim"
SCRIPT: Final = ROOT / "run_sim.py"
USUAL: Final = NAME if IS_INSTALLED else f"python {SCRIPT.name}"
"""What it is called as where nobody has typed a command: in a report, from Python."""

SHORT_HASH: Final = 10
"""Digits of a unit's hash that a command needs."""


def cores() -> int:
    """Returns how many cores this process may use; on some systems, how many there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def module(name: str) -> str:
    """Returns the name by which a module of the project is imported here.

    For names in strings; import statements are rewritten when the package is built.
    """
    return f"{NAME}.{name}" if IS_INSTALLED else name


def called_as(typed: Sequence[str], script: str) -> list[str]:
    """Returns the words before a command, as they were typed.

    Args:
        typed: the process' words, the interpreter's first (``sys.orig_argv``).
        script: the file that runs (``sys.argv[0]``).
    """
    if Path(script).name == SCRIPT.name and script in typed:
        return list(typed[: list(typed).index(script) + 1])
    return USUAL.split()


def called() -> str:
    """Returns what this process was called as: ``pessim``, or ``python run_sim.py``."""
    return shlex.join(called_as(sys.orig_argv, sys.argv[0]))


def command(*words: object) -> str:
    """Returns a command to be pasted into a shell: ``pessim status results/x``."""
    return f"{called()} {shlex.join(map(str, words))}"


def replay_line(folder: Path, unit_hash: str) -> str:
    """Returns the command that runs one unit of a study again, alone, with everything it says."""
    return command("replay", folder, unit_hash[:SHORT_HASH])
