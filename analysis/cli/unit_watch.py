"""What is printed while units run: how many are finished, and each failure at once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rich.console import Console

from analysis.cli.console import say
from analysis.cli.progress import UnitProgress
from analysis.cli.status_command import replay_line
from analysis.pipeline.watch import Watch
from analysis.program import command
from analysis.running.early_figures import EarlyFigures
from analysis.study.plan import Plan
from analysis.study.units import Unit

SHOWN_FAILURES: Final = 5


class UnitWatch(Watch):
    """Shows progress and failures; asks to stop after the first failure if that was wished."""

    def __init__(
        self, told: Console, bar: UnitProgress, plan: Plan, folder: Path, *, stop_at: float
    ) -> None:
        self._told = told
        self._bar = bar
        self._plan = plan
        self._folder = folder
        self._stop_at = stop_at
        self._failures = 0
        self._figures = EarlyFigures(folder / "units", plan.units)

    def finished(self, done: int) -> None:
        """Takes the number of units that have ended."""
        self._bar.update(done, self._figures.text() if self._bar.is_due(done) else "")

    def failed(self, unit: Unit, error: str) -> None:
        """Tells of a unit that has just failed, and how to see it fail again."""
        self._failures += 1
        if self._failures <= SHOWN_FAILURES:
            say(self._told, f"unit failed: {self._plan.words(unit)}: {error}\n"
                            f"  {replay_line(self._folder, unit.unit_hash)} shows it alone"
                )  # fmt: skip
        if self._failures == SHOWN_FAILURES + 1:
            say(self._told, f"more units fail; {command('status', self._folder)} lists them")

    @property
    def wants_stop(self) -> bool:
        """Whether no more units are to be begun."""
        return self._failures >= self._stop_at
