"""Section ``run`` of a study: how long its units are, and how many there are of each case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from analysis.metrics.catalogue import QUANTILES, MetricKey
from analysis.study.expectation import Expectation
from analysis.study.figures import FIGURE
from sim.record.histogram import RELATIVE_ERROR
from sim.scenario.fields import WIDTH, Count, MapOf, Wrong
from sim.scenario.resolved import Scenario
from sim.scenario.schema.operations import Operation, Timed
from sim.scenario.schema.run import Run
from sim.unit_result import simulated_ns

FEW_REPLICATIONS: Final = 5
FIRST_ROUND: Final = 8
"""Of rounds that stop when an interval is narrow. From 5 on the intervals hold the truth in 92 %
of studies instead of 95 %, from 8 on in 94 % (``python -m benchmarks sequential_coverage``)."""
_MOST_REPLICATIONS: Final = 50


@dataclass(frozen=True, kw_only=True)
class RunSection(Run):
    """How long, how often, and with which luck."""

    replications: int | None = Count(1, 10_000, auto=True).key(
        "Independent runs of each variant; intervals need two. auto: rounds until precision is "
        "reached; 5 if no precision is requested. Source: Law, Simulation Modeling and Analysis, "
        "5th ed., 9.4: at least three to five.",
        default="auto",
    )
    batches: int = Count(1, 1_000).key(
        "Equal parts of each replication's measured time, each of which counts as a replication; "
        "they share one warm-up, which has to be given. Intervals are valid if a part is much "
        "longer than any effect that lasts in the cluster. At most one batch per window; capacity, "
        "sensitivity and scenarios with operations at fixed times use whole replications. Source: "
        "Law, Simulation Modeling and Analysis, 5th ed., 9.5.3: batch means.",
        default=1,
    )
    precision: Mapping[MetricKey, float] | None = MapOf(
        WIDTH, FIGURE, "lock_latency_ms.p99: 5%", at_least=1, at_most=20
    ).key(
        "Half width of the 95 % interval of each metric, such as lock_latency_ms.p99: 5%; "
        "replications are added in rounds until all are reached. By default, with replications: "
        "auto, the ratios in expect decide. Source: Law, Simulation Modeling and Analysis, 5th "
        "ed., 9.4.1: relative precision.",
        default=None,
    )
    max_replications: int | None = Count(2, 10_000).key(
        "Maximum number of replications of such rounds; 50, or replications if that is more. "
        "Source: our own default.",
        default=None,
    )

    def check(self) -> None:
        """Judges windows and rounds of replications."""
        super().check()
        if self.batches > 1 and self.warmup_ns is None:
            raise Wrong("need a warm-up that is given; write run.warmup as a time, or batches: 1",
                        at="batches")  # fmt: skip
        most, first = self.max_replications, self.replications
        if self.precision is None:
            return
        if first is not None and first < 2:
            raise Wrong("an interval needs two to begin with; write 2 or more", at="replications")
        if first is not None and most is not None and most < first:
            raise Wrong(f"is less than run.replications ({first}), the first round; "
                        f"write {first} or more", at="max_replications")  # fmt: skip

    @property
    def most_replications(self) -> int:
        """Returns where rounds of replications end."""
        return self.max_replications or max(_MOST_REPLICATIONS, self.replications or 0)


@dataclass(frozen=True, slots=True)
class Target:
    """A figure of each variant, or the ratio of two variants' figures, that is to be certain."""

    key: MetricKey
    width: float
    """Half width of the 95 % interval over the value, 0.05 for 5 %."""
    variant: str | None = None
    """Whose figure; None: of each variant."""
    against: str | None = None
    """The variant that it is divided by; None: the figure itself."""
    at_point: Mapping[str, Any] | None = None
    """Only at points with these values; None: at all."""

    def __str__(self) -> str:
        """Returns it as ``lock_latency_ms, in_memory / pipelined``."""
        if self.against is not None:
            return f"{self.key}, {self.variant} / {self.against}"
        return str(self.key) if self.variant is None else f"{self.key} of {self.variant}"

    @property
    def compared(self) -> tuple[str, ...]:
        """The two variants of a ratio; none of a figure."""
        return () if self.variant is None or self.against is None else (self.variant, self.against)

    @property
    def bucket_error(self) -> float:
        """By how much a histogram's buckets may make it wider, relative to it; 0 for a mean."""
        if self.key.stat not in QUANTILES:
            return 0.0
        return RELATIVE_ERROR if self.against is None else (1.0 + RELATIVE_ERROR) ** 2 - 1.0

    def is_about(self, point: Mapping[str, Any]) -> bool:
        """Returns whether it is wanted at a point."""
        return all(point.get(key) == value for key, value in (self.at_point or {}).items())


@dataclass(frozen=True, slots=True)
class Precision:
    """Replications are added in rounds until every target is met."""

    targets: tuple[Target, ...]
    most_replications: int
    """Where rounds end even so."""


def precision_of(run: RunSection, expect: Sequence[Expectation]) -> Precision | None:
    """Returns the precision that a study asks for, or that its expectations need."""
    if run.precision is not None:
        targets = tuple(Target(key, width) for key, width in run.precision.items())
    elif run.replications is None:
        targets = tuple(_ratios(expect))
    else:
        return None
    return Precision(targets, run.most_replications) if targets else None


def _ratios(expect: Sequence[Expectation]) -> Iterator[Target]:
    """Yields each ratio that something is expected of, once: everywhere, or at its points."""
    ratios = [
        Target(claim.key, claim.width, claim.variant, claim.against, claim.at_point)
        for claim in expect
        if claim.against is not None
    ]
    for place, target in enumerate(ratios):
        is_first = ratios.index(target) == place
        if is_first and not any(_implies(other, target) for other in ratios if other != target):
            yield target


def _implies(one: Target, other: Target) -> bool:
    """Returns whether whoever meets one target has met the other."""
    return one.width <= other.width and (
        one in (replace(other, width=one.width), replace(other, width=one.width, at_point=None))
    )


def first_fixed_ns(operations: Sequence[Operation], end_ns: int) -> int | None:
    """Returns when the first operation with an ``at`` before the end is carried out, or None."""
    times = [each.at_ns for each in operations if isinstance(each, Timed)]
    return min((at_ns for at_ns in times if at_ns is not None and at_ns < end_ns), default=None)


def has_fixed_times(scenario: Scenario) -> bool:
    """Returns whether something happens at a fixed time: parts of such a run are not alike."""
    return first_fixed_ns(scenario.operations, simulated_ns(scenario)) is not None
