"""The axes of a sweep: which keys vary, in what order, and where their values lie.

Law: a value is labelled as the file wrote it. Its place is its amount in base units, where all
values of a key are numbers or quantities of one kind; otherwise its place in the file's order. A
mapping that is swept as a whole, such as a latency with ``p50`` and ``p99``, is represented by its
first entry that varies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from analysis.study.interpolation import amount_of, unit_of
from analysis.study.units import Point

ABSENT: Final = "-"
_LOG_FROM: Final = 8.0
"""Greatest over smallest amount from which a log scale is easier to read."""

_GENERIC: Final = frozenset({
    "p50", "p99", "mean", "value", "profile", "rate", "every", "in-memory", "at", "for", "from",
    "until", "count",
})  # fmt: skip
"""Last words of keys that say little without the word before them."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One key that varies.

    Attributes:
        key: as the file has it.
        name: its last word or two, enough to tell it from the other axes.
        labels: one a value, ascending where they are numbers, else in the file's order.
        amounts: in base units; None where values have no order of their own.
    """

    key: str
    name: str
    labels: tuple[str, ...]
    amounts: tuple[float, ...] | None

    @property
    def numeric(self) -> bool:
        """Whether values are amounts."""
        return self.amounts is not None

    @property
    def logarithmic(self) -> bool:
        """Whether amounts are spread widely, and more evenly on a log scale."""
        amounts = self.amounts
        if amounts is None or amounts[0] <= 0 or amounts[-1] / amounts[0] < _LOG_FROM:
            return False
        return (
            median(amounts) ** 2
            < math.sqrt(amounts[0] * amounts[-1]) * (amounts[0] + amounts[-1]) / 2
        )

    @property
    def words(self) -> str:
        """The name in words, for titles: ``append mean``, ``store pool size``."""
        return re.sub(r"[._-]", " ", self.name)

    @property
    def unit(self) -> str:
        """The unit of ``in_unit``; empty for plain numbers."""
        unit, _ = unit_of(self.labels[-1])
        return f"1{unit}" if unit.startswith("/") else unit

    @property
    def in_unit(self) -> tuple[float, ...]:
        """The amounts in the unit in which the file wrote the greatest of them."""
        _, base_units = unit_of(self.labels[-1])
        return tuple(amount / base_units for amount in self.amounts or ())

    def label(self, point: Point) -> str:
        """Returns the point's value as the file wrote it."""
        entry = self.name.rpartition(" ")[2]
        return _label(_told(point.get(self.key, ABSENT), entry))

    def place(self, point: Point) -> float:
        """Returns where the point lies: its amount, or the place of its value."""
        index = self.index(point)
        return float(index) if self.amounts is None else self.amounts[index]

    def index(self, point: Point) -> int:
        """Returns which of the values the point has."""
        return self.labels.index(self.label(point))


def axes_of(points: Sequence[Point]) -> list[Axis]:
    """Returns the keys that vary between points, in the file's order."""
    keys = list(dict.fromkeys(key for point in points for key in point))
    varying = [key for key in keys if len({repr(point.get(key, ABSENT)) for point in points}) > 1]
    names = short_names(varying)
    return [_axis(key, names[key], [point.get(key, ABSENT) for point in points]) for key in varying]


def place_words(axes: Sequence[Axis], point: Point) -> str:
    """Returns where a point lies: ``threads 50, profile gp3_max``."""
    return ", ".join(f"{axis.name} {axis.label(point)}" for axis in axes)


def is_scattered(points: Sequence[Point], axes: Sequence[Axis]) -> bool:
    """Returns whether points fill a space (a Latin hypercube) instead of forming a grid."""
    return len(axes) > 1 and all(2 * len(axis.labels) > len(points) for axis in axes)


def _axis(key: str, name: str, values: Sequence[Any]) -> Axis:
    entry = _telling_entry(values)
    told = [_told(value, entry) for value in values]
    by_label = {_label(value): value for value in told}
    if entry:
        name = f"{name} {entry}"
    try:
        amounts = {label: float(amount_of(value)) for label, value in by_label.items()}
    except ValueError:
        return Axis(key, name, tuple(by_label), None)
    labels = sorted(amounts, key=lambda label: amounts[label])
    return Axis(key, name, tuple(labels), tuple(amounts[label] for label in labels))


def _telling_entry(values: Sequence[Any]) -> str:
    """Returns the entry by which mappings differ; nothing if they are no mappings."""
    mappings = [value for value in values if isinstance(value, Mapping)]
    if len(mappings) < len(values):
        return ""
    distinct = len({repr(value) for value in values})
    for entry in mappings[0]:
        if len({repr(mapping.get(entry)) for mapping in mappings}) == distinct:
            return str(entry)
    return ""


def _told(value: Any, entry: str) -> Any:
    return value[entry] if isinstance(value, Mapping) and entry in value else value


def _label(value: Any) -> str:
    """Returns a value as a file would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """Returns the shortest ends of the keys that tell them apart."""
    names: dict[str, str] = {}
    for key in keys:
        parts = key.split(".")
        least = 2 if parts[-1] in _GENERIC else 1
        ends = [
            ".".join(parts[-length:]) for length in range(min(least, len(parts)), len(parts) + 1)
        ]
        others = [other for other in keys if other != key]
        names[key] = next(
            (end for end in ends if not any(f".{other}".endswith(f".{end}") for other in others)),
            key,
        )
    return names


def spread_of(amounts: Sequence[float], *, logarithmic: bool) -> tuple[float, float]:
    """Returns limits a little beyond the smallest and the greatest amount."""
    low, high = min(amounts), max(amounts)
    if logarithmic:
        margin = (high / low) ** 0.04
        return low / margin, high * margin
    margin = 0.04 * (high - low) or math.copysign(0.5, high)
    return low - abs(margin), high + abs(margin)
