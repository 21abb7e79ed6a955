"""The units of a study, in the order in which they were asked for.

A plan grows while an experiment asks for more; what it has been asked for stays. A unit is named by
the hash of everything that influences its facts, so two requests for the same simulation are one
unit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from sim.scenario.schema.operations import Operation
    from sim.scenario.schema.study import Capacity, Precision, Sensitivity

Point = Mapping[str, Any]


class RunSettings(Protocol):
    """What ``scenario.run`` must say for a unit to be run and judged."""

    @property
    def warmup_ns(self) -> int | None:
        """Simulated time to leave out, or None: found in the facts."""

    @property
    def window_ns(self) -> int:
        """Length of a window of facts."""

    @property
    def seed(self) -> int:
        """Of all random streams."""

    @property
    def checks(self) -> bool:
        """Whether observers watch for broken invariants."""


class ResolvedScenario(Protocol):
    """One variant at one point, ready to run, as far as units are judged by it."""

    @property
    def run(self) -> RunSettings:
        """Times, windows, seed."""

    @property
    def operations(self) -> Sequence[Operation]:
        """What happens to the cluster."""


class ResolvedStudy(Protocol):
    """What ``load_study`` returns, as far as the pipeline needs it."""

    @property
    def name(self) -> str:
        """The scenario file's name without its ending."""

    @property
    def variants(self) -> Mapping[str, Any]:
        """By name, in order; the first is the baseline."""

    @property
    def points(self) -> Sequence[Point]:
        """Settings of the swept keys; ``[{}]`` without a sweep."""

    @property
    def skipped(self) -> int:
        """How many points the sweep's constraints have left out."""

    @property
    def replications(self) -> int:
        """How often every variant is run, each time with other draws; the first round's number."""

    @property
    def expect(self) -> Sequence[Any]:
        """Claims to check when the study is done."""

    @property
    def precision(self) -> Precision | None:
        """Half widths at which replications end."""

    @property
    def capacity(self) -> Capacity | None:
        """The objectives whose greatest load is sought."""

    @property
    def sensitivity(self) -> Sensitivity | None:
        """The factors whose weight is sought."""

    @property
    def contours(self) -> Mapping[str, float]:
        """Levels of ratios that a map shows, by metric."""

    def scenario(self, point: Any, variant: Any) -> ResolvedScenario:
        """Returns the scenario of a unit."""

    def document(self, point: Any, variant: Any) -> Mapping[str, Any]:
        """Returns the scenario of a unit with all its keys, as a file would say them."""

    def config_hash(self, point: Any, variant: Any, replication: int) -> str:
        """Returns the hash of everything that influences a unit's facts."""

    def resolved_yaml(self) -> str:
        """Returns the whole study as a file that can be run again."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One (point, variant, replication); ``unit_hash`` names its folder."""

    unit_hash: str
    point_index: int
    variant: str
    replication: int

    def __str__(self) -> str:
        """Returns the words by which a user knows the unit."""
        return f"{self.variant}, replication {self.replication}, point {self.point_index}"


class Plan:
    """All units asked for so far, and the points they lie at."""

    def __init__(self, study: ResolvedStudy) -> None:
        self.study = study
        self.points: list[dict[str, Any]] = []
        """The study's own first, then those that an experiment has asked for."""
        self.units: list[Unit] = []
        self._indices: dict[str, int] = {}
        self._known: dict[tuple[int, str, int], Unit] = {}
        self._by_hash: dict[str, Unit] = {}
        for point in study.points:
            self._index_of(point)

    @classmethod
    def of(cls, study: ResolvedStudy, points: Sequence[Point], units: Iterable[Unit]) -> Plan:
        """Returns a plan as it was written down, without asking the study for a single hash."""
        plan = cls(study)
        for point in points:
            plan._index_of(point)
        for unit in units:
            plan._known[unit.point_index, unit.variant, unit.replication] = unit
            plan._by_hash[unit.unit_hash] = unit
            plan.units.append(unit)
        return plan

    def add(self, requests: Iterable[tuple[Point, str, int]]) -> list[Unit]:
        """Takes requests for (point, variant, replication); returns the units that are new."""
        before = len(self.units)
        for point, variant, replication in requests:
            where = (self._index_of(point), variant, replication)
            if where not in self._known:
                self._known[where] = self._unit(*where)
        return self.units[before:]

    def find(self, point: Point, variant: str, replication: int) -> Unit | None:
        """Returns the unit of a request, or None if it was never asked for."""
        index = self._indices.get(point_key(point))
        return None if index is None else self._known.get((index, variant, replication))

    def unit(self, unit_hash: str) -> Unit | None:
        """Returns the unit with that hash."""
        return self._by_hash.get(unit_hash)

    def words(self, unit: Unit) -> str:
        """Returns the words by which a user knows a unit: its settings, its number."""
        point = point_words(self.points[unit.point_index])
        return f"{unit.variant}{', ' if point else ''}{point}, replication {unit.replication}"

    def _index_of(self, point: Point) -> int:
        key = point_key(point)
        index = self._indices.get(key)
        if index is None:
            index = self._indices[key] = len(self.points)
            self.points.append(dict(point))
        return index

    def _unit(self, index: int, variant: str, replication: int) -> Unit:
        unit_hash = self.study.config_hash(self.points[index], variant, replication)
        known = self._by_hash.get(unit_hash)
        if known is None:
            known = self._by_hash[unit_hash] = Unit(unit_hash, index, variant, replication)
            self.units.append(known)
        return known


def point_key(point: Point) -> str:
    """Returns text that is equal for equal points, in whatever order they say their keys."""
    return json.dumps(dict(point), sort_keys=True, separators=(",", ":"))


def point_words(point: Point) -> str:
    """Returns ``workload.threads = 50, hardware.profile = i3.4xlarge``."""
    return ", ".join(f"{key} = {value}" for key, value in point.items())
