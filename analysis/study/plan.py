"""The units of a study, in the order in which they were asked for.

A plan grows while an experiment asks for more; what it has been asked for stays. A unit is named by
the hash of everything that influences its facts, so two requests for the same simulation are one
unit.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.study.study import Study, point_key
from analysis.study.units import AskedUnits, Point, Unit


class Plan(AskedUnits):
    """All units of a study asked for so far; its own points come first, then those of experiments.

    It grows.
    """

    def __init__(self, study: Study) -> None:
        super().__init__()
        self.study = study
        self._indices: dict[str, int] = {}
        self._known: dict[tuple[int, str, int], Unit] = {}
        self._by_hash: dict[str, Unit] = {}
        for point in study.points:
            self._index_of(point)

    @classmethod
    def of(cls, study: Study, asked: AskedUnits) -> Plan:
        """Returns a plan as it was written down, without asking the study for a single hash."""
        plan = cls(study)
        for point in asked.points:
            plan._index_of(point)
        for unit in asked.units:
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
