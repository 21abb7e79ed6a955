"""A study whose units have been run: what summary, figures and pages are made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from analysis.study.plan import Plan, Unit
    from analysis.study.study import Study
    from analysis.study.unit_folder import UnitRecord


class FinishedStudy(Protocol):
    """What its readers need of it."""

    @property
    def study(self) -> Study:
        """Variants, points and claims."""

    @property
    def name(self) -> str:
        """The study's name, for headings."""

    @property
    def plan(self) -> Plan:
        """Its points, by ``point_index``, and the units that were asked for."""

    @property
    def done(self) -> Mapping[Unit, UnitRecord]:
        """Finished units, in the order of the plan."""

    @property
    def found(self) -> Mapping[str, Any]:
        """What an experiment has found, under its name."""
