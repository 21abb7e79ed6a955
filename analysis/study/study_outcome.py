"""How a study came out, in one word."""

from __future__ import annotations

from enum import StrEnum


class StudyOutcome(StrEnum):
    """How a study came out, the gravest first."""

    OUTAGE = "outage"
    """Work stopped in some case and had not come back when the run ended."""
    FAILED = "failed"
    """An expectation or an invariant does not hold."""
    DEGRADED = "degraded"
    """Throughput fell, or transactions took longer, after something was done to the cluster."""
    UNMET = "unmet"
    """A search for capacity found the promise broken at its lowest load already."""
    OVERLOADED = "overloaded"
    """Work piled up in some case."""
    UNSETTLED = "unsettled"
    """The run was too short for the latencies of some case."""
    PASSED = "passed"

    @property
    def fails(self) -> bool:
        """Whether a command that came to this ends with an exit status other than 0."""
        return self in {StudyOutcome.OUTAGE, StudyOutcome.FAILED}

    @classmethod
    def became_graver(cls, before: str, after: str) -> bool:
        """Returns whether one study came to worse than another; not if one is not known."""
        order = [str(each) for each in cls]
        return before in order and after in order and order.index(after) < order.index(before)
