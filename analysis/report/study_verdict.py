"""The one verdict on a study: what terminal, page, ``summary.json`` and exit status go by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from analysis.experiments.case_words import case_words, stop_words
from analysis.report.refusal import STOPPED, refused_for, verdict_lines
from analysis.statistics.saturation import Verdict
from analysis.study.units import at_point

_SAYS: Final = {
    Verdict.OUTAGE: "work stopped and had not come back when the run ended",
    Verdict.DEGRADED: "throughput fell or transactions took far longer after something was done "
    "to the cluster",
    Verdict.OVERLOADED: "work piled up: more was asked for than was done",
    Verdict.UNSETTLED: "the run was too short for its latencies",
}
"""What is said of the cases that came to a verdict, the gravest first."""


class StudyOutcome(StrEnum):
    """How a study came out, the gravest first."""

    OUTAGE = "outage"
    """Work stopped in some case and had not come back when the run ended."""
    FAILED = "failed"
    """An expectation or an invariant does not hold."""
    DEGRADED = "degraded"
    """Throughput fell, or transactions took longer, after something was done to the cluster."""
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


@dataclass(frozen=True, slots=True)
class StudyVerdict:
    """What a study came to."""

    outcome: str
    """A ``StudyOutcome``."""
    fine: bool
    """Whether nothing failed, stopped or fell, and no latency is refused."""
    says: str
    """A sentence on the gravest of what cases came to; empty if all carried their load."""
    stopped: tuple[str, ...]
    """A line for each case in which work stopped or suffered, the worst first."""


def study_verdict(summary: Mapping[str, Any]) -> StudyVerdict:
    """Returns the verdict on a study.

    Args:
        summary: ``units``, ``expectations`` and ``invariants`` of ``summary.json``. A search for
            capacity goes beyond what is carried, so what stops there is part of its answer, unless
            it stops below, or at the lowest load already.
    """
    if "capacity" in summary:
        searched = summary["capacity"]
        cases = searched.get("cases", ())
        still = [case for case in cases if stop_words(searched, case)]
        seen = {Verdict.OUTAGE} if still else set()
        where = _where([case_words(case) for case in still], len(cases))
        lowest = all(case["status"] == "below" for case in still)
        at = "the lowest load already" if lowest else "a load that was to be carried"
        says = f"{where}work stopped at {at}." if still else ""
        stopped = [f"{case_words(case)}: {stop_words(searched, case)}" for case in still]
    else:
        units = summary["units"]
        came_to = [
            (at_point(case["variant"], case["point"]), _came_to(case["verdicts"])) for case in units
        ]
        seen = {verdict for _, case in came_to for verdict in case}
        says, stopped = _sentence(came_to), verdict_lines(units, STOPPED)
    outcome = next(_outcomes(summary, seen), StudyOutcome.PASSED)
    return StudyVerdict(
        outcome=str(outcome),
        fine=outcome is StudyOutcome.PASSED,
        says=says,
        stopped=tuple(stopped),
    )


def _where(names: Sequence[str], of: int) -> str:
    """Returns in which cases something is so; nothing where there is one case.

    Such as ``in 2 of 4 cases ``, or ``in 1 of 4 cases, in_memory at workload.threads = 50, ``.
    """
    if of == 1:
        return ""
    name = f", {names[0]}," if len(names) == 1 else ""
    return f"in {len(names):,} of {of:,} cases{name} "


def _came_to(verdicts: Mapping[str, int]) -> set[Verdict]:
    """Returns for what a case is not fine: it stopped, it fell, its latencies are refused."""
    refused = refused_for(verdicts)
    stopped = {each for each in STOPPED if verdicts.get(str(each))}
    return stopped if refused is None else {*stopped, refused}


def _sentence(came_to: Sequence[tuple[str, set[Verdict]]]) -> str:
    for verdict, what in _SAYS.items():
        names = [name for name, case in came_to if verdict in case]
        if names:
            return f"{_where(names, len(came_to))}{what}."
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
    if Verdict.OVERLOADED in seen:
        yield StudyOutcome.OVERLOADED
    if Verdict.UNSETTLED in seen:
        yield StudyOutcome.UNSETTLED
