"""What an experiment and the loop that runs its units say to each other, and what it has seen."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.metrics.catalogue import MetricKey
from analysis.statistics.saturation import Verdict
from analysis.study.plan import Plan

if TYPE_CHECKING:
    import pandas as pd


class Request(NamedTuple):
    """A unit that an experiment asks for."""

    point: Mapping[str, Any]
    """Settings beside those of the file: a point of the study, and what the experiment varies."""
    variant: str
    replication: int


class Seen(ABC):
    """What finished units have given; a queue with a known answer can stand behind it as well."""

    @abstractmethod
    def value(self, request: Request, key: MetricKey) -> float:
        """Returns a unit's value; NaN if the unit is not finished or has no such value."""

    def values(self, request: Request, key: MetricKey) -> tuple[float, ...]:
        """Returns the values of a unit's batches; by default it is one."""
        return (self.value(request, key),)

    @abstractmethod
    def verdict(self, request: Request) -> Verdict | None:
        """Returns how settled a unit was; None if it is not finished."""

    def failed(self, request: Request) -> bool:  # noqa: ARG002 - for what can fail
        """Returns whether a unit has failed, so that it is not waited for."""
        return False


class Experiment(ABC):
    """One kind of study; unless it says otherwise it seeks nothing and asks for all at once."""

    name = ""
    """Its key in ``summary.json``."""

    def keys(self) -> tuple[MetricKey, ...]:
        """Returns the values that it has to see; none: it asks for everything at once."""
        return ()

    @abstractmethod
    def requests(self, seen: Seen) -> list[Request]:
        """Returns every unit that follows from what was seen, those already run included.

        The loop ends when all of them are done or have failed.
        """

    def progress(self, seen: Seen) -> str:  # noqa: ARG002 - for experiments that look
        """Returns one line: what is sought, and how far it is; empty if there is nothing to say."""
        return ""

    def conclusion(self, seen: Seen) -> dict[str, Any]:  # noqa: ARG002
        """Returns what was found, for ``summary.json``."""
        return {}


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
