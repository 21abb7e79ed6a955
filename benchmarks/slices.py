"""Two processes that take turns, a slice of work each: a slow minute of the machine meets both."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO


class SliceProcess:
    """Python code that prints the CPU seconds of a slice for each line that it reads."""

    def __init__(self, code: str, folder: Path, settings: Mapping[str, str]) -> None:
        """Starts it in a folder, with ``settings`` beside this process's environment."""
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=folder,
            env={**os.environ, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def next_line(self) -> str:
        """Waits for what it prints next."""
        return _pipe(self._process.stdout).readline()

    def slice_s(self) -> float:
        """Lets it run a slice; returns its CPU seconds."""
        stdin = _pipe(self._process.stdin)
        stdin.write("next\n")
        stdin.flush()
        return float(self.next_line())

    def end(self) -> None:
        """Ends the process."""
        self._process.communicate()


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None, "it was opened as a pipe"
    return stream


def ratios(one: SliceProcess, other: SliceProcess, turns: int) -> list[float]:
    """Returns the ratio of each pair of slices, one over other, and ends both processes."""
    found = []
    for turn in range(turns):
        both = (one, other) if turn % 2 else (other, one)
        seconds = {process: process.slice_s() for process in both}
        found.append(seconds[one] / seconds[other])
    for process in (one, other):
        process.end()
    return found
