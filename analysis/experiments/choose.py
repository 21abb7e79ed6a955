"""Which experiment a study is; without a question of its own, all its replications at once."""

from __future__ import annotations

from analysis.experiments.capacity import CapacitySearch
from analysis.experiments.experiment import Experiment, SeenUnits
from analysis.experiments.sensitivity import SensitivityAnalysis
from analysis.experiments.sequential import SequentialDesign
from analysis.study.plan import Plan
from analysis.study.run import Precision
from analysis.study.study import Study


def first_round(study: Study) -> tuple[int, str]:
    """Returns how many units a study runs before it has seen any, and what they are to show.

    The words are empty if no other units can follow.
    """
    plan, experiment = Plan(study), experiment_of(study)
    seen = SeenUnits(plan)
    units = len(plan.add(experiment.requests(seen)))
    return units, experiment.progress(seen) if experiment.keys() else ""


def experiment_of(study: Study) -> Experiment:
    """Returns what the file asks for; a file asks for one of them at most."""
    points, variants, replications = study.points, list(study.variants), study.replications
    if study.capacity is not None:
        return CapacitySearch(study)
    if study.sensitivity is not None:
        return SensitivityAnalysis(study)
    precision = study.precision or Precision((), replications)
    return SequentialDesign(points, variants, replications, precision)
