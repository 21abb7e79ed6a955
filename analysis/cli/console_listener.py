"""What is printed while a study runs: how many units are finished, and each failure at once."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from analysis.cli.console import messages, output, phase, say
from analysis.cli.progress import UnitProgress, unit_progress
from analysis.cli.status_command import replay_line
from analysis.cli.study_report import print_study
from analysis.lint.scenario_lint import scenario_warnings
from analysis.pipeline.compiled_model import model_words
from analysis.pipeline.watch import Watch
from analysis.program import command
from analysis.report.manifest import commit
from analysis.running.early_figures import EarlyFigures
from analysis.running.listener import RunListener
from analysis.running.rounds import AfterFailure
from analysis.study.finished_study import FinishedStudy
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.units import Unit, count

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


_KIND: Final = {True: "a capacity search", False: "a sensitivity analysis"}


class QuietListener(RunListener):
    """Says in a line what each round of a study runs, and shows how far its units are."""

    def __init__(self, after_failure: AfterFailure = "go on") -> None:
        self._stop_at = 1 if after_failure == "stop" else math.inf

    def round_begins(self, plan: Plan, asked: Sequence[Unit], done: int) -> None:
        """Names the study and the number of its units."""
        say(messages(), f"{plan.study.name}: {count(len(asked), 'unit')}{_kept(done)}")

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


class ConsoleListener(QuietListener):
    """Says the first line of a study, one for every further round, and its tables."""

    def __init__(
        self, master: str, after_failure: AfterFailure = "go on", folder: Path = Path()
    ) -> None:
        super().__init__(after_failure)
        self._master = master
        self._folder = folder
        self._rounds = 0
        self.plan: Plan | None = None
        """What was asked for so far; None before the first round."""

    def begins(self, study: Study) -> None:
        """Says what the study cannot show."""
        for warning in scenario_warnings(study):
            say(messages(), f"warning: {warning}", "yellow")

    def left_alone(self, failed: int) -> None:
        """Says that units failed in an earlier run."""
        say(messages(), f"{count(failed, 'unit')} failed in an earlier run and were not run again; "
                        f"--retry failed runs them again, "
                        f"{command('status', self._folder)} lists them")  # fmt: skip

    def round_begins(self, plan: Plan, asked: Sequence[Unit], done: int) -> None:
        """Says what a round runs."""
        self._rounds += 1
        self.plan = plan
        if self._rounds == 1:
            say(output(), self._first_line(plan, _kept(done)))
        else:
            say(output(), f"round {self._rounds}: {count(len(asked), 'unit')} more{_kept(done)}")

    def summed_up(self, run: FinishedStudy, summary: Mapping[str, Any]) -> None:
        """Prints the tables."""
        print_study(run, summary)

    def _first_line(self, plan: Plan, kept: str) -> str:
        study = plan.study
        run = study.scenario(study.points[0], next(iter(study.variants))).run
        hashes = "".join(unit.unit_hash for unit in plan.units)
        return (
            f"study {study.name}: {self._cases(plan)} = {count(len(plan.units), 'unit')}{kept}; "
            f"seed {run.seed}, config {hashlib.sha256(hashes.encode()).hexdigest()[:12]}, "
            f"commit {commit() or 'unknown'}, model {model_words(self._master)}"
        )

    def _cases(self, plan: Plan) -> str:
        study = plan.study
        if study.capacity is not None or study.sensitivity is not None:
            return f"first round of {_KIND[study.capacity is not None]}"
        skipped = f" ({count(study.skipped, 'point')} skipped)" if study.skipped else ""
        points = f" × {len(study.points):,} points{skipped}" if len(study.points) > 1 else ""
        replications = max(unit.replication for unit in plan.units) + 1
        return (
            f"{count(len(study.variants), 'variant')}{points} × "
            f"{count(replications, 'replication')}"
        )


def _kept(done: int) -> str:
    return f" ({done:,} already done)" if done else ""
