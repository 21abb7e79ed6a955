"""Quantities with units: ``800us``, ``512KiB``, ``1.6GB/s``, ``2400/s``.

Law: a quantity is text, an exact decimal number and a unit, with or without a space between them; a
bare number is refused. Decimal prefixes are powers of ten and binary ones (KiB) powers of two, also
for TiKV's keys, where TiKV itself reads MB as MiB. Inside, times are integer nanoseconds, sizes
integer bytes, bandwidths integer bytes per second, rates events per second. ``text_of`` is the
inverse of ``parse``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isfinite

from sim.scenario.problems import shown
from sim.units import GIB, KIB, MIB, NS_PER_MS, NS_PER_S, NS_PER_US

_NUMBER_AND_UNIT = re.compile(r"([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?)\s*(\D*)")
_LONGEST = 40

_SIZES = {
    "B": 1,
    "KB": 1_000,
    "MB": 1_000_000,
    "GB": 1_000_000_000,
    "TB": 1_000_000_000_000,
    "KiB": KIB,
    "MiB": MIB,
    "GiB": GIB,
    "TiB": GIB * KIB,
}
_BITS = {"kbit/s": 125, "Mbit/s": 125_000, "Gbit/s": 125_000_000}

_SPELLINGS = {
    "h": ("hr", "hrs", "hour", "hours"),
    "min": ("mins", "minute", "minutes"),
    "s": ("sec", "secs", "second", "seconds"),
    "ms": ("msec", "millis", "millisecond", "milliseconds"),
    "µs": ("\N{GREEK SMALL LETTER MU}s", "usec", "micros", "microsecond", "microseconds"),
    "ns": ("nsec", "nanos", "nanosecond", "nanoseconds"),
    "kbit/s": ("Kb", "kb", "Kb/s", "kb/s", "kbps", "kbit"),
    "Mbit/s": ("Mb", "Mb/s", "mbps", "mbit"),
    "Gbit/s": ("Gb", "Gb/s", "gbps", "gbit"),
}
"""Other names of units, which a message knows the meaning of."""
_MEANT = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings}


class QuantityError(ValueError):
    """A text is no quantity of its kind; the message says what to write."""


@dataclass(frozen=True, slots=True, eq=False)
class QuantityKind:
    """One kind of quantity.

    Attributes:
        name: as messages call it.
        units: factor to the base unit, by unit.
        written: units that ``text_of`` uses, largest first; the last is the base unit.
        examples: units that a message proposes where none is written.
        whole: whether the base unit cannot be divided.
    """

    name: str
    units: Mapping[str, int | Fraction]
    written: tuple[str, ...]
    examples: tuple[str, ...]
    whole: bool = True

    def proposing(self, *examples: str) -> QuantityKind:
        """Returns this kind, with other units to propose where none is written."""
        return replace(self, examples=examples)

    def parse(self, value: object) -> int | float:
        """Returns a quantity in its base unit.

        Raises:
            QuantityError: if it is none of this kind.
        """
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            bare = f"{value:g}" if isinstance(value, float) else str(value)
            # Who writes 0.05 where a percentage belongs means 5%.
            meant = f"{100 * value:g}" if self is PERCENT and abs(value) < 1 else bare
            raise QuantityError(f"{bare} has no unit; write {self._either(meant)}")
        if not isinstance(value, str):
            raise QuantityError(
                f"must be a {self.name}, is {shown(value)}; write, for example, {self.example}"
            )
        return _parsed(self, value)

    @property
    def example(self) -> str:
        """Returns something that would be right."""
        return f"5{self.examples[0]}"

    def _either(self, number: str) -> str:
        """Returns a number in each of the units to propose."""
        return " or ".join(f"{number}{unit}" for unit in self.examples)

    def parse_text(self, text: str) -> int | float:
        """Returns the quantity that a text is.

        Raises:
            QuantityError: if it is none of this kind.
        """
        found = _NUMBER_AND_UNIT.fullmatch(text.strip()) if len(text) <= _LONGEST else None
        if found is None:
            raise QuantityError(
                f"{shown(text)} is not a {self.name}; write, for example, {self.example}"
            )
        number, unit = found.groups()
        unit = unit.strip()
        if not unit:
            raise QuantityError(f"{number} has no unit; write {self._either(number)}")
        if unit not in self.units:
            raise QuantityError(f"{unit!r} is not a unit of {self.name}; {self._meant(unit)}")
        return self._in_base_unit(Fraction(number) * self.units[unit], text)

    def _meant(self, unit: str) -> str:
        """Returns what to write for an unknown unit.

        Letters that are alike propose nothing: MB is no misspelt m, nor Gb a misspelt GB/s.
        """
        folded = {known.lower(): known for known in self.units}
        meant = (
            _MEANT.get(unit),
            _MEANT.get(unit.lower()),
            folded.get(unit.lower()),
            f"{unit}/s",
        )
        known = next((each for each in meant if each in self.units), None)
        return f"did you mean {known}?" if known else f"use one of {', '.join(self.units)}"

    def _in_base_unit(self, amount: Fraction, text: str) -> int | float:
        if not self.whole:
            return float(amount) if amount < 10**30 else 1e30
        if amount.denominator != 1:
            base = self.written[-1]
            raise QuantityError(f"{text} is not a whole number of {base}; round it to whole {base}")
        return int(amount)

    def text_of(self, amount: float) -> str:
        """Returns the shortest text that ``parse`` turns into ``amount`` again."""
        if not self.whole:
            base = self.written[-1]
            return f"{_decimal(Fraction(repr(float(amount))) / self.units[base])}{base}"
        for unit in self.written[:-1]:
            factor = self.units[unit]
            if amount and amount % factor == 0:
                return f"{int(amount // factor)}{unit}"
        return f"{int(amount)}{self.written[-1]}"


@lru_cache(maxsize=4096)
def _parsed(kind: QuantityKind, text: str) -> int | float:
    """Remembers texts: a sweep reads the same ones at each of its points."""
    return kind.parse_text(text)


def _decimal(number: Fraction) -> str:
    """Returns a number, whose decimals end, without an exponent."""
    text = f"{Decimal(number.numerator) / Decimal(number.denominator):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


DURATION = QuantityKind(
    name="duration",
    units={
        "ns": 1,
        "us": NS_PER_US,
        "µs": NS_PER_US,
        "ms": NS_PER_MS,
        "s": NS_PER_S,
        "m": 60 * NS_PER_S,
        "min": 60 * NS_PER_S,
        "h": 3600 * NS_PER_S,
    },
    written=("h", "m", "s", "ms", "us", "ns"),
    examples=("s", "ms"),
)
SIZE = QuantityKind(
    name="size",
    units=_SIZES,
    written=("TiB", "GiB", "MiB", "KiB", "GB", "MB", "KB", "B"),
    examples=("B", "KiB"),
)
BANDWIDTH = QuantityKind(
    name="bandwidth",
    units={f"{unit}/s": factor for unit, factor in _SIZES.items()} | _BITS,
    written=("TiB/s", "GiB/s", "MiB/s", "KiB/s", "GB/s", "MB/s", "KB/s", "B/s"),
    examples=("MB/s", "MiB/s"),
)
RATE = QuantityKind(
    name="rate",
    units={"/s": 1, "/m": Fraction(1, 60), "/min": Fraction(1, 60), "/h": Fraction(1, 3600)},
    written=("/s",),
    examples=("/s", "/min"),
    whole=False,
)
PERCENT = QuantityKind(
    name="percentage", units={"%": Fraction(1, 100)}, written=("%",), examples=("%",), whole=False
)
"""A share of 1, written in hundredths."""
