"""Section ``run`` of a study: how long its units are, and how many there are of each case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from analysis.metrics.catalogue import MetricKey
from analysis.study.figures import FIGURE
from sim.scenario.fields import WIDTH, Count, MapOf, Wrong
from sim.scenario.schema.run import Run

_MOST_REPLICATIONS: Final = 50


@dataclass(frozen=True, kw_only=True)
class RunSection(Run):
    """How long, how often, and with which luck."""

    replications: int = Count(1, 10_000).key(
        "Independent runs of each variant; intervals need two. Source: Law, Simulation Modeling "
        "and Analysis, 5th ed., 9.4: three to five at least.",
        default=5,
    )
    precision: Mapping[MetricKey, float] | None = MapOf(WIDTH, FIGURE, at_least=1, at_most=20).key(
        "Replications are added in rounds until the 95 % interval of each of these figures is at "
        "most so wide to either side, such as lock_latency_ms.p99: 5%. Source: Law, Simulation "
        "Modeling and Analysis, 5th ed., 9.4.1: relative precision.",
        default=None,
    )
    max_replications: int | None = Count(2, 10_000).key(
        "With precision: where rounds end even so; 50, or replications if those are more. Source: "
        "our own default.",
        default=None,
    )

    def check(self) -> None:
        """Judges windows and rounds of replications."""
        super().check()
        most = self.max_replications
        if self.precision is None:
            if most is not None:
                raise Wrong("has no effect without run.precision; remove it", at="max_replications")
            return
        if self.replications < 2:
            raise Wrong("an interval needs two to begin with; write 2 or more", at="replications")
        if most is not None and most < self.replications:
            raise Wrong(f"is less than run.replications ({self.replications}), the first round; "
                        f"write {self.replications} or more", at="max_replications")  # fmt: skip

    @property
    def most_replications(self) -> int:
        """Returns where rounds of replications end."""
        return self.max_replications or max(_MOST_REPLICATIONS, self.replications)


@dataclass(frozen=True, slots=True)
class Precision:
    """Replications are added in rounds until every figure is as certain as asked for."""

    targets: tuple[tuple[MetricKey, float], ...]
    """Half width of the 95 % interval over the value, 0.05 for 5 %, by figure."""
    most_replications: int
    """Where rounds end even so; ``run.replications`` is the first round."""
