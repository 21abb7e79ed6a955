"""What is known of a picture: its file, its title, and the words that stand for it.

Law: a text alternative is plain text of one line, says what kind of picture it is and gives the
main numbers, so that a reader who sees no pictures learns what one who sees them learns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
