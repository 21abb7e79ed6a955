"""How far a run is: a bar with the time left on a terminal, plain lines elsewhere.

The time left is told from finished units; before the first one is finished nothing is known, and
nothing is claimed.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Final, Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

LINE_EVERY_S: Final = 10.0


class UnitProgress(Protocol):
    """Shows how many units are finished."""

    def update(self, finished: int) -> None:
        """Takes the number of finished units."""

    def __enter__(self) -> Self:
        """Begins."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends."""


def unit_progress(console: Console, total: int) -> UnitProgress:
    """Returns what suits the console."""
    return BarProgress(console, total) if console.is_terminal else LineProgress(console, total)


def remaining_text(finished: int, total: int, elapsed_s: float) -> str:
    """Returns the time left, as ``1:05``; empty while nothing is finished."""
    if not finished or finished >= total:
        return ""
    left_s = round(elapsed_s / finished * (total - finished))
    return f"{left_s // 60}:{left_s % 60:02d}"


class LineProgress:
    """A line every ten seconds at most, if something has been finished, and one at the end."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._begun_s = self._said_s = time.monotonic()
        self._said = 0

    def update(self, finished: int) -> None:
        """Says how many units are finished, if it is time to."""
        now_s = time.monotonic()
        late = now_s - self._said_s >= LINE_EVERY_S
        if finished == self._said or not (late or finished == self._total):
            return
        self._said, self._said_s = finished, now_s
        elapsed_s = now_s - self._begun_s
        left = remaining_text(finished, self._total, elapsed_s)
        tail = f", {left} left" if left else ""
        self._console.print(f"units: {finished} of {self._total} in {elapsed_s:.0f} s{tail}")

    def __enter__(self) -> Self:
        """Begins."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends."""


class BarProgress:
    """A bar that is redrawn."""

    def __init__(self, console: Console, total: int) -> None:
        self._total = total
        self._begun_s = time.monotonic()
        self._bar = Progress(
            TextColumn("units"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
        )
        self._task: TaskID = self._bar.add_task("units", total=total, left="")

    def update(self, finished: int) -> None:
        """Redraws the bar."""
        left = remaining_text(finished, self._total, time.monotonic() - self._begun_s)
        self._bar.update(self._task, completed=finished, left=f"{left} left" if left else "")

    def __enter__(self) -> Self:
        """Begins."""
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends; the bar goes away."""
        self._bar.stop()
