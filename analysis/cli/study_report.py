"""From finished units: tables, summary, plots, manifest, and the words at the end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from analysis.cli.console import messages, output, phase, say
from analysis.cli.exit_status import ExitStatus
from analysis.pipeline.session import SparkStarter
from analysis.report.freshness import MANIFEST, is_finished, present_summary, result_digests
from analysis.report.manifest import UnitsSaid, commit, host_words, manifest, package_versions
from analysis.study.ledger import read_ledger
from analysis.study.plan import Plan, ResolvedStudy, Unit
from analysis.study.plan_file import read_plan
from analysis.study.study_folder import write_text_whole
from analysis.study.unit_folder import UnitRecord

if TYPE_CHECKING:
    from analysis.cli.rounds import Plots, RoundProgress, RoundSettings
    from analysis.experiments.experiment import Experiment
    from analysis.page.provenance import Provenance
    from analysis.pipeline.study_tables import StudyTables
    from analysis.plots.drawn import Drawn

MOST_TABLES: Final = 4
"""Points that get a full table each."""
SHOWN_WARNINGS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRun:
    """A study whose units have been run, as far as they could be."""

    study: ResolvedStudy
    name: str
    folder: Path
    plan: Plan
    done: Mapping[Unit, UnitRecord]
    reused: int
    failed: Mapping[Unit, str]
    master: str
    begun_s: float
    found: Mapping[str, Any] = field(default_factory=dict)
    """What an experiment has found, under its name."""
    plots: Plots = "all"

    @classmethod
    def of(
        cls,
        settings: RoundSettings,
        progress: RoundProgress,
        experiment: Experiment,
        *,
        name: str,
        begun_s: float,
    ) -> Self:
        """Returns the study that rounds have brought so far."""
        return cls(
            study=settings.job.study,
            name=name,
            folder=settings.folder,
            plan=progress.plan,
            done=progress.done_in_order(),
            reused=progress.reused,
            failed=progress.failed,
            master=settings.starter.master,
            begun_s=begun_s,
            found=progress.conclusion(experiment),
            plots=settings.plots,
        )

    @property
    def missing(self) -> int:
        """How many units that were asked for are not done."""
        return len(self.plan.units) - len(self.done)


Listener = Callable[[StudyRun, Mapping[str, Any], int], None]
"""Takes a study, its summary (empty if no unit is done) and the exit status, at the very end."""


def no_listener(_run: StudyRun, _summary: Mapping[str, Any], _status: int) -> None:
    """Does nothing: what was printed is enough."""


def report_unchanged(
    folder: Path, study: ResolvedStudy, model: str, begun_s: float, listener: Listener = no_listener
) -> int | None:
    """Prints what is known already, without Spark, if nothing has changed since.

    Returns:
        The exit status; None if there is something to do.
    """
    if not is_finished(folder, study):
        return None
    known = read_plan(folder)
    plan = Plan.of(study, known.points, known.units)
    ledger = read_ledger(folder / "units", plan.units, model)
    if len(ledger.done) < len(plan.units):
        return None
    summary = present_summary(folder, study, ledger.done)
    if summary is None:
        return None
    run = StudyRun(
        study=study,
        name=study.name,
        folder=folder,
        plan=plan,
        done=ledger.done,
        reused=len(ledger.done),
        failed={},
        master="",
        begun_s=begun_s,
    )
    say(output(), f"study {study.name}: all {len(plan.units):,} units are done")
    print_study(run, summary)
    say(output(), "nothing has changed since this was computed; `report` computes it again")
    status = _verdict(run, summary)
    listener(run, summary, status)
    return status


def report_study(run: StudyRun, starter: SparkStarter, listener: Listener = no_listener) -> int:
    """Writes all files of the study and prints the comparison; returns the exit status."""
    units_s = time.perf_counter() - run.begun_s
    phases: dict[str, float] = {"until_units_done": round(units_s, 3)}
    summary: dict[str, Any] = {}
    if run.done:
        summary = _summarise(run, starter, phases)
    _write_manifest(run, phases)
    if run.missing:
        say(
            messages(),
            f"{run.missing:,} of {len(run.plan.units):,} units are missing; what is done is kept "
            f"in {run.folder}, the same command runs the rest",
        )
    status = ExitStatus.UNITS_FAILED if run.missing else _verdict(run, summary)
    listener(run, summary, status)
    return status


def _summarise(run: StudyRun, starter: SparkStarter, phases: dict[str, float]) -> dict[str, Any]:
    from analysis.pipeline.study_tables import FIGURE_POINTS

    with phase(f"summing up {len(run.done):,} units"):
        tables, summary = summed_up(run, starter, _points_drawn(run, FIGURE_POINTS))
    print_study(run, summary)
    from analysis.export.openmetrics import write_metrics
    from analysis.page.study_page import write_page
    from analysis.plots.study_plots import clear_plots, write_study_plots

    metrics_begun_s = time.perf_counter()
    write_metrics(run.folder, run)
    plots_begun_s = time.perf_counter()
    drawn: list[Drawn] = []
    if run.plots == "none":
        clear_plots(run.folder / "plots")
    else:
        with phase("drawing pictures"):
            drawn = write_study_plots(run.folder / "plots", run, summary, tables)
    page_begun_s = time.perf_counter()
    with phase("writing the page"):
        page = write_page(run.folder, run, summary, tables, drawn, _provenance(run))
    phases |= {
        "spark_start": round(starter.start_s, 3),
        "facts": round(tables.facts_s, 3),
        "metrics": round(plots_begun_s - metrics_begun_s, 3),
        "plots": round(page_begun_s - plots_begun_s, 3),
        "page": round(time.perf_counter() - page_begun_s, 3),
    }
    say(output(), f"Spark: start {starter.start_s:.1f} s, facts {tables.facts_s:.1f} s")
    say(output(), f"report: {page}")
    return summary


def summed_up(
    run: StudyRun, starter: SparkStarter, figure_points: int
) -> tuple[StudyTables, dict[str, Any]]:
    """Aggregates the facts and writes the summary; returns the tables and its content."""
    spark = starter.context()
    from analysis.pipeline.study_tables import read_study_tables
    from analysis.report.study_summary import study_summary
    from analysis.report.summary_file import write_summary

    tables = read_study_tables(spark, run.folder, run.done, figure_points)
    summary = study_summary(run, tables, time.perf_counter() - run.begun_s)
    write_summary(run.folder, summary)
    return tables, summary


def _provenance(run: StudyRun) -> Provenance:
    from analysis.page.provenance import Provenance

    return Provenance(
        folder=str(run.folder),
        commit=commit(),
        versions=package_versions(),
        host=host_words(),
        master=run.master,
        wall_s=time.perf_counter() - run.begun_s,
    )


def _points_drawn(run: StudyRun, most: int) -> int:
    """Returns how many points get figures of their own: all, or none if they are too many."""
    searched = run.study.capacity is not None or run.study.sensitivity is not None
    few = len(run.plan.points) <= most
    return len(run.plan.points) if few and not searched else 0


def print_study(run: StudyRun, summary: Mapping[str, Any]) -> None:
    """Prints what a reader looks at first: what was sought, or else the comparison."""
    if "capacity" in summary:
        from analysis.report.capacity_table import print_capacity

        print_capacity(output(), summary["capacity"])
    elif "sensitivity" in summary:
        from analysis.report.sensitivity_table import print_sensitivity

        print_sensitivity(output(), summary["sensitivity"])
    else:
        _print_comparison(run, summary)
    if "precision" in summary:
        from analysis.report.precision_table import print_precision

        print_precision(output(), summary["precision"])


def _print_comparison(run: StudyRun, summary: Mapping[str, Any]) -> None:
    """Prints a table a point, or with many points a table an outcome."""
    variants, points = list(run.study.variants), run.plan.points
    if len(points) > MOST_TABLES:
        from analysis.report.sweep_table import print_sweep

        print_sweep(output(), summary, variants, points)
    else:
        from analysis.report.table import print_comparison

        print_comparison(output(), summary, variants, points)


def _write_manifest(run: StudyRun, phases: dict[str, float]) -> None:
    phases["total"] = round(time.perf_counter() - run.begun_s, 3)
    failed = {unit.unit_hash: error for unit, error in run.failed.items()}
    said = UnitsSaid(done=run.done, failed=failed, reused=run.reused, finished=not run.missing)
    results = result_digests(run.folder)
    content = manifest(run.name, run.study, said, results, phases, run.master)
    write_text_whole(run.folder / MANIFEST, json.dumps(content, indent=1) + "\n")


def _verdict(run: StudyRun, summary: Mapping[str, Any]) -> int:
    """Prints claims that do not hold, cases that are not stable, and the last line."""
    from analysis.report.expectations import claim_line
    from analysis.report.refusal import verdict_lines

    broken = [claim for claim in summary["expectations"] if not claim["holds"]]
    violations = summary["invariants"]["violations"]
    for claim in summary["expectations"]:
        say(output(), claim_line(claim, summary))
    for violation in violations:
        say(output(), f"violated: {violation['variant']}, replication "
                      f"{violation['replication']}: {violation['what']}")  # fmt: skip
    for line in verdict_lines(summary["units"]):
        say(output(), line)
    for line in warning_lines(summary.get("warnings", [])):
        say(output(), line, "yellow")
    say(output(), last_line(run, summary, passed=not broken and not violations))
    return ExitStatus.CLAIM_FAILED if broken or violations else ExitStatus.FINE


def warning_lines(warnings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns what the study did not show, a few lines at most; the file's own were told before."""
    texts = [f"warning: {each['text']}" for each in warnings if each["kind"] != "scenario"]
    more = len(texts) - SHOWN_WARNINGS
    shown = texts if more <= 1 else texts[:SHOWN_WARNINGS]
    return shown if more <= 1 else [*shown, f"and {more:,} more warnings, in summary.json"]


def last_line(run: StudyRun, summary: Mapping[str, Any], *, passed: bool) -> str:
    """Returns ``PASSED 300 s simulated in 41 s, 2.1 M events, ...`` and where results lie."""
    cost = summary["cost"]
    total_s = time.perf_counter() - run.begun_s
    reused = f", {run.reused} units reused" if run.reused else ""
    return (
        f"{'PASSED' if passed else 'FAILED'} {cost['simulated_s']:.0f} s simulated in "
        f"{total_s:.0f} s, {cost['events'] / 1e6:.1f} M events, {cost['transactions']:,} "
        f"transactions{reused}, {summary['invariants']['checked']} units checked, "
        f"{len(summary['invariants']['violations'])} violations: {run.folder}"
    )
