"""How numbers are written: with the digits that their interval supports, and no more than three.

One rule for every number with an interval. Digits follow the half width, which has one, or two if
they are below 20: ``23.6 ± 1.3``, ``175 ± 2``. A value has no more than three telling digits,
whatever its interval supports: what is beyond them is exact for the simulation and means nothing
for a cluster. A value whose half width is as large as itself is not known yet, and has no digits;
nor has a ratio, unless its interval excludes 1: then it is known which of two is greater.
"""

from __future__ import annotations

import math
from typing import Final

NOT_KNOWN: Final = "not known yet"
"""What stands for a value whose interval is wider than itself."""
DIGITS: Final = 3
_LEAST_SHOWN: Final = 0.0005
"""An end of a ratio that is nearer to 1 is no change to a reader."""
_MOST_DECIMALS: Final = 6


def short(value: float) -> str:
    """Returns a number with three telling digits, or all before the point, thousands set apart.

    Below 1 it has three decimals, or two telling digits if those take more.
    """
    if not value:
        return "0"
    exponent = _exponent(value)
    places = max(DIGITS, 1 - exponent) if exponent < 0 else max(0, DIGITS - 1 - exponent)
    return f"{value:,.{places}f}"


def digits(value: float | None) -> str:
    """Returns a number with three digits, never in powers of ten; "no value" for none.

    In a sentence, a label or a load: no zero is written there to keep a column's places.
    """
    if value is None or math.isnan(value):
        return "no value"
    if abs(value) >= 999.5:
        return f"{value:,.0f}"
    if value and abs(value) < 0.0001:
        return f"{value:.7f}".rstrip("0").rstrip(".")
    return f"{value:.3g}"


def plain(value: float) -> str:
    """Returns a number as short as it is, thousands set apart."""
    return f"{value:,.12g}"


def four_digits(value: float) -> str:
    """Returns a number with four digits, or whole, thousands set apart."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def kept(value: float) -> float | None:
    """Returns a number with ten digits, on which JSON readers agree; None for NaN."""
    return None if math.isnan(value) else float(f"{value:.10g}")


def is_known(value: float, half: float) -> bool:
    """Returns whether a value is larger than its half width, or is exactly known."""
    return half == 0 or abs(value) > half


def ratio_is_known(ratio: float, low: float, high: float) -> bool:
    """Returns whether a ratio is larger than its half width, or is no 1 whatever it is."""
    return is_known(ratio, (high - low) / 2) or low > 1 or high < 1


def decimals(value: float, half: float) -> int:
    """Returns with how many decimals a value and its interval are written."""
    telling = DIGITS - 1 - _exponent(value) if value else 0
    if half <= 0:
        return max(0, min(telling, _MOST_DECIMALS))
    supported = -_exponent(half)
    if half * 10.0**supported < 2:
        supported += 1
    return max(0, min(telling, supported, _MOST_DECIMALS))


def with_half_width(value: float, half: float) -> str:
    """Returns ``1.93 ± 0.04``; ``0.112 ± <0.001`` where the value shows fewer digits than that.

    Replications that happen to be equal do not say how far off their value may be, so it is no
    ``± 0``: ``5.00 (all equal)``. That nothing happened in any is ``0``.
    """
    if not is_known(value, half):
        return NOT_KNOWN
    places = decimals(value, half)
    if half == 0:
        return f"{value:,.{places}f} (all equal)" if value else "0"
    shown = f"{half:,.{places}f}"
    if not float(shown.replace(",", "")):
        shown = f"<{10.0**-places:.{places}f}"
    return f"{value:,.{places}f} ± {shown}"


def size_with_half_width(size: float, half: float) -> str:
    """Returns ``0.65 ± 0.12``, ``0`` if exact, or ``below 0.23`` where the interval reaches 0.

    Args:
        size: of what has no sign, such as a mean of absolute values: known to be small is known.
        half: width.
    """
    if half == 0:
        return rounded(size, half)
    if is_known(size, half):
        return with_half_width(size, half)
    places = max(0, 1 - _exponent(size + half))
    return f"below {math.ceil((size + half) * 10**places) / 10**places:,.{places}f}"


def share_with_half_width(share: float, half: float) -> str:
    """Returns a share of 1 in percent, ``66 ± 21 %``; ``at least 98 %`` of 1.45 ± 0.47.

    Args:
        share: an estimate, which chance may put beyond 0 or 1.
        half: width.
    """
    if share > 1:
        return f"at least {100 * min(share - half, 1.0):.0f} %"
    if share < 0:
        return f"below {100 * max(share + half, 0.0):.0f} %"
    return f"{100 * share:.0f} ± {100 * half:.0f} %"


def with_ends(ratio: float, low: float, high: float) -> str:
    """Returns ``0.512 [0.494, 0.530]``.

    Where the interval excludes 1, no end reads as 1: ``0.880 [0.770, 0.998]``.
    """
    if not ratio_is_known(ratio, low, high):
        return NOT_KNOWN
    places = decimals(ratio, min((high - low) / 2, ratio))
    if low >= 1.0 + _LEAST_SHOWN or high <= 1.0 - _LEAST_SHOWN:
        while places < DIGITS and 1.0 in (round(low, places), round(high, places)):
            places += 1
    return f"{ratio:,.{places}f} [{low:,.{places}f}, {high:,.{places}f}]"


def rounded(value: float, half: float) -> str:
    """Returns a value alone, with the digits that its interval supports."""
    return f"{value:,.{decimals(value, half)}f}" if is_known(value, half) else NOT_KNOWN


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value)))
