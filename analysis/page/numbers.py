"""Numbers as a reader takes them in: changes in percent, as exact as their interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from analysis.metrics import rounding
from analysis.metrics.catalogue import HIGHER_IS_BETTER
from analysis.metrics.rounding import NOT_KNOWN, decimals, short
from analysis.page.content import Cell, Tone

Row = Mapping[str, Any]

NEUTRAL: Final = frozenset({
    "disk_write_bytes_per_s", "fsync_per_s", "network_bytes_per_s", "txn_aborts", "txns_unfinished",
    "lock_wait_ms",
})  # fmt: skip
"""Of these, more may be better or worse: a cluster that does more writes more."""

_GAINS: Final = HIGHER_IS_BETTER | {"capacity_load", "capacity_txn_per_s"}

TIMES_FROM: Final = 3.0
"""Ratio from which a change is written as a multiple."""

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


def change_text(row: Row) -> str:
    """Returns the change that a ratio means, with its interval."""
    return " ".join(change_parts(row))


def change_parts(row: Row) -> tuple[str, str]:
    """Returns ``−64.1 %`` and ``[−64.3, −63.9]``; of great ones ``×3.08`` and its ends."""
    if not is_known(row):
        return NOT_KNOWN, ""
    ratio, low, high = row["ratio"], row["ci_low"], row["ci_high"]
    if max(ratio, high or 0.0) >= TIMES_FROM:
        if low is None:
            return f"×{short(ratio)}", "(n=1)"
        places = decimals(ratio, (high - low) / 2)
        return f"×{ratio:.{places}f}", f"[{low:.{places}f}, {high:.{places}f}]"
    change = 100 * (ratio - 1)
    if low is None:
        return f"{signed(change, 10.0)} %", "(n=1)"
    low, high = (100 * (end - 1) for end in (low, high))
    half = (high - low) / 2
    return f"{signed(change, half)} %", f"[{signed(low, half)}, {signed(high, half)}]"


def is_known(row: Row) -> bool:
    """Returns whether the interval of a ratio is narrower than that it says nothing."""
    half = 0.0 if row["ci_low"] is None else (row["ci_high"] - row["ci_low"]) / 2
    return rounding.is_known(row["ratio"], half)


def tone_of(row: Row) -> Tone:
    """Returns whether a change is one, and for the better or for the worse."""
    if row["ci_low"] is None or not told_apart(row) or row["metric"] in NEUTRAL:
        return ""
    improved = (row["ratio"] > 1) == (row["metric"] in _GAINS)
    return "better" if improved else "worse"


def told_apart(row: Row) -> bool:
    """Returns whether the interval of a ratio excludes 1."""
    return row["ci_low"] is not None and not row["ci_low"] <= 1.0 <= row["ci_high"]


def signed(percent: float, half: float) -> str:
    """Returns ``−64.1`` or ``+3``, with a true minus sign.

    A percentage has no more decimals than a ratio with three digits.
    """
    places = decimals(10.0, half) if half else 0
    text = f"{percent:+.{places}f}".replace("-", "−")
    return text.lstrip("−+") if float(text.replace("−", "-")) == 0 else text


def span_text(row: Row) -> str:
    """Returns how much more or less, without a sign: ``64.1 % [63.9, 64.3]``."""
    change = 100 * (row["ratio"] - 1)
    turned = -1 if change < 0 else 1
    if row["ci_low"] is None:
        return f"{abs(change):.0f} % (n=1)"
    ends = sorted(turned * 100 * (row[end] - 1) for end in ("ci_low", "ci_high"))
    half = (ends[1] - ends[0]) / 2
    shown = [signed(end, half).lstrip("+") for end in (abs(change), *ends)]
    return f"{shown[0]} % [{shown[1]}, {shown[2]}]"


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
