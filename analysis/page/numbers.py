"""Numbers as a reader takes them in: changes in percent, as exact as their interval."""

from __future__ import annotations

from typing import Final

from analysis.metrics import rounding
from analysis.metrics.numbers import StudyNumber, change_parts
from analysis.metrics.rounding import short
from analysis.page.content import Cell, Tone

DASH: Final = "–"


def value_cell(number: StudyNumber, scale: float = 1.0) -> Cell:
    """Returns ``1.93 ± 0.04``, ``1.93 (n=1)``, ``refused`` or a dash."""
    if number.refused:
        return Cell("refused", "refused")
    if not number.is_there:
        return Cell(DASH, "quiet")
    return Cell(number.text(scale))


def change_cell(ratio: StudyNumber) -> Cell:
    """Returns ``−64.1 % better`` over ``[−64.3, −63.9]``; without a verdict where 1 lies inside."""
    if not ratio.is_there:
        return Cell(DASH, "quiet")
    tone = tone_of(ratio)
    change, interval = change_parts(ratio)
    return Cell(f"{change} {tone}".strip(), tone, interval)


def tone_of(ratio: StudyNumber) -> Tone:
    """Returns whether a change is one, and for the better or for the worse."""
    tones: dict[bool | None, Tone] = {True: "better", False: "worse", None: ""}
    return tones[ratio.is_better]


def plain_value(number: StudyNumber, scale: float = 1.0) -> str:
    """Returns a value without its interval, with no more digits than that supports, nor than 3."""
    value = number.value * scale
    if number.at_least:
        return f"more than {short(value)}"
    if not number.has_interval:
        return short(value)
    return rounding.rounded(value, number.half * scale)


def share_text(number: StudyNumber) -> str:
    """Returns a share of 1 in percent, ``98.7 ± 0.2 %``; a half width below 0.05 goes unsaid."""
    if not number.is_there:
        return DASH
    percent, half = 100 * number.value, 100 * number.half
    if not number.has_interval:
        return f"{percent:.0f} %"
    if half < 0.05:
        return f"{percent:.1f} %"
    places = 0 if half >= 1 else 1
    return f"{percent:.{places}f} ± {half:.{places}f} %"
