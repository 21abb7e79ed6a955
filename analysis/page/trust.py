"""How far the numbers can be trusted: saturation, warm-up, replications, invariants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from analysis.metrics.rounding import short
from analysis.page.comparison import precision_table
from analysis.page.content import Block, Cell, PageTable, Paragraph
from analysis.page.findings import Findings
from analysis.report.refusal import STOPPED, verdict_lines
from analysis.statistics.saturation import Verdict
from analysis.study.units import point_words

_MOST_ROWS: Final = 40
_RULES: Final = (
    (
        STOPPED,
        "Where work stopped or throughput fell, latencies include what had not ended when the run "
        "did. It is taken to last longer than anything that ended; a quantile that falls among it "
        "is given as a lower bound, its value if all had ended with the run.",
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
    yield from precision_table(found)
    yield Paragraph(_replications(found))
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


def _cases(found: Findings) -> PageTable:
    facts = found.summary["units"]
    ordered = sorted(facts, key=lambda fact: set(fact["verdicts"]) == {_STABLE})
    rows = tuple(
        (
            Cell(_case(fact)),
            _verdict(fact),
            Cell(str(sum(fact["verdicts"].values()))),
            Cell(_spread(fact["warmup_s"])),
        )
        for fact in ordered[:_MOST_ROWS]
    )
    more = len(facts) - len(rows)
    note = f"{more:,} more in summary.json." if more else ""
    return PageTable(
        "Load and warm-up by case",
        ("case", "verdict", "replications", "left out as warm-up (s)"),
        rows,
        note,
        (0, 1),
    )


def _case(fact: Mapping[str, Any]) -> str:
    point = point_words(fact["point"])
    return f"{fact['variant']} at {point}" if point else str(fact["variant"])


def _verdict(fact: Mapping[str, Any]) -> Cell:
    verdicts = fact["verdicts"]
    if set(verdicts) == {_STABLE}:
        return Cell(_STABLE)
    counts = ", ".join(
        f"{number} {verdict}" if len(verdicts) > 1 else str(verdict)
        for verdict, number in verdicts.items()
    )
    return Cell(f"{counts}: {fact['reason']}" if fact["reason"] else counts, "refused")


def _spread(seconds: Mapping[str, float]) -> str:
    low, high = seconds["min"], seconds["max"]
    if low == high:
        return short(low)
    return f"{short(seconds['median'])} ({short(low)} to {short(high)})"


def _replications(found: Findings) -> str:
    cost = found.summary["cost"]
    least, most = found.replications
    times = f"{least} replications" if least == most else f"between {least} and {most} replications"
    return (
        f"{times} per case, {short(cost['simulated_s'])} simulated seconds, "
        f"{cost['transactions']:,} transactions and {cost['events']:,} events in total. Intervals "
        "are Student's t over replications; those of quantiles are widened by the width of the "
        "histogram's buckets (1.1 %)."
    ).replace("1 replications", "1 replication")


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
