"""Which experiment a study is; without a question of its own, the plain design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.experiments.capacity import CapacitySearch
from analysis.experiments.experiment import Experiment, Request, Seen
from analysis.experiments.seen_units import SeenUnits
from analysis.experiments.sensitivity import SensitivityAnalysis
from analysis.experiments.sequential import SequentialDesign
from analysis.study.plan import Plan
from analysis.study.study import Study


class FixedDesign(Experiment):
    """Points × variants × replications, replications outermost.

    A study that is stopped early then has all variants at the same number of replications, and
    pairs under common random numbers are complete.
    """

    def __init__(
        self, points: Sequence[Mapping[str, Any]], variants: Sequence[str], replications: int
    ) -> None:
        self._requests = [
            Request(point, variant, replication)
            for replication in range(replications)
            for point in points
            for variant in variants
        ]

    def requests(self, seen: Seen) -> list[Request]:  # noqa: ARG002 - experiments' signature
        """Returns all units."""
        return self._requests


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
    if study.precision is not None:
        return SequentialDesign(points, variants, replications, study.precision)
    return FixedDesign(points, variants, replications)
