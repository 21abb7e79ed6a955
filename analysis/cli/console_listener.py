"""What the commands print while a study runs: its first line, its rounds and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from analysis.cli.study_report import print_study
from analysis.lint.scenario_lint import scenario_warnings
from analysis.pipeline.compiled_model import model_words
from analysis.program import command
from analysis.report.manifest import commit
from analysis.running.progress_listener import ProgressListener, kept_words
from analysis.running.rounds import AfterFailure
from analysis.statistics.amounts import count
from analysis.study.finished_study import FinishedStudy
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.units import Unit, units_digest
from analysis.terminal.console import messages, output, say

_KIND: Final = {True: "a capacity search", False: "a sensitivity analysis"}


class ConsoleListener(ProgressListener):
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
            say(output(), self._first_line(plan, kept_words(done)))
        else:
            more = f"{count(len(asked), 'unit')} more{kept_words(done)}"
            say(output(), f"round {self._rounds}: {more}")

    def summed_up(self, run: FinishedStudy, summary: Mapping[str, Any]) -> None:
        """Prints the tables."""
        print_study(run, summary)

    def _first_line(self, plan: Plan, kept: str) -> str:
        study = plan.study
        return (
            f"study {study.name}: {self._cases(plan)} = {count(len(plan.units), 'unit')}{kept}; "
            f"seed {study.run.seed}, hash of units {units_digest(plan.units)[:12]}, "
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
