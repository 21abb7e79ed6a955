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

_SAYS: Final = (
    (
        Verdict.OUTAGE,
        False,
        "work stopped or nearly stopped, and had not come back when the run ended",
    ),
    (Verdict.OUTAGE, True, "some transactions stopped and had not ended when the run did"),
    (
        Verdict.DEGRADED,
        False,
        "throughput fell or transactions took far longer after something was done to the cluster",
    ),
    (Verdict.OVERLOADED, False, "work piled up: more was asked for than was done"),
    (Verdict.UNSETTLED, False, "the run was too short for its latencies"),
)
"""What is said of the cases that came to a verdict, the gravest first, and whether that is said of
those in which others went on."""


@dataclass(frozen=True, slots=True)
class StudyVerdict:
    """What a study came to."""

    outcome: str
    """A ``StudyOutcome``."""
    fine: bool
    """Whether nothing failed, stopped or fell, no promise is broken, and no latency is refused."""
    says: str
    """A sentence on the gravest of what cases came to; empty if all carried their load, or none
    keeps the promise of a search, which is its answer."""
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
        seen, says, stopped = _of_search(summary["capacity"])
    else:
        units = summary["units"]
        seen = {StudyOutcome[each.name] for case in units for each in _came_to(case["verdicts"])}
        says, stopped = _sentence(units), verdict_lines(units, STOPPED)
    broken = not all(claim["holds"] for claim in summary["expectations"])
    if broken or summary["invariants"]["violations"]:
        seen.add(StudyOutcome.FAILED)
    outcome = next((each for each in StudyOutcome if each in seen), StudyOutcome.PASSED)
    return StudyVerdict(str(outcome), outcome is StudyOutcome.PASSED, says, tuple(stopped))


def _of_search(searched: Mapping[str, Any]) -> tuple[set[StudyOutcome], str, list[str]]:
    """Returns what cases of a search came to, a sentence on the gravest, a line for each."""
    cases = searched.get("cases", ())
    still = [case for case in cases if stop_words(searched, case)]
    broken = [case for case in cases if case["status"] == "below"]
    seen = {StudyOutcome.OUTAGE for _ in still} | {StudyOutcome.UNMET for _ in broken}
    says = ""
    if still:
        lowest = all(case in broken for case in still)
        at = "the lowest load already" if lowest else "a load that was to be carried"
        says = f"{_where([*map(case_words, still)], len(cases))}work stopped at {at}."
    elif 0 < len(broken) < len(cases):  # Of all cases the answer itself says it.
        where = _where([*map(case_words, broken)], len(cases))
        says = f"{where}the promise is broken at the lowest load already."
    return seen, says, [f"{case_words(case)}: {stop_words(searched, case)}" for case in still]


def _where(names: Sequence[str], of: int) -> str:
    """Returns in which cases something is so; nothing where there is one case.

    Such as ``in 2 of 4 cases ``, or ``in 1 of 4 cases (in_memory at workload.threads = 50), ``.
    """
    if of == 1:
        return ""
    name = f" ({names[0]})," if len(names) == 1 else ""
    return f"in {len(names):,} of {of:,} cases{name} "


def _came_to(verdicts: Mapping[str, int]) -> set[Verdict]:
    """Returns for what a case is not fine: it stopped, it fell, its latencies are refused."""
    refused = refused_for(verdicts)
    stopped = {each for each in STOPPED if verdicts.get(str(each))}
    return stopped if refused is None else {*stopped, refused}


def _sentence(units: Sequence[Mapping[str, Any]]) -> str:
    for verdict, went_on, what in _SAYS:
        names = [
            at_point(case["variant"], case["point"])
            for case in units
            if verdict in _came_to(case["verdicts"]) and case["others_went_on"] is went_on
        ]
        if names:
            return f"{_where(names, len(units))}{what}."
    return ""
