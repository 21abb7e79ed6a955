"""The plain design: every variant at every point, as often as the file says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.experiments.experiment import Experiment
from analysis.experiments.seen import Request, Seen


class FixedDesign(Experiment):
    """Points × variants × replications, replications outermost.

    A study that is stopped early then has all variants at the same number of replications, and
    pairs under common random numbers are complete.
    """

    def __init__(
        self, points: Sequence[Mapping[str, Any]], variants: Sequence[str], replications: int
    ) -> None:
        self._requests = [
            Request(point, variant, replication)
            for replication in range(replications)
            for point in points
            for variant in variants
        ]

    def requests(self, seen: Seen) -> list[Request]:  # noqa: ARG002 - experiments' signature
        """Returns all units."""
        return self._requests
