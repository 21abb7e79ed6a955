"""Which experiment a study is."""

from __future__ import annotations

from analysis.experiments.capacity import CapacitySearch
from analysis.experiments.experiment import Experiment, FixedDesign
from analysis.experiments.sensitivity import SensitivityAnalysis
from analysis.experiments.sequential import SequentialDesign
from analysis.study.study import Study


def experiment_of(study: Study) -> Experiment:
    """Returns what the file asks for; a file asks for one of them at most."""
    points, variants, replications = study.points, list(study.variants), study.replications
    if study.capacity is not None:
        return CapacitySearch(study)
    if study.sensitivity is not None:
        return SensitivityAnalysis(study)
    if study.precision is not None:
        return SequentialDesign(points, variants, replications, study.precision)
    return FixedDesign(points, variants, replications)
