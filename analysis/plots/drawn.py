"""What is known of a picture: its file, its title, and the words that stand for it.

Law: a text alternative is plain text of one line, says what kind of picture it is and gives the
main numbers, so that a reader who sees no pictures learns what one who sees them learns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure
import math
from collections.abc import Iterable, Sequence

import pandas as pd

from analysis.metrics.rounding import digits

Section = Literal[
    "answer", "latency", "time", "writes", "stations", "limits", "locks", "load", "capacity",
    "cost", "sweep", "sensitivity", "warmup", "convergence",
]  # fmt: skip
"""Where in a report a picture belongs."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture that has been written, as PNG and as SVG.

    Attributes:
        name: of its files under ``plots/``, without the ending.
        title: what is shown, in a line.
        alt: text alternative, with the main numbers.
        section: where it belongs.
    """

    name: str
    title: str
    alt: str
    section: Section


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure with its words, before it is written; its title is that of the figure."""

    name: str
    section: Section
    figure: Figure
    alt: str

    @property
    def title(self) -> str:
        """The figure's heading, without what is written below it."""
        return str(self.figure.get_label()).partition("\n")[0]

    def drawn(self, name: str) -> Drawn:
        """Returns what is left of the picture once it is written as ``name``."""
        return Drawn(name, self.title, self.alt, self.section)


def listed(parts: Iterable[str], between: str = "; ") -> str:
    """Returns the parts that are not empty as one text."""
    return between.join(part for part in parts if part)


def between(values: Sequence[float]) -> str:
    """Returns the smallest and the greatest of some values."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return "no value"
    low, high = digits(min(known)), digits(max(known))
    return low if low == high else f"{low} to {high}"


def part_sizes(
    rows: pd.DataFrame,
    variants: Sequence[str],
    parts: Sequence[str],
    unit: str,
    scale: float = 1.0,
) -> str:
    """Returns each variant's whole and its parts by their names, the largest first.

    Args:
        rows: of the summary, of one metric.
        variants: in order.
        parts: classes that are told of.
        unit: behind the whole.
        scale: from the metric's unit to that one.
    """
    known, told = rows.dropna(subset=["value"]), []
    for variant in variants:
        mine = known[(known["variant"] == variant) & known["class"].isin(parts)]
        sizes = {
            str(part): scale * float(size)
            for part, size in zip(mine["class"], mine["value"], strict=True)
        }
        whole = sum(sizes.values())
        largest = sorted(sizes.items(), key=lambda pair: -pair[1])
        of = ", ".join(f"{name} {digits(size)}" for name, size in largest if size > 0.005 * whole)
        told.append(f"{variant} {digits(whole)} {unit}" + (f" ({of})" if of else ""))
    return listed(told)
