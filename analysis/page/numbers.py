"""Numbers as a reader takes them in: changes in percent, as exact as their interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from analysis.metrics.catalogue import HIGHER_IS_BETTER
from analysis.page.content import Cell, Tone
from analysis.report.table import short

Row = Mapping[str, Any]

NEUTRAL: Final = frozenset({
    "disk_write_bytes_per_s", "fsync_per_s", "network_bytes_per_s", "txn_aborts", "lock_wait_ms",
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
    """Returns ``1.93 ± 0.04``: as exact as its half width, which has one or two digits."""
    value = row["value"] * scale
    if row["ci_high"] is None:
        return f"{short(value)} (n={row['replications']})"
    half = (row["ci_high"] - row["ci_low"]) / 2 * scale
    if half == 0:
        return f"{short(value)} ± 0"
    places = max(0, -math.floor(math.log10(half)))
    if half * 10**places < 2:
        places += 1  # 0.14 is written as it is, 0.71 as 0.7
    places = min(places, 4)
    return f"{value:,.{places}f} ± {half:,.{places}f}"


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
    ends = (row["ci_low"], row["ci_high"])
    if max(row["ratio"], ends[1] or 0.0) >= TIMES_FROM:
        interval = "(n=1)" if ends[0] is None else f"[{short(ends[0])}, {short(ends[1])}]"
        return f"×{short(row['ratio'])}", interval
    change = 100 * (row["ratio"] - 1)
    if ends[0] is None:
        return f"{signed(change, 10.0)} %", "(n=1)"
    low, high = (100 * (end - 1) for end in ends)
    half = (high - low) / 2
    return f"{signed(change, half)} %", f"[{signed(low, half)}, {signed(high, half)}]"


def tone_of(row: Row) -> Tone:
    """Returns whether a change is one, and for the better or for the worse."""
    if row["ci_low"] is None or not told_apart(row) or row["metric"] in NEUTRAL:
        return ""
    improved = (row["ratio"] > 1) == (row["metric"] in _GAINS)
    return "better" if improved else "worse"


def told_apart(row: Row) -> bool:
    """Returns whether the interval of a ratio excludes 1."""
    return row["ci_low"] is not None and not row["ci_low"] <= 1.0 <= row["ci_high"]


def decimals(half: float) -> int:
    """Returns the decimals of a percentage whose half width is ``half``."""
    if half >= 1 or half == 0:
        return 0
    return 1 if half >= 0.1 else 2


def signed(percent: float, half: float) -> str:
    """Returns ``−64.1`` or ``+3``, with a true minus sign."""
    text = f"{percent:+.{decimals(half)}f}".replace("-", "−")
    return text.lstrip("−+") if float(text.replace("−", "-")) == 0 else text


def span_text(row: Row) -> str:
    """Returns how much more or less, without a sign: ``64.1 % [63.9, 64.3]``."""
    change = 100 * (row["ratio"] - 1)
    turned = -1 if change < 0 else 1
    if row["ci_low"] is None:
        return f"{abs(change):.0f} % (n=1)"
    ends = sorted(turned * 100 * (row[end] - 1) for end in ("ci_low", "ci_high"))
    half = (ends[1] - ends[0]) / 2
    shown = [f"{end:.{decimals(half)}f}".replace("-", "−") for end in ends]
    return f"{abs(change):.{decimals(half)}f} % [{shown[0]}, {shown[1]}]"


def plain_value(row: Row, scale: float = 1.0) -> str:
    """Returns a value without its interval, with no more digits than that supports, nor than 3."""
    value = row["value"] * scale
    if row["ci_high"] is None:
        return short(value)
    return with_digits_of(value, (row["ci_high"] - row["ci_low"]) / 2 * scale)


def with_digits_of(value: float, half: float) -> str:
    """Returns a value with the decimals of its half width's second digit, but never more than 3.

    Args:
        value: any number.
        half: half width of its interval, in the same unit.
    """
    told = short(value)
    if half <= 0:
        return told
    supported = max(0, 1 - math.floor(math.log10(half)))
    return f"{value:,.{min(supported, len(told.partition('.')[2]))}f}"


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
