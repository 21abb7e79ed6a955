"""Changes in words: what a ratio with its interval means, in percent."""

from __future__ import annotations

from typing import Final

from analysis.metrics import rounding
from analysis.metrics.numbers import StudyNumber
from analysis.metrics.rounding import NOT_KNOWN, decimals, short

TIMES_FROM: Final = 3.0
"""Ratio from which a change is written as a multiple."""


def change_text(ratio: StudyNumber) -> str:
    """Returns the change that a ratio means, with its interval."""
    return " ".join(filter(None, change_parts(ratio)))


def change_parts(ratio: StudyNumber) -> tuple[str, str]:
    """Returns ``−64.1 %`` and ``[−64.3, −63.9]``; of great ones ``×3.08`` and its ends."""
    value, low, high = ratio.value, ratio.ci_low, ratio.ci_high
    if not rounding.is_known(value, ratio.half if ratio.has_interval else 0.0):
        return NOT_KNOWN, ""
    if value >= TIMES_FROM or high >= TIMES_FROM:
        if not ratio.has_interval:
            return f"×{short(value)}", "(n=1)"
        places = decimals(value, ratio.half)
        return f"×{value:.{places}f}", f"[{low:.{places}f}, {high:.{places}f}]"
    change = 100 * (value - 1)
    if not ratio.has_interval:
        return f"{signed(change, 10.0)} %", "(n=1)"
    low, high = (100 * (end - 1) for end in (low, high))
    half = (high - low) / 2
    return f"{signed(change, half)} %", f"[{signed(low, half)}, {signed(high, half)}]"


def span_text(ratio: StudyNumber) -> str:
    """Returns how much more or less, without a sign: ``64.1 % [63.9, 64.3]``."""
    change = 100 * (ratio.value - 1)
    turned = -1 if change < 0 else 1
    if not ratio.has_interval:
        return f"{abs(change):.0f} % (n=1)"
    ends = sorted(turned * 100 * (end - 1) for end in (ratio.ci_low, ratio.ci_high))
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
