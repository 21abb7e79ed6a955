"""What an experiment and the loop that runs its units say to each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

from analysis.metrics.catalogue import MetricKey
from analysis.statistics.saturation import Verdict


class Request(NamedTuple):
    """A unit that an experiment asks for."""

    point: Mapping[str, Any]
    """Settings beside those of the file: a point of the study, and what the experiment varies."""
    variant: str
    replication: int


class Seen(ABC):
    """What finished units have given; a queue with a known answer can stand behind it as well."""

    @abstractmethod
    def value(self, request: Request, key: MetricKey) -> float:
        """Returns a unit's value; NaN if the unit is not finished or has no such value."""

    def values(self, request: Request, key: MetricKey) -> tuple[float, ...]:
        """Returns the values of a unit's batches; by default it is one."""
        return (self.value(request, key),)

    @abstractmethod
    def verdict(self, request: Request) -> Verdict | None:
        """Returns how settled a unit was; None if it is not finished."""

    def failed(self, request: Request) -> bool:  # noqa: ARG002 - for what can fail
        """Returns whether a unit has failed, so that it is not waited for."""
        return False


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

        The loop ends when all of them are done or have failed.
        """

    def progress(self, seen: Seen) -> str:  # noqa: ARG002 - for experiments that look
        """Returns one line: what is sought, and how far it is; empty if there is nothing to say."""
        return ""

    def conclusion(self, seen: Seen) -> dict[str, Any]:  # noqa: ARG002
        """Returns what was found, for ``summary.json``."""
        return {}
