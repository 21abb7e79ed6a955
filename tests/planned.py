"""The units of a plain design, for tests that need some without running rounds."""

from __future__ import annotations

from analysis.experiments.choose import experiment_of
from analysis.experiments.experiment import SeenUnits
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.units import Unit


def plan_units(study: Study) -> list[Unit]:
    """Returns what a study asks for at first: of a plain design, all its units."""
    plan = Plan(study)
    return plan.add(experiment_of(study).requests(SeenUnits(plan)))
