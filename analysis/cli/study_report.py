"""What is said of a study: while its units run, and then tables, verdict, or a document."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from analysis.cli.failures import ExitStatus
from analysis.lint.scenario_lint import scenario_warnings
from analysis.metrics.row_table import RowTable
from analysis.metrics.shown import KEY_FIGURES
from analysis.pipeline.compiled_model import model_words
from analysis.program import command
from analysis.report.capacity_table import capacity_changes, capacity_sentence, capacity_tables
from analysis.report.comparison import comparison_tables, precision_table
from analysis.report.expectations import claim_line
from analysis.report.manifest import commit
from analysis.report.refusal import verdict_lines
from analysis.report.sensitivity_table import factor_table, weight_tables
from analysis.report.terminal import print_tables, print_text
from analysis.running.listener import AfterFailure, ProgressListener, kept_words
from analysis.running.results import StudyResult
from analysis.statistics.amounts import count, large_count, seconds
from analysis.study.finished_study import FinishedStudy
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.study_folder import runs_the_rest
from analysis.study.study_outcome import StudyOutcome, said_in, sentences
from analysis.study.units import Unit, units_digest
from analysis.terminal.console import messages, output, print_json, say

SHOWN_WARNINGS: Final = 3
_SAID: Final = {
    "mechanism": "warning", "alike": "note", "quantile": "warning", "unasked": "note",
}  # fmt: skip


def report_result(result: StudyResult, *, as_json: bool = False) -> int:
    """Prints what is left to be said of a study that was run; returns the exit status.

    Its tables have been printed as soon as there were numbers, unless nothing had changed. With
    ``as_json`` the last thing is a document.
    """
    run, summary, phases = result.run, result.summary, result.phases
    if not phases:
        say(output(), f"study {run.name}: all {len(run.done):,} units are done")
        print_study(run, summary)
        say(output(), "nothing has changed since this was computed; `report` computes it again")
    elif result.page is not None:
        say(output(), f"Spark: start {phases['spark_start']:.1f} s, facts {phases['facts']:.1f} s")
        say(output(), f"report: {result.page}")
    if run.missing:
        again = runs_the_rest(run.folder)
        are = "are" if run.missing > 1 else "is"
        what = f"{run.missing:,} of {len(run.plan.units):,} units {are} missing"
        say(messages(), f"{what}; what is done is kept, {again} runs the rest")
    status = ExitStatus.UNITS_FAILED if run.missing else _verdict(run, summary)
    if as_json:
        print_json(run_document(run, summary, status))
    return status


def print_study(run: FinishedStudy, summary: Mapping[str, Any]) -> None:
    """Prints what a reader looks at first: what was sought, or else the comparison."""
    console, variants = output(), list(run.study.variants)
    if "capacity" in summary:
        print_capacity(console, summary["capacity"])
    elif "sensitivity" in summary:
        print_sensitivity(console, summary["sensitivity"])
    else:
        print_tables(console, comparison_tables(summary, variants, run.plan.points))
    if "precision" in summary:
        table = precision_table(summary["precision"], run.unit_cpu_s, len(variants))
        print_tables(console, [table])


def print_capacity(console: Console, found: Mapping[str, Any]) -> None:
    """Prints all cases, each in a line and in a sentence."""
    print_tables(console, capacity_tables(found))
    cases = (capacity_sentence(found, case) for case in found["cases"])
    for sentence in (*capacity_changes(found), *cases):
        print_text(console, sentence)


def print_sensitivity(console: Console, found: Mapping[str, Any]) -> None:
    """Prints what was varied, then a table and a sentence an outcome."""
    print_tables(console, [factor_table(found)])
    for table, says in weight_tables(found):
        print_tables(console, [table])
        console.print(Text(says), end="\n\n")


def _verdict(run: FinishedStudy, summary: Mapping[str, Any]) -> int:
    """Prints claims, cases that are not stable, and the last line; returns the exit status."""
    for claim in summary["expectations"]:
        say(output(), claim_line(claim, summary))
    for violation in summary["invariants"]["violations"]:
        say(output(), f"violated: {violation['variant']}, replication "
                      f"{violation['replication']}: {violation['what']}")  # fmt: skip
    stopped = summary["verdict"]["stopped"]
    for line in verdict_lines(summary["units"]):
        say(output(), line, "red" if line in stopped else "")
    for line in warning_lines(summary.get("warnings", [])):
        say(output(), line, "yellow")
    if "capacity" not in summary and "sensitivity" not in summary:  # Their tables say it.
        for sentence in sentences(said_in(run.folder)):
            say(output(), sentence, "bold")
    say(output(), last_line(run, summary))
    outcome = StudyOutcome(summary["verdict"]["outcome"])
    return ExitStatus.CLAIM_FAILED if outcome.fails else ExitStatus.FINE


def warning_lines(warnings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns what the study did not show, a few lines at most; the file's own were told before."""
    texts = [f"{_SAID[each['kind']]}: {each['text']}" for each in warnings if each["kind"] in _SAID]
    more = len(texts) - SHOWN_WARNINGS
    shown = texts if more <= 1 else texts[:SHOWN_WARNINGS]
    return shown if more <= 1 else [*shown, f"and {more:,} more warnings, in summary.json"]


def last_line(run: FinishedStudy, summary: Mapping[str, Any]) -> str:
    """Returns ``PASSED 300 s simulated in 41 s, 2.1 M events, ...`` and where results lie."""
    cost = summary["cost"]
    total_s = time.perf_counter() - run.begun_s
    reused = f", {count(run.reused, 'unit')} reused" if run.reused else ""
    invariants = summary["invariants"]
    return (
        f"{summary['verdict']['outcome'].upper()} {seconds(cost['simulated_s'])} simulated in "
        f"{total_s:.0f} s, {large_count(cost['events'], 'event')}, "
        f"{count(cost['transactions'], 'transaction')}{reused}, "
        f"{count(invariants['checked'], 'unit')} checked, "
        f"{count(len(invariants['violations']), 'violation')}: {run.folder}"
    )


_SOUGHT = ("capacity", "sensitivity", "precision")


def run_document(run: FinishedStudy, summary: Mapping[str, Any], status: int) -> dict[str, Any]:
    """Returns the document.

    Args:
        run: the study.
        summary: content of ``summary.json``; empty if no unit is done.
        status: the command's exit status.
    """
    page = run.folder / "report.html"
    return {
        "study": run.name,
        "folder": str(run.folder),
        "status": int(status),
        "passed": status == ExitStatus.FINE and bool(summary.get("verdict", {}).get("fine")),
        "verdict": summary.get("verdict"),
        "units": {"done": len(run.done), "failed": len(run.failed), "missing": run.missing},
        "expectations": summary.get("expectations", []),
        "violations": summary.get("invariants", {}).get("violations", []),
        "warnings": summary.get("warnings", []),
        "cost": summary.get("cost"),
        "report": str(page) if page.is_file() else None,
        "rows": list(_headline(summary.get("rows", []))),
        "comparisons": list(_headline(summary.get("comparisons", []))),
        **{name: summary[name] for name in _SOUGHT if name in summary},
    }


def _headline(rows: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Returns the rows that the tables on a terminal are made of."""
    keys = {(each.key.metric, each.key.class_, each.key.stat) for each in KEY_FIGURES}
    if isinstance(rows, RowTable):
        columns = rows.columns
        names = zip(columns["metric"], columns["class"], columns["stat"], strict=True)
        return RowTable(columns[[name in keys for name in names]], rows.points)
    return [row for row in rows if (row["metric"], row["class"], row["stat"]) in keys]


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
