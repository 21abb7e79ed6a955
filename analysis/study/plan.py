"""The units of a study, in the order in which they are run.

Replications come outermost: a study that is stopped early has all variants at the same number of
replications, and pairs under common random numbers are complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

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
    def replications(self) -> int:
        """How often every variant is run, each with its own draws."""

    @property
    def seed(self) -> int:
        """Of all random streams."""


class ResolvedScenario(Protocol):
    """One variant at one point, ready to run; only ``run`` is looked at here."""

    @property
    def run(self) -> RunSettings:
        """Times, windows, seed."""


class ResolvedStudy(Protocol):
    """What ``sim.scenario.load_study`` returns, as far as the pipeline needs it."""

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
    def expect(self) -> Sequence[Any]:
        """Claims to check when the study is done."""

    def scenario(self, point: Any, variant: Any) -> ResolvedScenario:
        """Returns the scenario of a unit."""

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


def plan_units(study: ResolvedStudy) -> list[Unit]:
    """Returns all units of a study, replications outermost."""
    variants = list(study.variants)
    replications = study.scenario(study.points[0], variants[0]).run.replications
    return [
        Unit(study.config_hash(point, variant, replication), index, variant, replication)
        for replication in range(replications)
        for index, point in enumerate(study.points)
        for variant in variants
    ]
