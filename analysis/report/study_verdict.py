"""The one verdict on a study: what terminal, page, ``summary.json`` and exit status go by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analysis.experiments.case_words import case_words, stop_words
from analysis.report.refusal import STOPPED, refused_for, verdict_lines
from analysis.statistics.saturation import Verdict
from analysis.study.study_outcome import StudyOutcome
from analysis.study.units import at_point

_SAYS: Final = {
    Verdict.OUTAGE: "work stopped and had not come back when the run ended",
    Verdict.DEGRADED: "throughput fell or transactions took far longer after something was done "
    "to the cluster",
    Verdict.OVERLOADED: "work piled up: more was asked for than was done",
    Verdict.UNSETTLED: "the run was too short for its latencies",
}
"""What is said of the cases that came to a verdict, the gravest first."""
_OUTCOMES: Final = {verdict: StudyOutcome[verdict.name] for verdict in _SAYS}


@dataclass(frozen=True, slots=True)
class StudyVerdict:
    """What a study came to."""

    outcome: str
    """A ``StudyOutcome``."""
    fine: bool
    """Whether nothing failed, stopped or fell, no promise is broken, and no latency is refused."""
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
        return _of_search(summary, summary["capacity"])
    units = summary["units"]
    came_to = [
        (at_point(case["variant"], case["point"]), _came_to(case["verdicts"])) for case in units
    ]
    outcome = _outcome(summary, {_OUTCOMES[each] for _, case in came_to for each in case})
    return StudyVerdict(
        outcome=str(outcome),
        fine=outcome is StudyOutcome.PASSED,
        says=_sentence(came_to),
        stopped=tuple(verdict_lines(units, STOPPED)),
    )


def _of_search(summary: Mapping[str, Any], searched: Mapping[str, Any]) -> StudyVerdict:
    cases = searched.get("cases", ())
    still = [case for case in cases if stop_words(searched, case)]
    broken = [case for case in cases if case["status"] == "below"]
    seen, says = set(), ""
    if still:
        seen.add(StudyOutcome.OUTAGE)
        lowest = all(case in broken for case in still)
        at = "the lowest load already" if lowest else "a load that was to be carried"
        says = f"{_where([case_words(case) for case in still], len(cases))}work stopped at {at}."
    elif broken:
        where = _where([case_words(case) for case in broken], len(cases))
        says = f"{where}the promise is broken at the lowest load already."
    if broken:
        seen.add(StudyOutcome.UNMET)
    outcome = _outcome(summary, seen)
    return StudyVerdict(
        outcome=str(outcome),
        fine=outcome is StudyOutcome.PASSED,
        says=says,
        stopped=tuple(f"{case_words(case)}: {stop_words(searched, case)}" for case in still),
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


def _outcome(summary: Mapping[str, Any], seen: set[StudyOutcome]) -> StudyOutcome:
    """Returns the gravest that the study came to; ``seen`` is what its cases came to."""
    claims = all(claim["holds"] for claim in summary["expectations"])
    if not claims or summary["invariants"]["violations"]:
        seen = {*seen, StudyOutcome.FAILED}
    return next((each for each in StudyOutcome if each in seen), StudyOutcome.PASSED)
