"""The plain design: every variant at every point, as often as the file says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.experiments.experiment import Request, Seen
from analysis.metrics.catalogue import MetricKey


class FixedDesign:
    """Points × variants × replications, replications outermost.

    A study that is stopped early then has all variants at the same number of replications, and
    pairs under common random numbers are complete.
    """

    name = "design"

    def __init__(
        self, points: Sequence[Mapping[str, Any]], variants: Sequence[str], replications: int
    ) -> None:
        self._requests = [
            Request(point, variant, replication)
            for replication in range(replications)
            for point in points
            for variant in variants
        ]

    def keys(self) -> tuple[MetricKey, ...]:
        """Returns none: nothing depends on what is seen."""
        return ()

    def requests(self, seen: Seen) -> list[Request]:  # noqa: ARG002 - the experiments' signature
        """Returns all units."""
        return self._requests

    def progress(self, seen: Seen) -> str:  # noqa: ARG002
        """Returns nothing: the number of units says it all."""
        return ""

    def conclusion(self, seen: Seen) -> dict[str, Any]:  # noqa: ARG002
        """Returns nothing: the tables say it all."""
        return {}
