"""What a reader has to know before trusting the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analysis.page.comparison import claim_words
from analysis.page.content import Paragraph
from analysis.page.findings import Findings
from analysis.report.refusal import LOAD, verdict_lines

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
    warnings = [
        *_missing_units(found),
        *(f"An invariant was violated: {one['variant']}, replication {one['replication']}: "
          f"{one['what']}" for one in summary["invariants"]["violations"][:_SHOWN_NOTICES]),
        *("Expectation not met: {} should be {}; it is {}.".format(*claim_words(one, summary))
          for one in summary["expectations"] if not one["holds"]),
    ]  # fmt: skip
    notes = [] if found.searched else [*_loads(found)]
    notes += [f"{one['text']}." for one in summary.get("warnings", ())]
    if not found.searched and all(row["replications"] == 1 for row in summary["rows"][:_FEW]):
        notes.append(_ONE_REPLICATION)
    return (
        *(Paragraph(f"{line}.", "alarm") for line in summary["verdict"]["stopped"]),
        *(Paragraph(line, "warning") for line in warnings),
        *(Paragraph(line, "note") for line in notes),
    )


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
        "“How far to trust it” names them."
    )


def _missing_units(found: Findings) -> Iterator[str]:
    asked, done = len(found.run.plan.units), len(found.run.done)
    if done < asked:
        yield (
            f"{asked - done:,} of {asked:,} units are missing or have failed; all numbers come "
            "from the others. The same command runs the missing ones."
        )
