"""Replications in rounds, until every named number is as precise as asked.

Law: a point gets the same number of replications for all its variants, so that pairs under common
random numbers stay complete. The number grows by what the present variance says is needed, at most
doubling, until every target is met or the ceiling is reached.

Source: Law, Simulation Modeling and Analysis, 5th ed., 9.4.1 (sequential procedure for a relative
error of the mean).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.experiments.experiment import Experiment
from analysis.experiments.seen import Request, Seen
from analysis.metrics.catalogue import MetricKey
from analysis.statistics.precision import relative_half_widths, replications_needed
from analysis.study.run import Precision
from analysis.study.units import Point, point_words


@dataclass(frozen=True, slots=True)
class _Target:
    """One number of one case, against the half width that it should have."""

    point: Point
    variant: str
    key: MetricKey
    wanted: float
    reached: float
    """Relative half width; NaN: no interval."""
    replications: int
    needed: int

    @property
    def met(self) -> bool:
        return self.reached <= self.wanted

    @property
    def slowness(self) -> float:
        """How many times too wide it is; a number without an interval is none to wait for."""
        return 0.0 if math.isnan(self.reached) else self.reached / self.wanted


class SequentialDesign(Experiment):
    """Points × variants, with as many replications as each point needs."""

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
        return tuple(key for key, _ in self._precision.targets)

    def requests(self, seen: Seen) -> list[Request]:
        """Returns all replications of all points, as far as the variances seen ask for them."""
        counts = [self._replications(seen, point) for point in self._points]
        return [
            Request(point, variant, replication)
            for replication in range(max(counts))
            for point, count in zip(self._points, counts, strict=True)
            if replication < count
            for variant in self._variants
        ]

    def _replications(self, seen: Seen, point: Point) -> int:
        """Returns how many replications a point has to have, from all that was seen of it."""
        count, most = self._first, max(self._first, self._precision.most_replications)
        while count < most and self._was_run(seen, point, count):
            needed = max(target.needed for target in self._targets(seen, point, count))
            if needed <= count:
                break
            count = min(needed, most)
        return count

    def _was_run(self, seen: Seen, point: Point, count: int) -> bool:
        """Whether a round up to ``count`` was shown; what it does not have then, has failed."""
        return any(
            seen.verdict(Request(point, variant, count - 1)) is not None
            for variant in self._variants
        )

    def _targets(self, seen: Seen, point: Point, count: int) -> Iterator[_Target]:
        for variant in self._variants:
            requests = [Request(point, variant, replication) for replication in range(count)]
            for key, wanted in self._precision.targets:
                values = np.array([seen.value(request, key) for request in requests])
                reached, needed = _half_width(values), _needed(values, wanted)
                present = int(np.sum(~np.isnan(values)))
                yield _Target(point, variant, key, wanted, reached, present, needed)

    def _all_targets(self, seen: Seen) -> list[_Target]:
        return [
            target
            for point in self._points
            for target in self._targets(seen, point, self._seen_count(seen, point))
        ]

    def _seen_count(self, seen: Seen, point: Point) -> int:
        """Returns the replications of the last round that was shown."""
        count = self._replications(seen, point)
        while count and not self._was_run(seen, point, count):
            count -= 1
        return count

    def progress(self, seen: Seen) -> str:
        """Returns the slowest number: what it is, and how far from what was asked."""
        targets = [target for target in self._all_targets(seen) if not math.isnan(target.reached)]
        if not targets:
            wanted = ", ".join(f"{key} ±{share:.1%}" for key, share in self._precision.targets)
            return f"until {wanted}, at most {self._precision.most_replications} replications"
        slowest = max(targets, key=lambda target: target.slowness)
        met = sum(target.met for target in targets)
        where = point_words(slowest.point)
        return (
            f"{met} of {len(targets)} numbers are precise enough; the slowest is {slowest.key} of "
            f"{slowest.variant}{' at ' if where else ''}{where}: ±{slowest.reached:.1%} after "
            f"{slowest.replications} replications, ±{slowest.wanted:.1%} wanted"
        )

    def conclusion(self, seen: Seen) -> dict[str, Any]:
        """Returns each target: half width, whether it is met, replications."""
        return {
            "most_replications": self._precision.most_replications,
            "targets": [
                {
                    "point": dict(target.point),
                    "variant": target.variant,
                    "metric": target.key.metric,
                    "class": target.key.class_,
                    "stat": target.key.stat,
                    "wanted": target.wanted,
                    "reached": None if math.isnan(target.reached) else target.reached,
                    "met": target.met,
                    "replications": target.replications,
                }
                for target in self._all_targets(seen)
            ],
        }


def _half_width(values: NDArray[np.float64]) -> float:
    return float(relative_half_widths(values[None, :])[0]) if len(values) else math.nan


def _needed(values: NDArray[np.float64], wanted: float) -> int:
    """Returns the number of replications wanted; a number that does not exist wants none more."""
    there = values[~np.isnan(values)]
    return 0 if len(there) < 2 else replications_needed(there, wanted)
