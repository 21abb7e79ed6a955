"""How far a run is: a bar with the time left on a terminal, plain lines elsewhere.

The time left is estimated from finished units; before the first one is finished nothing
is claimed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final, Self

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from analysis.terminal.console import say

LINE_EVERY_S: Final = 10.0


class UnitProgress:
    """Shows how many units are finished.

    In a line every ten seconds at most, if something has been finished, and one at the end.
    """

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._begun_s = time.monotonic()
        self._said_s = 0.0
        self._shown = 0

    def is_due(self, finished: int) -> bool:
        """Returns whether something would be shown now; then figures are worth their cost."""
        since_s = time.monotonic() - max(self._said_s, self._begun_s)
        return finished != self._shown and (since_s >= LINE_EVERY_S or finished == self._total)

    def update(self, finished: int, figures: str = "") -> None:
        """Takes the number of finished units, and what is known of the results so far."""
        if not self.is_due(finished):
            return
        self._shown, self._said_s = finished, time.monotonic()
        elapsed_s = self._said_s - self._begun_s
        said = f"units: {finished} of {self._total} in {elapsed_s:.0f} s"
        left = self._left(finished)
        tail = (f", {left}" if left else "") + (f"; {figures}" if figures else "")
        say(self._console, said + tail)

    def _left(self, finished: int) -> str:
        left = remaining_text(finished, self._total, time.monotonic() - self._begun_s)
        return f"{left} left" if left else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends."""


def unit_progress(console: Console, total: int) -> UnitProgress:
    """Returns what suits the console."""
    return BarProgress(console, total) if console.is_terminal else UnitProgress(console, total)


def remaining_text(finished: int, total: int, elapsed_s: float) -> str:
    """Returns the time left, as ``1:05``; empty while nothing is finished."""
    if not finished or finished >= total:
        return ""
    left_s = round(elapsed_s / finished * (total - finished))
    return f"{left_s // 60}:{left_s % 60:02d}"


class _BarAndFigures(Progress):
    """A bar, and below it a line of figures as soon as there are some."""

    figures = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yields the bar, and the figures cut to the width of the terminal."""
        yield self.make_tasks_table(self.tasks)
        if self.figures:
            yield Text(self.figures, overflow="ellipsis", no_wrap=True)


class BarProgress(UnitProgress):
    """A bar that is redrawn."""

    def __init__(self, console: Console, total: int) -> None:
        super().__init__(console, total)
        self._bar = _BarAndFigures(
            TextColumn("units"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
        )
        self._task: TaskID = self._bar.add_task("units", total=total, left="")

    def is_due(self, finished: int) -> bool:
        """Returns whether the bar would change."""
        return finished != self._shown

    def update(self, finished: int, figures: str = "") -> None:
        """Redraws the bar, figures below it."""
        self._shown = finished
        self._bar.figures = figures or self._bar.figures
        self._bar.update(self._task, completed=finished, left=self._left(finished))

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends; the bar goes away."""
        self._bar.stop()
