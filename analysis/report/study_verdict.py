"""The one verdict on a study: what terminal, page, ``summary.json`` and exit status go by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from analysis.experiments.case_words import OUTAGE, case_words, why_refused
from analysis.report.refusal import STOPPED, verdict_lines
from analysis.statistics.saturation import Verdict


class StudyOutcome(StrEnum):
    """How a study came out, the gravest first."""

    OUTAGE = "outage"
    """Work stopped in some case and had not come back when the run ended."""
    FAILED = "failed"
    """An expectation or an invariant does not hold."""
    DEGRADED = "degraded"
    """Throughput fell in some case after something was done to the cluster."""
    PASSED = "passed"

    @property
    def fails(self) -> bool:
        """Whether a command that came to this ends with an exit status other than 0."""
        return self in {StudyOutcome.OUTAGE, StudyOutcome.FAILED}


@dataclass(frozen=True, slots=True)
class StudyVerdict:
    """What a study came to."""

    outcome: str
    """A ``StudyOutcome``."""
    fine: bool
    """Whether nothing failed, stopped or fell."""
    says: str
    """A sentence on what stopped or fell; empty if nothing did."""
    stopped: tuple[str, ...]
    """A line for each case in which work stopped or throughput fell, the worst first."""


def study_verdict(summary: Mapping[str, Any]) -> StudyVerdict:
    """Returns the verdict on a study.

    Args:
        summary: ``units``, ``expectations`` and ``invariants`` of ``summary.json``. A search for
            capacity goes beyond what is carried, so what stops there is part of its answer, unless
            it is its lowest load.
    """
    if "capacity" in summary:
        searched = summary["capacity"]
        still = [case for case in searched.get("cases", ()) if case["binds"] == OUTAGE]
        seen = {Verdict.OUTAGE} if still else set()
        where = f"{_share(len(still), len(searched['cases']))}" if still else ""
        says = f"{where}work stopped at the lowest load already." if still else ""
        stopped = [f"{case_words(case)}: {why_refused(searched, case)}" for case in still]
    else:
        units = summary["units"]
        seen = {Verdict(verdict) for case in units for verdict in case["verdicts"]}
        says, stopped = _sentence(units), verdict_lines(units, STOPPED)
    outcome = next(_outcomes(summary, seen), StudyOutcome.PASSED)
    return StudyVerdict(
        outcome=str(outcome),
        fine=outcome is StudyOutcome.PASSED,
        says=says,
        stopped=tuple(stopped),
    )


def _share(number: int, of: int) -> str:
    """Returns ``in 1 of 3 cases ``; nothing where there is one case."""
    return f"in {number:,} of {of:,} cases " if of > 1 else ""


def _sentence(units: Sequence[Mapping[str, Any]]) -> str:
    for verdict, what in (
        (Verdict.OUTAGE, "work stopped and had not come back when the run ended"),
        (Verdict.DEGRADED, "throughput fell after something was done to the cluster"),
    ):
        names = [case for case in units if case["verdicts"].get(str(verdict))]
        if names:
            return f"{_share(len(names), len(units))}{what}."
    return ""


def _outcomes(summary: Mapping[str, Any], seen: set[Verdict]) -> Iterator[StudyOutcome]:
    """Yields all that the study came to but that it passed, the gravest first."""
    if Verdict.OUTAGE in seen:
        yield StudyOutcome.OUTAGE
    claims = all(claim["holds"] for claim in summary["expectations"])
    if not claims or summary["invariants"]["violations"]:
        yield StudyOutcome.FAILED
    if Verdict.DEGRADED in seen:
        yield StudyOutcome.DEGRADED
