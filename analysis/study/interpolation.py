"""Values between two that a file says, written as a file would write them.

Law: a value read back is the value meant; the two ends are given back as they were written. Values
between have four significant digits, so that they can be read and typed; an estimate has three.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Literal

from sim.scenario.problems import shown
from sim.scenario.quantities import BANDWIDTH, DURATION, RATE, SIZE, QuantityError, QuantityKind

Value = str | int | float
Scale = Literal["linear", "log"]

_KINDS = (DURATION, SIZE, BANDWIDTH, RATE)
_DECIMAL = {
    DURATION.name: ("s", "ms", "us", "ns"),
    SIZE.name: ("GB", "MB", "KB", "B"),
    BANDWIDTH.name: ("GB/s", "MB/s", "KB/s", "B/s"),
    RATE.name: ("/s",),
}
"""Units in which four significant digits are a whole number of base units; the last is the base."""


def complaint_about(low: object, high: object, scale: Scale) -> str | None:
    """Returns why there is nothing between two values, with a remedy, or None."""
    try:
        first, second = amount_of(low), amount_of(high)
        if kind_of(low) is not kind_of(high):
            return f"{shown(low)} and {shown(high)} are of two kinds; use the same unit for both"
    except ValueError as error:
        return str(error)
    if not first < second:
        return f"{shown(low)} is not less than {shown(high)}; write the smaller one first"
    if scale == "log" and first <= 0:
        return f"a log scale begins above 0, not at {shown(low)}; raise it, or write scale: linear"
    return None


def amount_of(value: object) -> int | float:
    """Returns a number, or a quantity in its base unit.

    Raises:
        ValueError: if it is neither; the message says what to write.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    kind = kind_of(value)
    if kind is None:
        raise ValueError(f"must be a number or a quantity, is {shown(value)}; write, for example, "
                         "50, 100us or 64KiB")  # fmt: skip
    return kind.parse(value)


def kind_of(value: object) -> QuantityKind | None:
    """Returns the kind of a quantity; None for a number, or for what is no quantity at all."""
    for kind in _KINDS:
        if isinstance(value, str):
            try:
                kind.parse(value)
            except QuantityError:
                continue
            return kind
    return None


def unit_of(value: object) -> tuple[str, float]:
    """Returns the unit that a quantity is written in, and its base units; of a number "" and 1."""
    kind = kind_of(value)
    if kind is None:
        return "", 1.0
    unit = _unit_of(str(value))
    return unit, float(kind.units[unit])


def same_kind(value: object, other: object) -> bool:
    """Returns whether both are numbers, or quantities that one kind of unit can measure."""
    try:
        amount_of(value), amount_of(other)
    except ValueError:
        return False
    return kind_of(value) is kind_of(other)


def between(low: Value, high: Value, share: float, scale: Scale, telling: int = 4) -> Value:
    """Returns the value ``share`` (0 to 1) of the way from ``low`` to ``high``.

    Args:
        low: where the way begins, as a file says it.
        high: where it ends.
        share: of the way.
        scale: ``log``: equal shares are equal ratios.
        telling: significant digits of what lies between.
    """
    if share <= 0:
        return low
    if share >= 1:
        return high
    first, second = amount_of(low), amount_of(high)
    if scale == "log":
        amount = math.exp(math.log(first) + share * (math.log(second) - math.log(first)))
    else:
        amount = first + share * (second - first)
    value = _written(amount, low, high, telling)
    if amount_of(value) <= first:
        return low
    return high if amount_of(value) >= second else value


def _written(amount: float, low: Value, high: Value, telling: int) -> Value:
    kind = kind_of(low)
    if kind is not None:
        return _text_of(amount, kind, (_unit_of(str(high)), _unit_of(str(low))), telling)
    if isinstance(low, int) and isinstance(high, int):
        return round(amount)
    return rounded(amount, telling)


def rounded(amount: float, digits: int) -> float:
    """Returns a number with so many significant digits."""
    return float(f"{amount:.{digits}g}")


def _unit_of(text: str) -> str:
    return re.sub(r"^[-+0-9.]+([eE][-+]?[0-9]+)?", "", text.strip()).strip()


def _text_of(amount: float, kind: QuantityKind, units: tuple[str, ...], telling: int) -> str:
    """Returns a quantity in the first unit in which it is one, or in a decimal unit."""
    for unit in units:
        number = rounded(amount / float(kind.units[unit]), telling)
        whole = (Fraction(str(number)) * kind.units[unit]).denominator == 1
        if number >= 1 and (whole or not kind.whole):
            return f"{number_text(number)}{unit}"
    base = rounded(amount, telling)
    if kind.whole:
        base = max(round(base), 1)
    return decimal_text(base, kind)


def decimal_text(base: float, kind: QuantityKind) -> str:
    """Returns an amount in base units in the decimal unit that suits its size, ``100MB/s``."""
    decimal = _DECIMAL[kind.name]
    unit = next((unit for unit in decimal if base >= kind.units[unit]), decimal[-1])
    return f"{number_text(base / float(kind.units[unit]))}{unit}"


def number_text(number: float) -> str:
    """Returns a number of up to four significant digits, without an exponent."""
    return f"{number:.0f}" if abs(number) >= 1000 else f"{number:.4g}"
