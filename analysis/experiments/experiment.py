"""The words between an experiment and the loop that runs its units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from analysis.metrics.catalogue import MetricKey
    from analysis.statistics.saturation import Verdict


class Request(NamedTuple):
    """A unit that an experiment asks for."""

    point: Mapping[str, Any]
    """Settings beside those of the file: a point of the study, and what the experiment varies."""
    variant: str
    replication: int


class Seen(Protocol):
    """What finished units have given."""

    def value(self, request: Request, key: MetricKey) -> float:
        """Returns a unit's value; NaN if the unit is not finished or has no such value."""

    def verdict(self, request: Request) -> Verdict | None:
        """Returns how settled a unit was; None if it is not finished."""


class Experiment(Protocol):
    """One kind of study."""

    name: str
    """Its key in ``summary.json``."""

    def keys(self) -> tuple[MetricKey, ...]:
        """Returns the values that it has to see; none: it asks for everything at once."""

    def requests(self, seen: Seen) -> list[Request]:
        """Returns every unit that follows from what was seen, those already run included.

        The loop ends when all of them are done or have failed. A failed unit is never seen.
        """

    def progress(self, seen: Seen) -> str:
        """Returns one line: what is sought, and how far it is; empty if there is nothing to say."""

    def conclusion(self, seen: Seen) -> dict[str, Any]:
        """Returns what was found, for ``summary.json``."""
