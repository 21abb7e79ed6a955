"""What a study asks beyond one run: swept points, capacity, sensitivity.

Figures are in the unit in which the metric is published (ms, B, 1/s, a share of 1); loads are
threads or transactions a second. What goes into a point is spelled as a scenario file would.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, get_args

from analysis.metrics.catalogue import MetricKey
from analysis.study.figures import FIGURE, LIMIT, limit_of, limit_text
from analysis.study.interpolation import (
    Scale,
    Value,
    amount_of,
    between,
    number_text,
    rounded,
)
from sim.scenario.fields import (
    ANYTHING,
    WIDTH,
    Count,
    ListOf,
    MapOf,
    Number,
    OneOf,
    Wrong,
)
from sim.scenario.quantities import RATE
from sim.scenario.section import Document, Section, SectionOf
from sim.scenario.tree import WRONG, Place

SWEEP_FORMS = ("grid", "points", "latin_hypercube")

Load = Literal["workload.threads", "workload.rate"]

ALL_PROFILES: Final = "all"
"""The key of prices that hold for every hardware profile without prices of its own."""

_LOAD_DIGITS = 3


@dataclass(frozen=True, kw_only=True)
class RangeSection(Section):
    """A key between two values."""

    between: tuple[Any, ...] = ListOf(ANYTHING, at_least=2, at_most=2).key(
        "The lowest and the highest value, such as [100us, 1ms]. Between two whole numbers only "
        "whole numbers are taken: write 1.0 for a key that has fractions."
    )
    scale: Scale = OneOf(*get_args(Scale)).key(
        "log: equal steps are equal ratios. Source: our own default.", default="linear"
    )


_POINT: Final = MapOf(ANYTHING, example="workload.threads: 50")
_BETWEEN: Final = "workload.threads: {between: [50, 400]}"


@dataclass(frozen=True, kw_only=True)
class LatinHypercubeSection(Section):
    """Points spread evenly over several ranges at once."""

    samples: int = Count(2, 5_000).key("Number of points.")
    seed: int = Count(0, 2**53 - 1).key(
        "Seed of the positions of the points. Source: our own default, fixed.", default=1
    )
    ranges: Mapping[str, RangeSection] = MapOf(
        SectionOf(RangeSection), example=_BETWEEN, at_least=1, at_most=20
    ).key("Ranges by dotted key.")


@dataclass(frozen=True, kw_only=True)
class SweepSection(Section):
    """Points at which the study is run: in one of three forms, less what is skipped."""

    grid: Mapping[str, tuple[Any, ...]] | None = MapOf(
        ListOf(ANYTHING), example="workload.threads: [50, 400]", at_least=1, at_most=20
    ).key(
        "Values by dotted key, such as workload.threads: [50, 400]; all combinations are run.",
        default=None,
    )
    points: tuple[Mapping[str, Any], ...] | None = ListOf(_POINT, at_least=1, at_most=10_000).key(
        "Explicit points, each with the same dotted keys.", default=None
    )
    latin_hypercube: LatinHypercubeSection | None = SectionOf(LatinHypercubeSection).key(
        "Points spread over ranges, each divided into as many parts as there are points. Source: "
        "McKay, Beckman, Conover 1979.",
        default=None,
    )
    skip: tuple[Mapping[str, Any], ...] | None = ListOf(_POINT, at_most=100).key(
        "Conditions by swept key; a point is omitted if it meets all conditions of one entry: a "
        "value, a list of values, {above: x} or {below: x}.",
        default=None,
    )
    map: Mapping[MetricKey, float] | None = MapOf(
        Number(1e-6, 1e6), FIGURE, "lock_latency_ms: 0.5", at_least=1, at_most=20
    ).key(
        "Ratios (variant / baseline) at which maps of these metrics have a contour.", default=None
    )

    def check(self) -> None:
        """Checks that points are given in one form."""
        given = [name for name in SWEEP_FORMS if getattr(self, name) is not None]
        if not given:
            raise Wrong("has no points; write grid, points or latin_hypercube")
        if len(given) > 1:
            raise Wrong(f"there is {given[0]} as well; keep one of the two", at=given[1])


@dataclass(frozen=True)
class NodePrices(Section):
    """What nodes cost."""

    store: float = Number(0, 1e9).key("Price of a TiKV node per hour, in any currency.")
    tidb_node: float = Number(0, 1e9).key("Price of a TiDB node per hour, in the same currency.")


class Objective(NamedTuple):
    """One part of a service level objective: the figure is at most ``limit``."""

    key: MetricKey
    limit: float
    """In the unit in which the metric is published."""


class _Objectives(MapOf):
    """Limits by figure; they become objectives."""

    def read(self, place: Place) -> Any:
        """Returns the objectives; a limit is judged by its metric."""
        if super().read(place) is WRONG:
            return WRONG
        objectives: dict[MetricKey, Objective] = {}
        before = len(place.problems)
        for name, each in place.below().items():
            if each.value is None:
                continue
            try:
                key, limit = limit_of(MetricKey.parse(name), each.node.plain())
            except ValueError as error:
                each.refuse(str(error))
                continue
            if key in objectives:
                each.refuse_key(f"{key} appears twice; remove one")
            objectives[key] = Objective(key, limit)
        return tuple(objectives.values()) if len(place.problems) == before else WRONG

    def written(self, value: Any) -> dict[str, Any]:
        """Returns the limits in the units of their figures."""
        return {str(key): limit_text(key, limit) for key, limit in value}


@dataclass(frozen=True, kw_only=True)
class Capacity(Section):
    """The greatest load at which a service level objective is met."""

    slo: tuple[Objective, ...] = _Objectives(
        LIMIT, FIGURE, "lock_latency_ms.p99: 5ms", at_least=1, at_most=20
    ).key(
        "Upper limits by metric, such as lock_latency_ms.p99: 5ms; for txn_aborts a percentage of "
        "transactions."
    )
    load: Load = OneOf(*get_args(Load)).key(
        "The key that is raised; its value in workload is the present load."
    )
    between: tuple[Any, ...] = ListOf(ANYTHING, at_least=2, at_most=2).key(
        "Range of the search, such as [200/s, 4000/s]."
    )
    tolerance: float = WIDTH.key(
        "Width of the bracket at which the search ends, relative to the load. Source: our own "
        "default.",
        default="5%",
    )
    prices: Mapping[str, NodePrices] | None = MapOf(SectionOf(NodePrices), at_most=50).key(
        "Prices by hardware profile, or all; the report then includes costs per million "
        "transactions.",
        default=None,
    )

    @property
    def low(self) -> float:
        """Where the search begins: threads, or transactions a second."""
        return float(self.between[0])

    @property
    def high(self) -> float:
        """Where it ends."""
        return float(self.between[1])

    def load_value(self, x: float) -> int | str:
        """Returns a load as a point has it, in three significant digits so that loads coincide."""
        if self.load == "workload.threads":
            return max(int(rounded(round(x), _LOAD_DIGITS)), 1)
        return f"{number_text(rounded(x, _LOAD_DIGITS))}/s"

    def load_of(self, point: Mapping[str, Any]) -> float:
        """Returns the load that a point has.

        Raises:
            KeyError: if it has none.
            ValueError: if it is no load.
        """
        value = point[self.load]
        return float(value) if self.load == "workload.threads" else float(RATE.parse(value))

    @classmethod
    def document_of(cls, value: Any) -> Document:
        """Returns what a file says, loads in their unit."""
        text_of = int if value.load == "workload.threads" else RATE.text_of
        return super().document_of(replace(value, between=tuple(map(text_of, value.between))))


@dataclass(frozen=True, slots=True)
class Range:
    """A key of the scenario, between two values."""

    key: str
    low: Value
    high: Value
    scale: Scale = "linear"

    def at(self, share: float, telling: int = 4) -> Value:
        """Returns the value ``share`` (0 to 1) of the way, as a file would write it."""
        return between(self.low, self.high, share, self.scale, telling)

    def share_of(self, value: Value) -> float:
        """Returns how far along the way a value is: ``at`` backwards, after it has rounded."""
        ends = amount_of(self.low), amount_of(value), amount_of(self.high)
        low, amount, high = map(math.log, ends) if self.scale == "log" else ends
        return (amount - low) / (high - low)


@dataclass(frozen=True, kw_only=True)
class Sensitivity(Section):
    """Keys that affect the outcomes most."""

    factors: tuple[Range, ...] = MapOf(
        SectionOf(RangeSection), example=_BETWEEN, at_least=2, at_most=50
    ).key("Ranges by dotted key, all varied at once.")
    outcomes: tuple[MetricKey, ...] = ListOf(FIGURE, at_least=1, at_most=20).key(
        "Metrics to explain; with two or more variants, the ratio of the second to the first."
    )
    trajectories: int = Count(2, 1_000).key(
        "Trajectories of the screening; each has one run more than there are factors. Source: "
        "Morris 1991, Factorial sampling plans: 4 to 10.",
        default=6,
    )
    levels: int = Count(2, 100).key(
        "Values of each factor in the screening. Source: Morris 1991.", default=4
    )
    keep: int = Count(1, 50).key(
        "Number of factors for which Sobol' indices are computed. Source: our own default.",
        default=3,
    )
    samples: int = Count(2, 65_536).key(
        "Base samples of Sobol' indices, a power of two. Source: our own default.", default=16
    )
    seed: int = Count(0, 2**53 - 1).key(
        "Seed of both designs; by default run.seed. Source: our own default.", default=None
    )

    def check(self) -> None:
        """Judges whether there are such designs."""
        if self.levels % 2:
            raise Wrong(f"must be even, is {self.levels}; write {self.levels + 1}", at="levels")
        if self.samples & (self.samples - 1):
            power = 1 << self.samples.bit_length()
            raise Wrong(f"must be a power of two, is {self.samples}; write {power}", at="samples")

    @classmethod
    def document_of(cls, value: Any) -> Document:
        """Returns what a file says, ranges by their keys."""
        ranges = {
            each.key: RangeSection(between=(each.low, each.high), scale=each.scale)
            for each in value.factors
        }
        return super().document_of(replace(value, factors=ranges))
