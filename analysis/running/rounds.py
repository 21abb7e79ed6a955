"""Rounds of units: an experiment asks, what is missing is run, what came out is shown to it.

What a round has done is kept on disk, so an interrupted study asks the same questions again and
finds most of them answered.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Self

from analysis.experiments.experiment import Experiment, SeenUnits
from analysis.pipeline.object_store import ObjectStore
from analysis.pipeline.session import SparkStarter
from analysis.pipeline.unit_task import UnitJob
from analysis.program import module
from analysis.running.listener import AfterFailure, RunListener
from analysis.statistics.amounts import count
from analysis.study.finished_study import FinishedStudy
from analysis.study.ledger import read_ledger, scan
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.unit_folder import UnitRecord
from analysis.study.units import Unit, write_plan

Retry = Literal["missing", "failed"]
Plots = Literal["all", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSettings:
    """How a study's units are to be run."""

    folder: Path
    job: UnitJob
    starter: SparkStarter
    after_failure: AfterFailure = "go on"
    retry: Retry = "missing"
    """Whether units that failed before are run again."""
    plots: Plots = "all"
    """What is drawn in the end; the page has its charts either way."""

    @classmethod
    def of(
        cls,
        study: Study,
        folder: Path,
        starter: SparkStarter,
        store: ObjectStore | None = None,
        **said: Any,
    ) -> Self:
        """Returns settings for a study in its folder, with the model; ``said``: other fields."""
        job = UnitJob(study, str((folder / "units").resolve()), store=store)
        return cls(folder=folder, job=job, starter=starter, **said)


@dataclass(slots=True)
class RoundProgress:
    """How far a study has come."""

    plan: Plan
    seen: SeenUnits
    done: dict[Unit, UnitRecord] = field(default_factory=dict)
    failed: dict[Unit, str] = field(default_factory=dict)
    """The error of each."""
    reused: int = 0
    """How many of the finished units were there before."""
    failed_before: int = 0
    """How many units failed in an earlier run and were left alone."""

    def finished(
        self, settings: RoundSettings, experiment: Experiment, name: str, begun_s: float
    ) -> FinishedStudy:
        """Returns the study that rounds have brought so far, with what its experiment found."""
        sought = bool(experiment.keys())
        return FinishedStudy(
            study=settings.job.study,
            name=name,
            folder=settings.folder,
            plan=self.plan,
            done={unit: self.done[unit] for unit in self.plan.units if unit in self.done},
            failed=self.failed,
            reused=self.reused,
            master=settings.starter.master,
            begun_s=begun_s,
            found={experiment.name: experiment.conclusion(self.seen)} if sought else {},
        )


def run_rounds(
    settings: RoundSettings,
    experiment: Experiment,
    plan: Plan,
    listener: RunListener,
) -> RoundProgress:
    """Runs everything that an experiment asks for, as far as units do not fail.

    Args:
        settings: where, with what.
        experiment: what asks.
        plan: takes what is asked for.
        listener: is told how it goes.
    """
    progress = RoundProgress(plan, SeenUnits(plan))
    while asked := plan.add(experiment.requests(progress.seen)):
        write_plan(settings.folder, plan)
        before = len(progress.done)
        missing = _take_ledger(settings, progress, asked, listener)
        progress.reused += len(progress.done) - before
        listener.round_begins(plan, asked, len(progress.done) - before)
        if missing:
            said = experiment.progress(progress.seen)
            if said:
                listener.note(said)
            _run_missing(settings, progress, missing, listener)
        if progress.failed and settings.after_failure == "stop":
            break
        if experiment.keys():
            show(settings, experiment, progress)
    return progress


def _take_ledger(
    settings: RoundSettings, progress: RoundProgress, asked: Sequence[Unit], listener: RunListener
) -> list[Unit]:
    """Takes what is done; returns what is to be run."""
    units_dir = settings.folder / "units"
    ledger = read_ledger(units_dir, asked, settings.job.model)
    progress.done |= ledger.done
    missing = list(ledger.missing)
    if settings.retry == "failed":
        missing = [unit for unit in asked if unit not in ledger.done]
    else:
        progress.failed |= ledger.failed
        progress.failed_before += len(ledger.failed)
    there = scan(units_dir).done
    outdated = sum(unit.unit_hash in there for unit in missing)
    if outdated:
        listener.note(f"{count(outdated, 'unit')} there are damaged or were made by another "
                      "version of the model, and are run again")  # fmt: skip
    return missing


def _run_missing(
    settings: RoundSettings,
    progress: RoundProgress,
    missing: Sequence[Unit],
    listener: RunListener,
) -> None:
    """Runs units, and takes what became of them, also when it is interrupted."""
    spark = settings.starter.context()
    from analysis.pipeline.run_units import run_units

    threading.Thread(target=_import_reporting, name="imports", daemon=True).start()
    with listener.units_run(progress.plan, missing, settings.folder) as watch:
        ledger = run_units(spark, settings.job, progress.plan.points, missing, watch)
    progress.done |= ledger.done
    progress.failed |= ledger.failed


def _import_reporting() -> None:
    """Imports what the report needs (2 s) while the driver waits for units anyway."""
    for name in ("plots.study_plots", "report.study_summary", "pipeline.course_tables",
                 "pipeline.plot_tables"):  # fmt: skip
        import_module(module(f"analysis.{name}"))


def show(settings: RoundSettings, experiment: Experiment, progress: RoundProgress) -> None:
    """Shows an experiment what has been finished, or has failed, since it was shown something."""
    progress.seen.take_failed(unit.unit_hash for unit in progress.failed)
    fresh = {
        unit: record
        for unit, record in progress.done.items()
        if unit.unit_hash not in progress.seen
    }
    if not fresh:
        return
    from analysis.pipeline.study_tables import read_unit_metrics

    spark = settings.starter.readers()
    records = list(fresh.values())
    metrics = read_unit_metrics(
        spark,
        Path(settings.job.units_dir).resolve(),
        records,
        experiment.keys(),
        settings.job.study.run.batches,
    )
    progress.seen.take({record.unit_hash: record.verdict for record in records}, metrics)
