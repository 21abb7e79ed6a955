"""What a page is made of: sections of blocks, each block plain text in a known shape.

Law: no block holds markup. Whatever comes from a scenario is text here, and each template escapes
all text for its format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from analysis.report.table import ReportTable, Tone

Weight = Literal["note", "warning", "alarm"]


def capital(text: str) -> str:
    """Returns a sentence with its first letter raised; the name of a metric stays as it is."""
    return text if "_" in text.partition(" ")[0] else text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences."""

    kind: ClassVar[str] = "paragraph"
    text: str
    weight: Weight | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list, a sentence or two an item."""

    kind: ClassVar[str] = "items"
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """What is typed into a shell, or a file's text."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True, slots=True)
class Aside:
    """Blocks that a reader opens who wants them."""

    kind: ClassVar[str] = "aside"
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class PageFigure:
    """A picture that was drawn, or a word about one that is left out.

    Attributes:
        file: below the study's folder.
        title: what is shown.
        alt: what it says, in words.
        data: the picture itself as a data URI; empty: the page only names the file.
        width: in CSS pixels, as drawn.
        height: likewise.
        charted: whether a chart of the page shows the same.
    """

    kind: ClassVar[str] = "figure"
    file: str
    title: str
    alt: str
    data: str = ""
    width: int = 0
    height: int = 0
    charted: bool = False


@dataclass(frozen=True, slots=True)
class Charts:
    """Charts that a reader can zoom into, where scripts run.

    Attributes:
        names: keys of the data.
        note: how to read them.
    """

    kind: ClassVar[str] = "charts"
    names: tuple[str, ...]
    note: str


Block = ReportTable | Paragraph | Items | Code | Aside | PageFigure | Charts


@dataclass(frozen=True, slots=True)
class PageSection:
    """A part of the page with a heading."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """One number that a reader sees first: what, how it changes, from what to what."""

    label: str
    change: str
    interval: str
    detail: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that a report says.

    Attributes:
        study: the study's name.
        question: what was asked.
        answer: a few sentences.
        tiles: the main numbers.
        notices: what limits them.
        sections: the rest.
    """

    study: str
    question: str
    answer: tuple[str, ...]
    tiles: tuple[Tile, ...]
    notices: tuple[Paragraph, ...]
    sections: tuple[PageSection, ...]


def section(anchor: str, title: str, blocks: Iterable[Block]) -> tuple[PageSection, ...]:
    """Returns a section, or none if it has nothing to say."""
    found: Sequence[Block] = tuple(blocks)
    return (PageSection(anchor, title, tuple(found)),) if found else ()
