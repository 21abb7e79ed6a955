"""Which settings would change the conclusion: screening after Morris, then Sobol' on what matters.

Three steps. The centre of all ranges, with every replication of the study, says what the outcome is
there and how much of it is luck. Morris' trajectories move one factor at a time through its levels;
factors whose effect is no greater than luck would give are dropped. The few that are left get
Sobol' indices and a walk from end to end, the other factors at the centre.

Law: with two variants the outcome is the logarithm of second / first, whose effects add up where
those of a ratio multiply; with one it is the value. Every point of trajectories, samples and walks
is run once, with the random numbers of replication 0. As far as their draws stay in step, two
points of a trajectory then differ by the factor and not by luck as well; under load that is little
(docs/STATISTICS.md), so the noise floor does not count on it. Indices hold for those random
numbers; how others would move the outcome is what the centre's replications show. A point with a
failed or refused unit takes its trajectory or block with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.experiments.experiment import Experiment, Request, Seen
from analysis.experiments.sensitivity_conclusion import conclusion_of
from analysis.experiments.sensitivity_findings import (
    CENTRE,
    STEPS,
    SeenValues,
    SensitivityFindings,
    SensitivityOutcome,
    findings_of,
)
from analysis.metrics.catalogue import MetricKey
from analysis.statistics.intervals import Array
from analysis.statistics.sensitivity import morris_trajectories, sobol_blocks
from analysis.study.sections import Sensitivity
from analysis.study.study import Study

Point = Mapping[str, Any]


class SensitivityAnalysis(Experiment):
    """Centre and trajectories first; then samples and walks of the factors that stand out."""

    name = "sensitivity"

    def __init__(self, study: Study) -> None:
        if study.sensitivity is None:
            raise ValueError("the study has no sensitivity section; run it as a fixed design")
        self._asked: Sensitivity = study.sensitivity
        self._variants = list(study.variants)[:2]
        self._replications = study.replications
        self._outcomes = [SensitivityOutcome.of(key, study) for key in self._asked.outcomes]
        factors = len(self._asked.factors)
        self._trajectories = morris_trajectories(
            factors, self._asked.trajectories, self._asked.levels, self._asked.seed
        )

    @property
    def centre(self) -> Point:
        """The point in the middle of all ranges."""
        return self._point({})

    def keys(self) -> tuple[MetricKey, ...]:
        """Returns the outcomes' metrics."""
        return self._asked.outcomes

    def requests(self, seen: Seen) -> list[Request]:
        """Returns centre and trajectories; once they were seen, samples and walks as well.

        Whole rounds are shown, so a unit that is missing when others of its round are there has
        failed, and is not waited for.
        """
        first = self._first_requests()
        if not self._any_seen(seen, first):
            return first
        kept = self._kept(seen)
        return _each_once([*first, *self._at(self._second_points(kept))])

    def progress(self, seen: Seen) -> str:
        """Returns which step comes next, and about which factors."""
        factors, asked = len(self._asked.factors), self._asked
        if not self._any_seen(seen, self._first_requests()):
            return (f"screening {factors} factors on {asked.trajectories} trajectories of "
                    f"{factors + 1} points")  # fmt: skip
        kept = [self._asked.factors[place].key for place in self._kept(seen)]
        if not kept:
            return "no factor moves an outcome more than chance does"
        return f"Sobol' indices of {', '.join(kept)} from {asked.samples * (len(kept) + 2)} samples"

    def conclusion(self, seen: Seen) -> dict[str, Any]:
        """Returns, for each outcome: base, noise, effects, indices, walks, and a sentence."""
        kept = self._kept(seen) if self._any_seen(seen, self._first_requests()) else []
        return {
            "centre": dict(self.centre),
            "variants": self._variants,
            "factors": [
                {"key": factor.key, "low": factor.low, "high": factor.high, "scale": factor.scale}
                for factor in self._asked.factors
            ],
            "kept": [self._asked.factors[place].key for place in kept],
            "trajectories": self._asked.trajectories,
            "levels": self._asked.levels,
            "samples": self._asked.samples,
            "seed": self._asked.seed,
            "outcomes": [
                conclusion_of(outcome, self._findings(seen, outcome, kept), self._asked)
                for outcome in self._outcomes
            ],
        }

    def _first_requests(self) -> list[Request]:
        centre = [
            Request(self.centre, variant, replication)
            for replication in range(self._replications)
            for variant in self._variants
        ]
        points = [self._point(dict(enumerate(row))) for row in self._rows(self._trajectories)]
        return _each_once([*centre, *self._at(points)])

    def _second_points(self, kept: Sequence[int]) -> list[Point]:
        return [*self._sampled(kept, self._blocks(kept)), *self._walked(kept)]

    def _blocks(self, kept: Sequence[int]) -> Array:
        if not kept:
            return np.empty((0, 2, 0))
        return sobol_blocks(len(kept), self._asked.samples, self._asked.seed)

    def _sampled(self, kept: Sequence[int], blocks: Array) -> list[Point]:
        return [self._point(dict(zip(kept, row, strict=True))) for row in self._rows(blocks)]

    def _walked(self, kept: Sequence[int]) -> list[Point]:
        return [self._point({place: share}) for place in kept for share in STEPS]

    def _rows(self, shares: Array) -> list[list[float]]:
        """Returns the points of trajectories or blocks, in order."""
        return [row for walk in shares.tolist() for row in walk]

    def _point(self, shares: Mapping[int, float]) -> Point:
        """Returns a point with some factors at given shares and the others at the centre."""
        return {
            factor.key: factor.at(shares.get(place, CENTRE))
            for place, factor in enumerate(self._asked.factors)
        }

    def _at(self, points: Sequence[Point]) -> list[Request]:
        return [Request(point, variant, 0) for point in points for variant in self._variants]

    def _any_seen(self, seen: Seen, requests: Sequence[Request]) -> bool:
        return any(seen.verdict(request) is not None for request in requests)

    def _kept(self, seen: Seen) -> list[int]:
        """Returns the places of the factors that go on, the weightiest first.

        A factor counts by its greatest part in any outcome's effects that are above noise.
        """
        weights = np.zeros(len(self._asked.factors))
        for outcome in self._outcomes:
            found = self._findings(seen, outcome, [])
            clear = np.where(found.above_noise, found.effects.mu_star, 0.0)
            if clear.sum() > 0:
                weights = np.maximum(weights, clear / clear.sum())
        order = np.argsort(-weights, kind="stable")[: self._asked.keep]
        return [int(place) for place in order if weights[place] > 0]

    def _findings(
        self, seen: Seen, outcome: SensitivityOutcome, kept: Sequence[int]
    ) -> SensitivityFindings:
        def values(points: Sequence[Point]) -> Array:
            return np.array([self._value(seen, outcome, point, 0) for point in points])

        blocks = self._blocks(kept)
        screened = [self._point(dict(enumerate(row))) for row in self._rows(self._trajectories)]
        base = [self._value(seen, outcome, self.centre, one) for one in range(self._replications)]
        seen_values = SeenValues(
            base=np.array(base),
            screened=values(screened).reshape(self._trajectories.shape[:2]),
            screened_at=self._true_shares(),
            sampled_at=blocks,
            sampled=values(self._sampled(kept, blocks)).reshape(blocks.shape[:2]),
            walks=values(self._walked(kept)).reshape(len(kept), len(STEPS)),
        )
        return findings_of(self._asked, self._trajectories, kept, seen_values)

    def _true_shares(self) -> Array:
        """Returns where in its range each factor is on the trajectories, once it is rounded."""
        factors = self._asked.factors
        rows = [
            [each.share_of(each.at(share)) for each, share in zip(factors, row, strict=True)]
            for row in self._rows(self._trajectories)
        ]
        return np.array(rows).reshape(self._trajectories.shape)

    def _value(
        self, seen: Seen, outcome: SensitivityOutcome, point: Point, replication: int
    ) -> float:
        return outcome.value(
            [
                seen.value(Request(point, variant, replication), outcome.key)
                for variant in self._variants
            ]
        )


def _each_once(requests: Sequence[Request]) -> list[Request]:
    """Returns the requests without repetitions, in their order."""
    by_content = {
        (tuple(request.point.items()), request.variant, request.replication): request
        for request in reversed(requests)
    }
    return list(reversed(by_content.values()))
