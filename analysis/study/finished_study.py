"""A study whose units have been run: what summary, figures and pages are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from analysis.study.ledger import read_ledger, scan
from analysis.study.load import load_study
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.study_folder import StudyFolderError, no_study, runs_the_rest
from analysis.study.unit_folder import UnitRecord
from analysis.study.units import Unit, read_plan


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedStudy:
    """A study whose units have been run, as far as they could be."""

    study: Study
    name: str
    """The study's name, for headings."""
    folder: Path
    plan: Plan
    """Its points, by ``point_index``, and the units that were asked for."""
    done: Mapping[Unit, UnitRecord]
    """Finished units, in the order of the plan."""
    failed: Mapping[Unit, str] = field(default_factory=dict)
    """The error of each."""
    reused: int = 0
    """How many of the finished units were there before."""
    master: str = ""
    begun_s: float = 0.0
    """When the command began, on ``perf_counter``."""
    found: Mapping[str, Any] = field(default_factory=dict)
    """What an experiment has found, under its name."""

    @classmethod
    def in_folder(
        cls, folder: Path, study: Study, name: str, model: str | None = None, **said: Any
    ) -> Self:
        """Returns a study as its folder has it.

        Args:
            folder: the study's.
            study: what its ``scenario.yaml`` says.
            name: for headings.
            model: digest of the model that must have made the units; None for any.
            said: other fields.

        Raises:
            StudyFolderError: if the folder has no plan.
        """
        plan = Plan.of(study, read_plan(folder))
        ledger = read_ledger(folder / "units", plan.units, model)
        return cls(
            study=study,
            name=name,
            folder=folder,
            plan=plan,
            done=ledger.done,
            failed=ledger.failed,
            reused=len(ledger.done),
            **said,
        )

    @property
    def missing(self) -> int:
        """How many units that were asked for are not done."""
        return len(self.plan.units) - len(self.done)

    @property
    def unit_cpu_s(self) -> float:
        """CPU time that a unit took, on average."""
        return sum(record.cpu_s for record in self.done.values()) / max(len(self.done), 1)


def load_folder(folder: Path) -> Study:
    """Returns the study of a folder.

    Raises:
        StudyFolderError: if it is no study's.
        ScenarioError: with what is wrong with its scenario.
    """
    scenario = folder / "scenario.yaml"
    if not scenario.is_file():
        raise StudyFolderError(no_study(folder, "scenario.yaml"))
    return load_study(scenario)


def finished_study(folder: Path, study: Study) -> FinishedStudy:
    """Returns a folder's study as far as it is finished, under the name by which it was run.

    Raises:
        StudyFolderError: if nothing of it is.
    """
    run = FinishedStudy.in_folder(folder, study, _name(folder))
    if not run.done:
        whole = "agrees with its digests" if scan(folder / "units").done else "is finished"
        message = f"{folder}: no unit {whole}; {runs_the_rest(folder)} runs them"
        raise StudyFolderError(message)
    return run


def _name(folder: Path) -> str:
    """Returns the name under which the study was run, else the folder's."""
    try:
        content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    said = content.get("study") if isinstance(content, dict) else None
    return str(said or folder.resolve().name)
