"""How a study came out: in one word, and in the sentences of its answer, without its numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final


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


ANSWER: Final = "answer.json"


def said_in(folder: Path) -> Mapping[str, Any]:
    """Returns what a study's file says; nothing if there is none that can be read."""
    try:
        said = json.loads((folder / ANSWER).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def sentences(said: Mapping[str, Any]) -> list[str]:
    """Returns the answer's sentences; none of a file that somebody has damaged."""
    answer = said.get("answer")
    return [each for each in answer if isinstance(each, str)] if isinstance(answer, list) else []
