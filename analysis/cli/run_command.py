"""``run``: from a scenario file to a study folder.

The order is chosen so that nothing waits that need not: the scenario is checked, units that are
done are found, and Spark is started only when there is work for it.
"""

from __future__ import annotations

import hashlib
import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.cli.console import messages, output, say
from analysis.cli.exit_status import ExitStatus
from analysis.cli.progress import unit_progress
from analysis.cli.study_report import StudyRun, not_written, report_study
from analysis.pipeline.session import SparkStarter, SparkStartError, stop_spark
from analysis.pipeline.unit_task import MODEL, UnitJob, UnitOutcome
from analysis.report.manifest import commit
from analysis.study.ledger import Ledger, read_ledger
from analysis.study.plan import ResolvedStudy, Unit, plan_units
from analysis.study.study_folder import (
    StudyFolderError,
    locked_study_folder,
    write_text_whole,
)

if TYPE_CHECKING:
    from rich.console import Console

RESULTS = Path("results")
SHOWN_FAILURES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What the command line asks for."""

    file: Path
    out: Path | None = None
    seed: int | None = None
    replications: int | None = None
    overrides: tuple[str, ...] = ()
    master: str = "local[*]"
    unit_function: str | None = None


def run_command(request: RunRequest) -> int:
    """Runs a study; returns the exit status."""
    begun_s = time.perf_counter()
    starter = SparkStarter(request.master)
    try:
        study = _load(request)
        return ExitStatus.BAD_INPUT if study is None else _run(request, study, starter, begun_s)
    except StudyFolderError as error:
        say(messages(), str(error))
        return ExitStatus.BAD_INPUT
    except SparkStartError as error:
        say(messages(), str(error))
        return ExitStatus.UNITS_FAILED
    except OSError as error:
        say(messages(), not_written(error))
        return ExitStatus.UNITS_FAILED
    finally:
        stop_spark(starter)


def _run(request: RunRequest, study: ResolvedStudy, starter: SparkStarter, begun_s: float) -> int:
    folder = request.out or RESULTS / study.name
    job = UnitJob(study, str((folder / "units").resolve()), request.unit_function or MODEL)
    with locked_study_folder(folder):
        write_text_whole(folder / "scenario.yaml", study.resolved_yaml())
        return run_study(folder, job, starter, begun_s)


def _load(request: RunRequest) -> ResolvedStudy | None:
    from sim.scenario import ScenarioError, load_study

    try:
        return load_study(
            request.file,
            list(request.overrides),
            seed=request.seed,
            replications=request.replications,
        )
    except ScenarioError as error:
        for problem in error.problems:
            say(messages(), str(problem))
        return None


def run_study(folder: Path, job: UnitJob, starter: SparkStarter, begun_s: float) -> int:
    """Runs what is missing in a locked folder and reports the whole.

    Args:
        folder: the study's folder.
        job: the study, and how its units are run.
        starter: Spark on its way.
        begun_s: when the command began, on ``perf_counter``.
    """
    study, told = job.study, messages()
    plan = plan_units(study)
    before = read_ledger(folder / "units", plan, job.model)
    if before.missing:
        starter.begin()
    say(output(), _first_line(study, plan, before))
    _remove_outdated(told, folder / "units", before.missing)
    try:
        failed = _run_missing(told, job, before.missing, starter)
    except KeyboardInterrupt:
        ledger = read_ledger(folder / "units", plan)
        say(told, f"interrupted: {len(ledger.done)} of {len(plan)} units are done and kept; "
                  f"the same command goes on from there")  # fmt: skip
        raise
    _tell_failures(told, failed, {unit.unit_hash: str(unit) for unit in plan})
    after = read_ledger(folder / "units", before.missing)
    done = {unit: (before.done | after.done)[unit] for unit in plan if unit not in after.missing}
    return report_study(
        StudyRun(
            study=study,
            name=study.name,
            folder=folder,
            done=done,
            reused=len(before.done),
            failed=failed,
            missing=len(after.missing),
            master=starter.master,
            begun_s=begun_s,
        ),
        starter,
    )


def _first_line(study: ResolvedStudy, plan: Sequence[Unit], ledger: Ledger) -> str:
    run = study.scenario(study.points[0], next(iter(study.variants))).run
    points = f" × {len(study.points)} points" if len(study.points) > 1 else ""
    hashes = "".join(unit.unit_hash for unit in plan)
    kept = f" ({len(ledger.done)} already done)" if ledger.done else ""
    return (
        f"study {study.name}: {_count(len(study.variants), 'variant')}{points} × "
        f"{_count(run.replications, 'replication')} = {_count(len(plan), 'unit')}{kept}; "
        f"seed {run.seed}, "
        f"config {hashlib.sha256(hashes.encode()).hexdigest()[:12]}, commit {commit() or 'unknown'}"
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _remove_outdated(told: Console, units_dir: Path, missing: Sequence[Unit]) -> None:
    """Removes damaged units and those of another model, so that what exists is what is done."""
    outdated = [unit for unit in missing if (units_dir / unit.unit_hash).exists()]
    for unit in outdated:
        shutil.rmtree(units_dir / unit.unit_hash, ignore_errors=True)
    if outdated:
        say(told, f"{_count(len(outdated), 'unit')} there are damaged or were made by another "
                  f"version of the model, and are run again")  # fmt: skip


def _run_missing(
    told: Console, job: UnitJob, missing: Sequence[Unit], starter: SparkStarter
) -> dict[str, str]:
    """Runs units; returns the error of each that failed."""
    if not missing:
        return {}
    spark = starter.session()
    from analysis.pipeline.run_units import run_units

    threading.Thread(target=_import_reporting, name="imports", daemon=True).start()
    with unit_progress(told, len(missing)) as progress:
        outcomes: list[UnitOutcome] = run_units(spark, job, missing, progress.update)
    return {outcome.unit_hash: outcome.error for outcome in outcomes if outcome.error}


def _import_reporting() -> None:
    """Imports what the report needs (2 s) while the driver waits for units anyway."""
    import_module("analysis.plots.study_plots")
    import_module("analysis.report.study_summary")
    import_module("analysis.pipeline.course_tables")
    import_module("analysis.pipeline.plot_tables")


def _tell_failures(told: Console, failed: dict[str, str], names: dict[str, str]) -> None:
    for unit_hash, error in list(failed.items())[:SHOWN_FAILURES]:
        say(told, f"unit failed: {names[unit_hash]}: {error}")
    if len(failed) > SHOWN_FAILURES:
        say(told, f"... and {len(failed) - SHOWN_FAILURES} more; manifest.json has them all")
