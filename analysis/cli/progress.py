"""How far a run is: a bar with the time left on a terminal, plain lines elsewhere.

The time left is estimated from finished units; before the first one is finished nothing
is claimed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from types import TracebackType
from typing import Final, Protocol, Self

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

from analysis.cli.console import say

LINE_EVERY_S: Final = 10.0


class UnitProgress(Protocol):
    """Shows how many units are finished."""

    def update(self, finished: int) -> None:
        """Takes the number of finished units."""

    def is_due(self, finished: int) -> bool:
        """Returns whether something would be shown now; then figures are worth their cost."""

    def figures(self, text: str) -> None:
        """Takes what is known of the results so far, for the next ``update``."""

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
        self._figures = ""

    def is_due(self, finished: int) -> bool:
        """Returns whether enough time has passed, and something has been finished since."""
        late = time.monotonic() - self._said_s >= LINE_EVERY_S
        return finished != self._said and (late or finished == self._total)

    def figures(self, text: str) -> None:
        """Keeps what is known of the results."""
        self._figures = text

    def update(self, finished: int) -> None:
        """Says how many units are finished, if it is time to."""
        if not self.is_due(finished):
            return
        now_s = time.monotonic()
        self._said, self._said_s = finished, now_s
        elapsed_s = now_s - self._begun_s
        left = remaining_text(finished, self._total, elapsed_s)
        tail = f", {left} left" if left else ""
        known = f"; {self._figures}" if self._figures else ""
        say(self._console, f"units: {finished} of {self._total} in {elapsed_s:.0f} s{tail}{known}")

    def __enter__(self) -> Self:
        """Begins."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends."""


class _BarAndFigures(Progress):
    """A bar, and below it a line of figures as soon as there are some."""

    figures = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yields the bar, and the figures cut to the width of the terminal."""
        yield self.make_tasks_table(self.tasks)
        if self.figures:
            yield Text(self.figures, overflow="ellipsis", no_wrap=True)


class BarProgress:
    """A bar that is redrawn."""

    def __init__(self, console: Console, total: int) -> None:
        self._total = total
        self._begun_s = time.monotonic()
        self._finished = 0
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
        """Returns whether something has been finished since."""
        return finished != self._finished

    def figures(self, text: str) -> None:
        """Shows what is known of the results below the bar."""
        self._bar.figures = text

    def update(self, finished: int) -> None:
        """Redraws the bar."""
        self._finished = finished
        left = remaining_text(finished, self._total, time.monotonic() - self._begun_s)
        self._bar.update(self._task, completed=finished, left=f"{left} left" if left else "")

    def __enter__(self) -> Self:
        """Begins."""
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends; the bar goes away."""
        self._bar.stop()
