"""What a study asks beyond one run: claims, swept points, capacity, sensitivity."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import model_validator

from sim.scenario.fields import Count, Name, Number, Percent, Section, Text, key, wrong
from sim.scenario.figures import Figure, Limit

SWEEP_FORMS = ("grid", "points", "latin_hypercube")

_Bound = Annotated[float, Number(-1e15, 1e15)]


class ExpectSection(Section):
    """One claim; it holds when the whole interval lies on the right side."""

    metric: Text = key(description="A figure of the summary.")
    stat: Literal["mean", "p50", "p90", "p95", "p99", "p999", "max"] = key(
        default="mean", description="Which statistic of it. Source: our own default."
    )
    class_: Text = key(
        default="all",
        alias="class",
        description="Which part of it, such as a transaction type. Source: our own default.",
    )
    variant: Name | None = key(
        default=None, description="Whose figure; not needed if there is one variant."
    )
    against: Name | None = key(
        default=None, description="The baseline: judge the ratio to it, not the figure."
    )
    below: _Bound | None = key(default=None, description="The interval lies below.")
    above: _Bound | None = key(default=None, description="The interval lies above.")
    at: dict[str, Any] | None = key(
        default=None, description="Only at points with these values of swept keys."
    )

    @model_validator(mode="after")
    def _claims_something(self) -> Self:
        if self.below is None and self.above is None:
            raise wrong("claims nothing; write below, above or both")
        if self.below is not None and self.above is not None and self.below <= self.above:
            raise wrong("is not above above; no figure lies between them", at="below")
        return self


class RangeSection(Section):
    """A key between two values."""

    between: list[Any] = key(
        description="The lowest and the highest value, such as [100us, 1ms].",
        min_length=2,
        max_length=2,
    )
    scale: Literal["linear", "log"] = key(
        default="linear", description="log: equal steps are equal ratios. Source: our own default."
    )


class LatinHypercubeSection(Section):
    """Points spread evenly over several ranges at once."""

    samples: Annotated[int, Count(2, 5_000)] = key(description="How many points.")
    seed: Annotated[int, Count(0, 2**53 - 1)] = key(
        default=1, description="Of the places of the points. Source: our own default, fixed."
    )
    ranges: dict[str, RangeSection] = key(description="By dotted key.", min_length=1, max_length=20)


class SweepSection(Section):
    """Points at which the study is run: in one of three forms, less what is skipped."""

    grid: dict[str, list[Any]] | None = key(
        default=None,
        description="Values by dotted key, such as workload.threads: [50, 400], all combinations "
        "of which are run.",
        min_length=1,
        max_length=20,
    )
    points: list[dict[str, Any]] | None = key(
        default=None,
        description="Points one by one, each with the same dotted keys.",
        min_length=1,
        max_length=10_000,
    )
    latin_hypercube: LatinHypercubeSection | None = key(
        default=None,
        description="Points spread over ranges, each range cut into as many parts as there are "
        "points. Source: McKay, Beckman, Conover 1979.",
    )
    skip: list[dict[str, Any]] | None = key(
        default=None,
        description="A point is left out if all conditions of one entry are true of it: a value, "
        "a list of values, {above: x} or {below: x} by swept key.",
        max_length=100,
    )
    map: dict[Figure, Annotated[float, Number(1e-6, 1e6)]] | None = key(
        default=None,
        description="Ratios (variant / baseline) at which maps of these figures have a contour.",
        min_length=1,
        max_length=20,
    )

    @model_validator(mode="after")
    def _has_one_form(self) -> Self:
        given = [name for name in SWEEP_FORMS if getattr(self, name) is not None]
        if not given:
            raise wrong("has no points; write grid, points or latin_hypercube")
        if len(given) > 1:
            raise wrong(f"there is {given[0]} as well; keep one of the two", at=given[1])
        return self


class PriceSection(Section):
    """What nodes cost."""

    store: Annotated[float, Number(0, 1e9)] = key(
        description="A TiKV node an hour, in any currency."
    )
    tidb_node: Annotated[float, Number(0, 1e9)] = key(
        description="A TiDB node an hour, in the same currency."
    )


class CapacitySection(Section):
    """The greatest load at which a service level objective is met."""

    slo: dict[Figure, Limit] = key(
        description="Upper limits by figure, such as lock_latency_ms.p99: 5ms; a percentage of "
        "txn_aborts is one of transactions.",
        min_length=1,
        max_length=20,
    )
    load: Literal["workload.threads", "workload.rate"] = key(
        description="The key that is raised; the workload says the present load."
    )
    between: list[Any] = key(
        description="Loads to search between, such as [200/s, 4000/s].", min_length=2, max_length=2
    )
    tolerance: Percent = key(
        default="5%",
        description="The search ends with a bracket so wide, relative to the load. Source: our "
        "own default.",
    )
    prices: dict[str, PriceSection] | None = key(
        default=None,
        description="By hardware profile, or all: costs per million transactions are reported.",
        max_length=50,
    )


class SensitivitySection(Section):
    """Which keys move the outcomes most."""

    factors: dict[str, RangeSection] = key(
        description="Ranges by dotted key, all varied at once.", min_length=2, max_length=50
    )
    outcomes: list[Figure] = key(
        description="Figures to explain: with two variants or more the second over the first.",
        min_length=1,
        max_length=20,
    )
    trajectories: Annotated[int, Count(2, 1_000)] = key(
        default=6,
        description="Of the screening, each of one run more than there are factors. Source: "
        "Morris 1991, Factorial sampling plans: 4 to 10.",
    )
    levels: Annotated[int, Count(2, 100)] = key(
        default=4, description="Of the screening: values of each factor. Source: Morris 1991."
    )
    keep: Annotated[int, Count(1, 50)] = key(
        default=3, description="Factors that go on to Sobol' indices. Source: our own default."
    )
    samples: Annotated[int, Count(2, 65_536)] = key(
        default=16,
        description="Base samples of Sobol' indices, a power of two. Source: our own default.",
    )
    seed: Annotated[int, Count(0, 2**53 - 1)] | None = key(
        default=None, description="Of both designs; by default run.seed. Source: our own default."
    )

    @model_validator(mode="after")
    def _designs_exist(self) -> Self:
        if self.levels % 2:
            raise wrong(f"must be even, is {self.levels}; write {self.levels + 1}", at="levels")
        if self.samples & (self.samples - 1):
            power = 1 << self.samples.bit_length()
            raise wrong(f"is no power of two, is {self.samples}; write {power}", at="samples")
        return self
