"""Numbers of a study as cells of a table, as exact as their interval."""

from __future__ import annotations

from typing import Final

from analysis.metrics import rounding
from analysis.metrics.numbers import StudyNumber
from analysis.metrics.rounding import NOT_KNOWN, short, with_ends
from analysis.report.table import DASH, Cell, Tone

TONES: Final[dict[bool | None, Tone]] = {True: "better", False: "worse", None: ""}
"""By whether a change is for the better; None: neither."""


def value_cell(number: StudyNumber, scale: float = 1.0) -> Cell:
    """Returns ``1.93 ± 0.04``, ``1.93 (n=1)``, ``> 4,870``, ``refused`` or a dash."""
    if number.refused:
        return Cell("refused", "refused")
    if not number.is_there:
        return Cell(DASH, "quiet")
    return Cell(number.text(scale), "worse" if number.at_least else "")


def ratio_cell(ratio: StudyNumber) -> Cell:
    """Returns ``0.512`` with ``[0.494, 0.530]``; without a verdict where 1 lies inside."""
    if not ratio.is_there:
        return Cell(DASH, "quiet")
    if not ratio.has_interval:
        return Cell(f"{short(ratio.value)} (n=1)")
    value, ends, interval = with_ends(ratio.value, ratio.ci_low, ratio.ci_high).partition("[")
    tone = tone_of(ratio)
    return Cell(value.strip(), tone, ends + interval, tone)


def tone_of(ratio: StudyNumber) -> Tone:
    """Returns whether a ratio is a change, and for the better or for the worse."""
    return TONES[ratio.is_better]


def plain_value(number: StudyNumber, scale: float = 1.0) -> str:
    """Returns a value without its interval, with no more digits than that supports, nor than 3."""
    value = number.value * scale
    if number.at_least:
        return f"more than {short(value)}"
    if not number.has_interval:
        return short(value)
    return rounding.rounded(value, number.half * scale)


def amount(number: StudyNumber, unit: str, scale: float = 1.0) -> str:
    """Returns a value with its unit, or that it is not known yet."""
    text = plain_value(number, scale)
    return text if text == NOT_KNOWN else f"{text}{behind(unit)}"


def behind(unit: str) -> str:
    """Returns what stands behind a number: `` ms``, ``/s``."""
    return unit[1:] if unit.startswith("1/") else f" {unit}".rstrip()


def plain_share(share: float) -> str:
    """Returns a share of 1 in percent, ``47 %``, ``0.31 %`` or ``< 0.01 %``."""
    percent = 100 * share
    if percent >= 9.95:
        return f"{percent:.0f} %"
    return f"{percent:.2g} %" if percent >= 0.01 else "< 0.01 %"


def share_text(number: StudyNumber) -> str:
    """Returns a share of 1 in percent, ``98.7 ± 0.2 %``; a half width below 0.05 goes unsaid."""
    if not number.is_there:
        return DASH
    percent, half = 100 * number.value, 100 * number.half
    if not number.has_interval:
        return f"{percent:.0f} %"
    if half < 0.05:
        return f"{percent:.1f} %"
    if half > percent:
        return NOT_KNOWN
    places = 0 if half >= 1 else 1
    return f"{percent:.{places}f} ± {half:.{places}f} %"
