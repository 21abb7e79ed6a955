"""Changes in words: what a ratio with its interval means, in percent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from analysis.metrics import rounding
from analysis.metrics.rounding import NOT_KNOWN, decimals, short

Row = Mapping[str, Any]
"""With ``ratio``, ``ci_low`` and ``ci_high``."""

TIMES_FROM: Final = 3.0
"""Ratio from which a change is written as a multiple."""


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


def signed(percent: float, half: float) -> str:
    """Returns ``−64.1`` or ``+3``, with a true minus sign.

    A percentage has no more decimals than a ratio with three digits.
    """
    places = decimals(10.0, half) if half else 0
    text = f"{percent:+.{places}f}".replace("-", "−")
    return text.lstrip("−+") if float(text.replace("−", "-")) == 0 else text


def is_known(row: Row) -> bool:
    """Returns whether the interval of a ratio is narrower than that it says nothing."""
    half = 0.0 if row["ci_low"] is None else (row["ci_high"] - row["ci_low"]) / 2
    return rounding.is_known(row["ratio"], half)


def told_apart(row: Row) -> bool:
    """Returns whether the interval of a ratio excludes 1."""
    return row["ci_low"] is not None and not row["ci_low"] <= 1.0 <= row["ci_high"]
