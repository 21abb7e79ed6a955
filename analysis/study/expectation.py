"""Section ``expect`` of a study: what is claimed, and how precise a claim's ratio has to be.

Figures are in the unit in which the metric is published (ms, B, 1/s, a share of 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from analysis.metrics.catalogue import CAPACITY_METRICS, STATS, MetricKey
from sim.scenario.fields import ANYTHING, NAME, TEXT, WIDTH, MapOf, Number, OneOf, Wrong
from sim.scenario.section import Section

_BOUND = Number(-1e15, 1e15)
_MEAN_WIDTH: Final = 0.02
_QUANTILE_WIDTH: Final = 0.05


@dataclass(frozen=True, kw_only=True)
class Expectation(Section):
    """One claim; it holds when the whole interval lies on the right side."""

    metric: str = TEXT.key(
        "A metric of the summary; of a search, capacity_load or capacity_txn_per_s."
    )
    stat: str = OneOf(*STATS).key(
        "Which statistic of the metric. Source: our own default.", default="mean"
    )
    class_: str = TEXT.key(
        "Which class of the metric, such as a transaction type. Source: our own default.",
        default="all",
    )
    variant: str = NAME.key("The variant; optional if there is only one.", default=None)
    against: str | None = NAME.key("A baseline: the claim is about the ratio to it.", default=None)
    below: float | None = _BOUND.key("Value that the whole interval must be below.", default=None)
    above: float | None = _BOUND.key("Value that the whole interval must be above.", default=None)
    precision: float | None = WIDTH.key(
        "Half width of the ratio's 95 % interval, relative to the ratio, at which replications: "
        "auto ends; 2 %, for a quantile 5 %. Source: our own default.",
        default=None,
    )
    at_point: Mapping[str, Any] | None = MapOf(ANYTHING, example="workload.threads: 50").key(
        "Only at points with these values of swept keys.", default=None, name="at"
    )

    @property
    def key(self) -> MetricKey:
        """The figure."""
        if self.is_about_capacity:
            return MetricKey(self.metric, stat="max")
        return MetricKey(self.metric, self.class_, self.stat)

    @property
    def is_about_capacity(self) -> bool:
        """Whether it claims what a search for capacity finds."""
        return self.metric in CAPACITY_METRICS

    def check(self) -> None:
        """Judges whether anything is claimed."""
        if self.below is None and self.above is None:
            raise Wrong("claims nothing; write below, above or both")
        if self.below is not None and self.above is not None and self.below <= self.above:
            raise Wrong("must be greater than above; no value is between them", at="below")
        if self.precision is not None and self.against is None:
            raise Wrong("is for ratios; write against, or run.precision", at="precision")

    @property
    def width(self) -> float:
        """How precise the ratio has to be: half width of its interval, relative to it."""
        default = _MEAN_WIDTH if self.stat == "mean" else _QUANTILE_WIDTH
        return self.precision or default
