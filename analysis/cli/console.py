"""Where text goes: rich on a terminal, plain lines of 100 columns elsewhere; NO_COLOR is kept."""

from __future__ import annotations

import os
import sys
from typing import Final

from rich.console import Console

PLAIN_WIDTH: Final = 100


def output() -> Console:
    """Returns the console for results, on standard output."""
    return _console(stderr=False)


def messages() -> Console:
    """Returns the console for progress and problems, on standard error."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    width = None if terminal or "COLUMNS" in os.environ else PLAIN_WIDTH
    return Console(stderr=stderr, width=width, highlight=False, soft_wrap=False)


def say(console: Console, text: str, style: str = "") -> None:
    """Prints a line as it is: not wrapped, not searched for markup."""
    console.print(text, style=style or None, markup=False, soft_wrap=True)
