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

from analysis.experiments.choose import experiment_of
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
class Rounds:
    """A study on its way: what its experiment has asked for, and what became of it."""

    settings: RoundSettings
    plan: Plan
    """Takes what is asked for."""
    done: dict[Unit, UnitRecord] = field(default_factory=dict)
    failed: dict[Unit, str] = field(default_factory=dict)
    """The error of each."""
    reused: int = 0
    """How many of the finished units were there before."""
    failed_before: int = 0
    """How many units failed in an earlier run and were left alone."""
    experiment: Experiment = field(init=False)
    seen: SeenUnits = field(init=False)

    def __post_init__(self) -> None:
        self.experiment = experiment_of(self.settings.job.study)
        self.seen = SeenUnits(self.plan)

    def run(self, listener: RunListener) -> None:
        """Runs everything that the experiment asks for, as far as units do not fail."""
        while asked := self.plan.add(self.experiment.requests(self.seen)):
            write_plan(self.settings.folder, self.plan)
            before = len(self.done)
            missing = self._take_ledger(asked, listener)
            self.reused += len(self.done) - before
            listener.round_begins(self.plan, asked, len(self.done) - before)
            if missing:
                said = self.experiment.progress(self.seen)
                if said:
                    listener.note(said)
                self._run_missing(missing, listener)
            if self.failed and self.settings.after_failure == "stop":
                break
            self.show()

    def _take_ledger(self, asked: Sequence[Unit], listener: RunListener) -> list[Unit]:
        """Takes what is done; returns what is to be run."""
        units_dir = self.settings.folder / "units"
        ledger = read_ledger(units_dir, asked, self.settings.job.model)
        self.done |= ledger.done
        missing = list(ledger.missing)
        if self.settings.retry == "failed":
            missing = [unit for unit in asked if unit not in ledger.done]
        else:
            self.failed |= ledger.failed
            self.failed_before += len(ledger.failed)
        there = scan(units_dir).done
        outdated = sum(unit.unit_hash in there for unit in missing)
        if outdated:
            listener.note(f"{count(outdated, 'unit')} there are damaged or were made by another "
                          "version of the model, and are run again")  # fmt: skip
        return missing

    def _run_missing(self, missing: Sequence[Unit], listener: RunListener) -> None:
        """Runs units, and takes what became of them, also when it is interrupted."""
        spark = self.settings.starter.context()
        from analysis.pipeline.run_units import run_units

        threading.Thread(target=_import_reporting, name="imports", daemon=True).start()
        with listener.units_run(self.plan, missing, self.settings.folder) as watch:
            ledger = run_units(spark, self.settings.job, self.plan.points, missing, watch)
        self.done |= ledger.done
        self.failed |= ledger.failed

    def show(self) -> None:
        """Shows an experiment that looks what is finished, or failed, since it was shown some."""
        if not self.experiment.keys():
            return
        self.seen.take_failed(unit.unit_hash for unit in self.failed)
        fresh = [record for unit, record in self.done.items() if unit.unit_hash not in self.seen]
        if not fresh:
            return
        from analysis.pipeline.study_tables import read_unit_metrics

        job, spark = self.settings.job, self.settings.starter.readers()
        units_dir, batches = Path(job.units_dir).resolve(), job.study.run.batches
        metrics = read_unit_metrics(spark, units_dir, fresh, self.experiment.keys(), batches)
        self.seen.take({record.unit_hash: record.verdict for record in fresh}, metrics)

    def finished(self, name: str, begun_s: float) -> FinishedStudy:
        """Returns the study that rounds have brought so far, with what its experiment found."""
        experiment = self.experiment
        sought = bool(experiment.keys())
        return FinishedStudy(
            study=self.settings.job.study,
            name=name,
            folder=self.settings.folder,
            plan=self.plan,
            done={unit: self.done[unit] for unit in self.plan.units if unit in self.done},
            failed=self.failed,
            reused=self.reused,
            master=self.settings.starter.master,
            begun_s=begun_s,
            found={experiment.name: experiment.conclusion(self.seen)} if sought else {},
        )


def _import_reporting() -> None:
    """Imports what the report needs (2 s) while the driver waits for units anyway."""
    for name in ("plots.study_plots", "report.summary", "pipeline.course_tables",
                 "pipeline.plot_tables"):  # fmt: skip
        import_module(module(f"analysis.{name}"))
