"""Numbers as a reader takes them in: changes in percent, as exact as their interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from analysis.metrics import rounding
from analysis.metrics.catalogue import HIGHER_IS_BETTER
from analysis.metrics.rounding import short
from analysis.page.content import Cell, Tone
from analysis.report.change_words import change_parts, told_apart

Row = Mapping[str, Any]

NEUTRAL: Final = frozenset({
    "disk_write_bytes_per_s", "fsync_per_s", "network_bytes_per_s", "txn_aborts", "txns_unfinished",
    "lock_wait_ms",
})  # fmt: skip
"""Of these, more may be better or worse: a cluster that does more writes more."""

_GAINS: Final = HIGHER_IS_BETTER | {"capacity_load", "capacity_txn_per_s"}

DASH: Final = "–"


def value_cell(row: Row | None, scale: float = 1.0) -> Cell:
    """Returns ``1.93 ± 0.04``, ``1.93 (n=1)``, ``refused`` or a dash."""
    if row is not None and "refused" in row:
        return Cell("refused", "refused")
    if row is None or row["value"] is None:
        return Cell(DASH, "quiet")
    return Cell(with_half_width(row, scale))


def with_half_width(row: Row, scale: float = 1.0) -> str:
    """Returns ``1.93 ± 0.04``, ``1.93 (n=1)``, or ``> 4,870`` for what is only known so far."""
    value = row["value"] * scale
    if row.get("at_least"):
        return f"> {short(value)}"
    if row["ci_high"] is None:
        return f"{short(value)} (n={row['replications']})"
    return rounding.with_half_width(value, (row["ci_high"] - row["ci_low"]) / 2 * scale)


def change_cell(row: Row | None) -> Cell:
    """Returns ``−64.1 % better`` over ``[−64.3, −63.9]``; without a verdict where 1 lies inside."""
    if row is None or row["ratio"] is None:
        return Cell(DASH, "quiet")
    tone = tone_of(row)
    change, interval = change_parts(row)
    return Cell(f"{change} {tone}".strip(), tone, interval)


def tone_of(row: Row) -> Tone:
    """Returns whether a change is one, and for the better or for the worse."""
    if row["ci_low"] is None or not told_apart(row) or row["metric"] in NEUTRAL:
        return ""
    improved = (row["ratio"] > 1) == (row["metric"] in _GAINS)
    return "better" if improved else "worse"


def plain_value(row: Row, scale: float = 1.0) -> str:
    """Returns a value without its interval, with no more digits than that supports, nor than 3."""
    value = row["value"] * scale
    if row.get("at_least"):
        return f"more than {short(value)}"
    if row["ci_high"] is None:
        return short(value)
    return rounding.rounded(value, (row["ci_high"] - row["ci_low"]) / 2 * scale)


def share_text(row: Row | None) -> str:
    """Returns a share of 1 in percent, ``98.7 ± 0.2 %``; a half width below 0.05 goes unsaid."""
    if row is None or row["value"] is None:
        return DASH
    percent = 100 * row["value"]
    if row["ci_high"] is None:
        return f"{percent:.0f} %"
    half = 50 * (row["ci_high"] - row["ci_low"])
    if half < 0.05:
        return f"{percent:.1f} %"
    places = 0 if half >= 1 else 1
    return f"{percent:.{places}f} ± {half:.{places}f} %"
