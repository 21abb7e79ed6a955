"""Replications in rounds, until every figure asked about is as certain as wanted.

Law: a figure that is not certain enough asks for more replications of all variants of its point, so
that pairs under common random numbers stay complete; a ratio asks for more of its two variants, and
is judged over the replications that both have. The number grows by what the present variance says
is needed, at most doubling, until every target is met or the ceiling is reached.

Source: Law, Simulation Modeling and Analysis, 5th ed., 9.4.1 (sequential procedure for a relative
error of the mean).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.experiments.experiment import Experiment, Request, Seen
from analysis.metrics.catalogue import MetricKey
from analysis.statistics.intervals import (
    Array,
    has_zeros,
    log_ratios,
    relative_half_widths,
    replications_needed,
)
from analysis.study.run import Precision, Target
from analysis.study.units import Point, point_words

_Counts = dict[str, int]
"""Replications of one point by variant."""


@dataclass(frozen=True, slots=True)
class _Reached:
    """How certain a figure of one variant, or a ratio of two, has become at one point."""

    point: Point
    target: Target
    half_width: float
    """Relative; NaN: no interval."""
    replications: int
    needed: int
    """In all, as far as the present variance tells and a round may bring."""

    @property
    def met(self) -> bool:
        return self.half_width <= self.target.width

    @property
    def excess(self) -> float:
        """How many times too wide it is; a figure without an interval is none to wait for."""
        return 0.0 if math.isnan(self.half_width) else self.half_width / self.target.width

    @property
    def still_wanted(self) -> int:
        """How many replications more would do, by the present variance."""
        if self.met or not math.isfinite(self.half_width):
            return 0
        return math.ceil(self.replications * (self.excess**2 - 1))


class SequentialDesign(Experiment):
    """Points × variants, with as many replications as each point needs; without targets the first.

    Replications are outermost, so a study that is stopped early has all variants at the same number
    of them, and pairs under common random numbers are complete.
    """

    name = "precision"

    def __init__(
        self,
        points: Sequence[Mapping[str, Any]],
        variants: Sequence[str],
        replications: int,
        precision: Precision,
    ) -> None:
        self._points = points
        self._variants = variants
        self._first = replications
        self._precision = precision

    def keys(self) -> tuple[MetricKey, ...]:
        """Returns the metrics that have to be precise."""
        return tuple(dict.fromkeys(target.key for target in self._precision.targets))

    def requests(self, seen: Seen) -> list[Request]:
        """Returns all replications of all points, as far as the variances seen ask for them."""
        counts = [self._counts(seen, point) for point in self._points]
        return [
            Request(point, variant, replication)
            for replication in range(max(count for each in counts for count in each.values()))
            for point, each in zip(self._points, counts, strict=True)
            for variant in self._variants
            if replication < each[variant]
        ]

    def _counts(self, seen: Seen, point: Point) -> _Counts:
        """Returns how many replications a point has to have, after all rounds that were shown."""
        before: _Counts = {}
        counts = dict.fromkeys(self._variants, self._first)
        while self._was_run(seen, point, before, counts):
            before, counts = counts, self._wanted(seen, point, counts)
        return counts

    def _was_run(self, seen: Seen, point: Point, before: _Counts, counts: _Counts) -> bool:
        """Whether what a round added was shown; what it does not have then, has failed."""
        return any(
            seen.verdict(Request(point, variant, count - 1)) is not None
            for variant, count in counts.items()
            if count > before.get(variant, 0)
        )

    def _wanted(self, seen: Seen, point: Point, counts: _Counts) -> _Counts:
        """Returns how many replications there should be, from the variance of those there are."""
        most = max(self._first, self._precision.most_replications)
        wanted = dict(counts)
        for one in self._reached(seen, point, counts):
            for variant in one.target.compared or self._variants:
                wanted[variant] = max(wanted[variant], min(one.needed, most))
        return wanted

    def _reached(self, seen: Seen, point: Point, counts: _Counts) -> Iterator[_Reached]:
        for target in self._precision.targets:
            if not target.is_about(point):
                continue
            for variant in self._variants if target.variant is None else (target.variant,):
                count = min(counts[each] for each in target.compared or (variant,))
                values = self._values(seen, point, variant, target.key, count)
                batches = len(values) // count if count else 1
                if target.against is not None:
                    against = self._values(seen, point, target.against, target.key, count)
                    values = _logarithms(values, against)
                error = target.bucket_error
                there = values[~np.isnan(values)]
                half_width, needed = math.nan, 0
                if len(there):
                    half_width = float(relative_half_widths(there)) + error
                # A figure that does not exist wants no more; a unit that failed has to be replaced.
                if len(there) > 1:
                    missing = count * batches - len(there)
                    needed = replications_needed(there, target.width - error) + missing
                yield _Reached(
                    point,
                    replace(target, variant=variant),
                    half_width,
                    -(-len(there) // batches),
                    -(-needed // batches),
                )

    def _values(self, seen: Seen, point: Point, variant: str, key: MetricKey, count: int) -> Array:
        """Returns the values of all batches of the first ``count`` replications."""
        requests = [Request(point, variant, replication) for replication in range(count)]
        return np.array([seen.values(request, key) for request in requests]).ravel()

    def _all_reached(self, seen: Seen) -> list[_Reached]:
        return [
            one
            for point in self._points
            for one in self._reached(seen, point, self._counts(seen, point))
        ]

    def progress(self, seen: Seen) -> str:
        """Returns the least certain figure: what it is, and how far from what was asked."""
        if not self._precision.targets:
            return ""
        found = [one for one in self._all_reached(seen) if not math.isnan(one.half_width)]
        if not found:
            wanted = "; ".join(f"{each} ±{each.width:.2%}" for each in self._precision.targets)
            return f"until {wanted}; at most {self._precision.most_replications} replications"
        worst = max(found, key=lambda one: one.excess)
        met = sum(one.met for one in found)
        where = point_words(worst.point)
        return (
            f"{met} of {len(found)} figures are precise enough; the least certain is "
            f"{worst.target}{' at ' if where else ''}{where}: ±{worst.half_width:.2%} after "
            f"{worst.replications} replications, ±{worst.target.width:.2%} wanted"
        )

    def conclusion(self, seen: Seen) -> dict[str, Any]:
        """Returns each target: half width, whether it is met, replications, how many more."""
        return {
            "most_replications": self._precision.most_replications,
            "targets": [
                {
                    "point": dict(one.point),
                    "variant": one.target.variant,
                    "against": one.target.against,
                    **one.target.key.columns,
                    "wanted": one.target.width,
                    "reached": None if math.isnan(one.half_width) else one.half_width,
                    "met": one.met,
                    "replications": one.replications,
                    "still_wanted": one.still_wanted,
                }
                for one in self._all_reached(seen)
            ],
        }


def _logarithms(values: Array, against: Array) -> Array:
    """Returns the logarithms of the ratios that exist, moved so that their mean is 1.

    Their relative half width is then that of the ratio's interval in ``summary.json``, which there
    is none of if one of the values is 0.
    """
    if has_zeros(values, against):
        return np.array([], dtype=np.float64)
    logarithms = log_ratios(values, against)
    logarithms = logarithms[~np.isnan(logarithms)]
    return logarithms - logarithms.mean() + 1 if len(logarithms) else logarithms
