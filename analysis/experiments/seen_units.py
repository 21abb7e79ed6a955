"""What the units of a plan have given so far, by request."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import TYPE_CHECKING

from analysis.experiments.experiment import Request, Seen
from analysis.metrics.catalogue import MetricKey
from analysis.statistics.saturation import Verdict
from analysis.study.plan import Plan

if TYPE_CHECKING:
    import pandas as pd


class SeenUnits(Seen):
    """Values and verdicts of finished units, and which have failed; grows from round to round."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._batches = plan.study.run.batches
        self._values: dict[str, dict[tuple[int, str, str, str], float]] = {}
        self._verdicts: dict[str, Verdict] = {}
        self._failed: set[str] = set()

    def __contains__(self, unit_hash: str) -> bool:
        """Returns whether a unit has been taken."""
        return unit_hash in self._verdicts

    def take(self, verdicts: Mapping[str, str], metrics: pd.DataFrame) -> None:
        """Takes finished units.

        Args:
            verdicts: of each, by hash.
            metrics: ``unit_hash``, ``batch``, ``metric``, ``class``, ``stat``, ``value`` in
                published units.
        """
        for unit_hash, verdict in verdicts.items():
            self._verdicts[unit_hash] = Verdict(verdict)
            self._values[unit_hash] = {}
        columns = ("unit_hash", "batch", "metric", "class", "stat", "value")
        rows: Iterable[tuple[str, int, str, str, str, float]] = zip(
            *(metrics[column] for column in columns), strict=True
        )
        for unit_hash, batch, metric, class_, stat, value in rows:
            name = (int(batch), str(metric), str(class_), str(stat))
            self._values[str(unit_hash)][name] = float(value)

    def take_failed(self, hashes: Iterable[str]) -> None:
        """Takes units that have failed."""
        self._failed.update(hashes)

    def value(self, request: Request, key: MetricKey) -> float:
        """Returns a unit's value, the mean of its batches'.

        It is NaN if there is none, or if it is a latency that means nothing.
        """
        return fmean(self.values(request, key))

    def values(self, request: Request, key: MetricKey) -> tuple[float, ...]:
        """Returns the values of a unit's batches, each as ``value``."""
        unit = self._plan.find(*request)
        if unit is None or unit.unit_hash not in self._verdicts:
            return (math.nan,) * self._batches
        if key.metric.endswith("_ms") and not self._verdicts[unit.unit_hash].carried:
            return (math.nan,) * self._batches
        values = self._values[unit.unit_hash]
        name = (key.metric, key.class_, key.stat)
        return tuple(values.get((batch, *name), math.nan) for batch in range(self._batches))

    def verdict(self, request: Request) -> Verdict | None:
        """Returns how settled a unit was; None if it is not finished."""
        unit = self._plan.find(*request)
        return None if unit is None else self._verdicts.get(unit.unit_hash)

    def failed(self, request: Request) -> bool:
        """Returns whether a unit has failed."""
        unit = self._plan.find(*request)
        return unit is not None and unit.unit_hash in self._failed
