"""Follows a study's run: what a command or a page hears of it, and lines on standard error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from rich.console import Console

from analysis.pipeline.run_units import Watch
from analysis.program import command, replay_line
from analysis.running.early_figures import EarlyFigures
from analysis.statistics.amounts import count
from analysis.study.finished_study import FinishedStudy
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.units import Unit
from analysis.terminal.console import messages, phase, say
from analysis.terminal.progress import UnitProgress, unit_progress

AfterFailure = Literal["go on", "stop"]


class RunListener:
    """Hears how a study's run goes; this one does nothing."""

    def begins(self, study: Study) -> None:
        """Takes a study of which something is to be run or written."""

    def left_alone(self, failed: int) -> None:
        """Takes how many units failed in an earlier run and were not run again."""

    def round_begins(self, plan: Plan, asked: Sequence[Unit], done: int) -> None:
        """Takes the units of a round, and how many of them are done already."""

    def note(self, text: str) -> None:
        """Takes a line about what a round does."""

    @contextmanager
    def units_run(self, plan: Plan, missing: Sequence[Unit], folder: Path) -> Iterator[Watch]:  # noqa: ARG002
        """Gives a watch over units for as long as they run."""
        yield Watch()

    @contextmanager
    def phase(self, text: str) -> Iterator[None]:  # noqa: ARG002
        """Lasts as long as what is done after the last unit, which it names."""
        yield

    def summed_up(self, run: FinishedStudy, summary: Mapping[str, Any]) -> None:
        """Takes the summary as soon as there is one, before figures are drawn."""


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
        self._figures = EarlyFigures(folder / "units", plan.units, plan.study.run.batches)

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


class ProgressListener(RunListener):
    """Says in a line what each round of a study runs, and shows how far its units are."""

    def __init__(self, after_failure: AfterFailure = "go on") -> None:
        self._stop_at = 1 if after_failure == "stop" else math.inf

    def round_begins(self, plan: Plan, asked: Sequence[Unit], done: int) -> None:
        """Names the study and the number of its units."""
        say(messages(), f"{plan.study.name}: {count(len(asked), 'unit')}{kept_words(done)}")

    def note(self, text: str) -> None:
        """Says a line."""
        say(messages(), text)

    @contextmanager
    def units_run(self, plan: Plan, missing: Sequence[Unit], folder: Path) -> Iterator[Watch]:
        """Shows a bar, or lines, while units run."""
        told = messages()
        with unit_progress(told, len(missing)) as bar:
            yield UnitWatch(told, bar, plan, folder, stop_at=self._stop_at)

    @contextmanager
    def phase(self, text: str) -> Iterator[None]:
        """Says what is done, until it is."""
        with phase(text):
            yield


def kept_words(done: int) -> str:
    """Returns how many units there were before, in brackets; nothing if there were none."""
    return f" ({done:,} already done)" if done else ""
