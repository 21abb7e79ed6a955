"""Follows a study's run: what a command or a page hears of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.pipeline.run_units import Watch
from analysis.study.finished_study import FinishedStudy
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.units import Unit


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
