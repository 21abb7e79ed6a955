"""The words between an experiment and the loop that runs its units; and the plain design."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.experiments.seen import Request, Seen
from analysis.metrics.catalogue import MetricKey


class Experiment(ABC):
    """One kind of study; unless it says otherwise it seeks nothing and asks for all at once."""

    name = ""
    """Its key in ``summary.json``."""

    def keys(self) -> tuple[MetricKey, ...]:
        """Returns the values that it has to see; none: it asks for everything at once."""
        return ()

    @abstractmethod
    def requests(self, seen: Seen) -> list[Request]:
        """Returns every unit that follows from what was seen, those already run included.

        The loop ends when all of them are done or have failed. A failed unit is never seen.
        """

    def progress(self, seen: Seen) -> str:  # noqa: ARG002 - for experiments that look
        """Returns one line: what is sought, and how far it is; empty if there is nothing to say."""
        return ""

    def conclusion(self, seen: Seen) -> dict[str, Any]:  # noqa: ARG002
        """Returns what was found, for ``summary.json``."""
        return {}


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
