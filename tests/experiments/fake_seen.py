"""Seen values out of a function, for experiments without a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from analysis.experiments.experiment import Experiment, Request, Seen
from analysis.metrics.catalogue import MetricKey
from analysis.statistics.saturation import Verdict
from analysis.study.study import point_key

Model = Callable[[Request, MetricKey], float]


class FakeSeen(Seen):
    """What was run: values of a model, for the requests taken."""

    def __init__(self, model: Model, failing: Callable[[Request], bool] = lambda _: False) -> None:
        self._model = model
        self._failing = failing
        self.taken: dict[tuple[str, str, int], Request] = {}

    def take(self, requests: Iterable[Request]) -> int:
        """Runs requests; returns how many were new."""
        before = len(self.taken)
        for request in requests:
            self.taken[name_of(request)] = request
        return len(self.taken) - before

    def value(self, request: Request, key: MetricKey) -> float:
        """Returns the model's value."""
        return self._model(request, key) if self.verdict(request) else math.nan

    def verdict(self, request: Request) -> Verdict | None:
        """Returns stable for what was run and did not fail."""
        known = name_of(request) in self.taken and not self._failing(request)
        return Verdict.STABLE if known else None


def name_of(request: Request) -> tuple[str, str, int]:
    """Returns what tells requests apart."""
    return point_key(request.point), request.variant, request.replication


def run_to_the_end(experiment: Experiment, seen: FakeSeen, most_rounds: int = 100) -> int:
    """Runs an experiment's rounds; returns how many there were."""
    for rounds in range(most_rounds):
        if not seen.take(experiment.requests(seen)):
            return rounds
    raise AssertionError(f"more questions after {most_rounds} rounds")
