"""How far the numbers can be trusted: saturation, warm-up, replications, invariants.

What a reader has to know before trusting the numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from analysis.metrics.rounding import short
from analysis.page.content import Block, Items, Paragraph
from analysis.page.findings import Findings
from analysis.report.comparison import precision_table
from analysis.report.expectations import claim_words
from analysis.report.refusal import LOAD, STOPPED, verdict_lines
from analysis.report.table import Cell, ReportTable
from analysis.statistics.saturation import Verdict
from analysis.study.units import at_point

COMPARISON: Final = "Comparison"
TRUST: Final = "How far to trust it"
"""Headings of sections that the top of a page refers to."""

_CLAIM: Final = ("metric", "class", "stat", "variant", "against", "below", "above")
_MOST_ROWS: Final = 40
_RULES: Final = (
    (
        STOPPED,
        "Where work stopped, throughput fell or transactions took far longer, latencies include "
        "what had not ended when the run did. It is taken to last longer than anything that ended; "
        "a quantile that falls among it is given as a lower bound, its value if all had ended with "
        "the run.",
    ),
    (
        (Verdict.OVERLOADED, Verdict.UNSETTLED),
        "Latencies of cases that are overloaded or have not settled are refused.",
    ),
)
"""What follows for the numbers from the verdicts on cases."""
_STABLE: Final = "stable"


def trust_blocks(found: Findings) -> Iterator[Block]:
    """Yields verdicts on load, cuts of warm-up, precision, and what checkers saw."""
    yield Paragraph(_verdicts(found))
    yield _cases(found)
    if "precision" in found.summary:
        yield precision_table(found.summary["precision"], found.run.unit_cpu_s, len(found.variants))
    # What the top of the page has no room for.
    kinds = [texts for texts in _by_kind(found.summary) if len(texts) > _SHOWN_LOADS]
    if kinds:
        yield Items(tuple(text for texts in kinds for text in texts))
    cost = found.summary["cost"]
    yield Paragraph(
        f"{found.replications} per case, {short(cost['simulated_s'])} simulated seconds, "
        f"{cost['transactions']:,} transactions and {cost['events']:,} events in total. Intervals "
        "are Student's t over replications; those of quantiles are widened by the width of the "
        "histogram's buckets (1.1 %)."
    )
    yield Paragraph(_checked(found))


def _verdicts(found: Findings) -> str:
    units = found.summary["units"]
    lines = verdict_lines(units)
    if not lines:
        return (
            "Every replication carried its load: no work piled up, and no latency drifted while "
            "it was measured."
        )
    seen = {verdict for fact in units for verdict in fact["verdicts"]}
    rules = [rule for verdicts, rule in _RULES if seen & {str(each) for each in verdicts}]
    if "capacity" in found.summary:
        rules.append("A search for capacity also tries loads that cannot be carried.")
    return " ".join([f"{'. '.join(lines)}.", *rules])


def _cases(found: Findings) -> ReportTable:
    facts = found.summary["units"]
    ordered = sorted(facts, key=lambda fact: set(fact["verdicts"]) == {_STABLE})
    rows = tuple(
        (
            Cell(at_point(fact["variant"], fact["point"])),
            _verdict(fact),
            Cell(str(sum(fact["verdicts"].values()))),
            Cell(_span(fact["warmup_s"])),
        )
        for fact in ordered[:_MOST_ROWS]
    )
    more = len(facts) - len(rows)
    notes = (f"{more:,} more in summary.json.",) if more else ()
    return ReportTable(
        "Load and warm-up by case",
        ("case", "verdict", "replications", "left out as warm-up (s)"),
        rows,
        notes,
        (0, 1),
    )


def _verdict(fact: Mapping[str, Any]) -> Cell:
    verdicts = fact["verdicts"]
    if set(verdicts) == {_STABLE}:
        return Cell(_STABLE)
    counts = ", ".join(
        f"{number} {verdict}" if len(verdicts) > 1 else str(verdict)
        for verdict, number in verdicts.items()
    )
    return Cell(f"{counts}: {fact['reason']}" if fact["reason"] else counts, "refused")


def _span(seconds: Mapping[str, float]) -> str:
    low, high = seconds["min"], seconds["max"]
    if low == high:
        return short(low)
    return f"{short(seconds['median'])} ({short(low)} to {short(high)})"


def _checked(found: Findings) -> str:
    invariants = found.summary["invariants"]
    checked, violations = invariants["checked"], len(invariants["violations"])
    if not checked:
        return "Checkers were off: nothing watched for broken invariants."
    seen = "none was broken" if not violations else f"{violations} were broken, see the top"
    return (
        f"{checked:,} runs were watched for broken invariants (one holder per key, no lost update, "
        f"every lock accounted for, bytes and requests conserved, rules of Raft): {seen}."
    )


_SHOWN_NOTICES: Final = 6
_SHOWN_LOADS: Final = 3
_ONE_REPLICATION: Final = (
    "With one replication no number here has an interval, so no difference can be told from "
    "chance. Run with --replications 5."
)
_FEW: Final = 50
"""Rows that say how often a study was repeated; all of a point say the same."""


def notices(found: Findings) -> tuple[Paragraph, ...]:
    """Returns what has to be known before trusting the numbers, the gravest first.

    Alarms, on work that stopped or fell, stand above the answer.
    """
    summary = found.summary
    asked, done = len(found.run.plan.units), len(found.run.done)
    missing = (
        f"{asked - done:,} of {asked:,} units are missing or have failed; all numbers come from "
        "the others. The same command runs the missing ones."
    )
    warnings = [
        *([missing] if done < asked else []),
        *(f"An invariant was violated: {one['variant']}, replication {one['replication']}: "
          f"{one['what']}" for one in summary["invariants"]["violations"][:_SHOWN_NOTICES]),
        *_claims(summary),
    ]  # fmt: skip
    notes = [] if found.searched else [*_loads(found)]
    for texts in _by_kind(summary):  # of many of a kind the first, and how many more there are
        if len(texts) <= _SHOWN_LOADS:
            notes += texts
        else:
            notes.append(f"{texts[0]} “{TRUST}” has {len(texts) - 1} more notes of this kind.")
    if not found.searched and all(row["replications"] == 1 for row in summary["rows"][:_FEW]):
        notes.append(_ONE_REPLICATION)
    return (
        *(Paragraph(f"{line}.", "alarm") for line in summary["verdict"]["stopped"]),
        *(Paragraph(line, "warning") for line in warnings),
        *(Paragraph(line, "note") for line in notes),
    )


def _claims(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yields claims that do not hold; one of several points once, with how many points it is."""
    by_claim: dict[str, list[Mapping[str, Any]]] = {}
    for one in summary["expectations"]:
        claim = {name: value for name, value in one.items() if name in _CLAIM}
        by_claim.setdefault(repr(claim), []).append(one)
    for members in by_claim.values():
        broken = [one for one in members if not one["holds"]]
        if len(broken) > 1:
            what, bound, _ = claim_words({**broken[0], "point": {}}, summary)
            counts = sorted(Counter(map(_broken, broken)).items())
            how_often = " and ".join(f"{how} at {number}" for how, number in counts)
            yield (
                f"Expectation {how_often} of {len(members)} points: {what} should be {bound}; "
                f"“{COMPARISON}” says what was found at each."
            )
            continue
        for one in broken:
            what, bound, seen = claim_words(one, summary)
            yield f"Expectation {_broken(one)}: {what} should be {bound}; found: {seen}."


def _broken(claim: Mapping[str, Any]) -> str:
    return "not met" if claim["refuted"] else "not shown"


def _by_kind(summary: Mapping[str, Any]) -> Sequence[Sequence[str]]:
    by_kind: dict[str, list[str]] = {}
    for one in summary.get("warnings", ()):
        by_kind.setdefault(one["kind"], []).append(f"{one['text']}.")
    return list(by_kind.values())


def _loads(found: Findings) -> Iterator[str]:
    """Yields cases that are not stable but have not stopped, or how many there are."""
    units = found.summary["units"]
    lines = verdict_lines(units, LOAD)
    if len(lines) <= _SHOWN_LOADS:
        yield from (f"Load: {line}." for line in lines)
        return
    odd = sum(any(str(each) in fact["verdicts"] for each in LOAD) for fact in units)
    yield (
        f"Load: {odd:,} of {len(units):,} cases are overloaded, not settled or near saturation; "
        f"“{TRUST}” names them."
    )
