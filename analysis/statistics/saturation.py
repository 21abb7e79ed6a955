"""Whether the averages of a unit mean anything: what became of its load after the warm-up."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Verdict(StrEnum):
    """How a unit stood its load."""

    STABLE = "stable"
    NEAR_SATURATION = "near saturation"
    OVERLOADED = "overloaded"
    UNSETTLED = "not settled"

    @property
    def refused(self) -> bool:
        """Whether a latency of such a unit depends on how long it was watched."""
        return self in {Verdict.OVERLOADED, Verdict.UNSETTLED}


class Judgement(NamedTuple):
    """A verdict and its grounds, in words for a reader."""

    verdict: Verdict
    reason: str = ""
