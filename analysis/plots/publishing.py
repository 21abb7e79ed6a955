"""Pictures as a publication wants them: as PDF, SVG or PNG, in its size, its font, its words.

Law: nothing is drawn anew: a picture is laid out again with other letters on another sheet, so it
shows what the page's picture shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont
from matplotlib.text import Text

from analysis.plots.style import TEXT_PT, heading

Format = Literal["pdf", "svg", "png"]

_INCHES: Final = {"mm": 1 / 25.4, "cm": 1 / 2.54, "in": 1.0}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)(?:x(\d+(?:\.\d+)?))?\s*(mm|cm|in)")
_LEAST_IN, _MOST_IN = 1.0, 100.0
_PNG_DPI: Final = 300
_SETTINGS: Final[Any] = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "pessim"}
"""A PDF has its fonts in it as TrueType, which publishers ask for; an SVG's letters stay text."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What pictures are set on.

    Attributes:
        format: of the files.
        width_in: in inches; None: as drawn.
        height_in: in inches; None: in proportion to the width.
        font: a family that is installed; None: as drawn.
        font_pt: points of the text; None: in proportion to the size.
        title: in place of the picture's own; "" for none, and none of the words below it.
    """

    format: Format = "pdf"
    width_in: float | None = None
    height_in: float | None = None
    font: str | None = None
    font_pt: float | None = None
    title: str | None = None


def size_in(text: str) -> tuple[float, float | None]:
    """Returns width and height in inches of ``85mm`` or ``85x60mm``; None: no height given.

    Raises:
        ValueError: if it is not a size; the message says what to write.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a size; write 85mm or 85x60mm (mm, cm or in)")
    width, height = (
        float(side) * _INCHES[found[3]] if side else None for side in (found[1], found[2])
    )
    if not all(_LEAST_IN <= side <= _MOST_IN for side in (width, height) if side is not None):
        raise ValueError(f"{text!r} is out of reach; write a size from 1in to 100in")
    assert width is not None, "the pattern has a width"
    return width, height


def is_installed(font: str) -> bool:
    """Returns whether a font family can be found on this machine."""
    try:
        findfont(font, fallback_to_default=False)
    except ValueError:
        return False
    return True


def publish(figure: Figure, sheet: Sheet, file: Path) -> None:
    """Sets a figure on a sheet and writes it, without dates, so that equal files are equal bytes.

    Raises:
        OSError: if the file cannot be written.
    """
    with mpl.rc_context(_SETTINGS):
        _set_on(figure, sheet)
        when = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}
        figure.savefig(
            file, format=sheet.format, metadata=when[sheet.format], dpi=_PNG_DPI, facecolor="white"
        )


def _set_on(figure: Figure, sheet: Sheet) -> None:
    drawn_in, drawn_high_in = figure.get_size_inches()
    width_in = sheet.width_in or drawn_in
    height_in = sheet.height_in or drawn_high_in * width_in / drawn_in
    figure.set_size_inches(width_in, height_in)
    closer = min(width_in / drawn_in, height_in / drawn_high_in)
    share = sheet.font_pt / TEXT_PT if sheet.font_pt else closer
    title, _, subtitle = str(figure.get_label()).partition("\n")
    if sheet.title is not None:
        title, subtitle = sheet.title, subtitle if sheet.title else ""
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_fontsize(float(text.get_fontsize()) * share)
        if sheet.font:
            text.set_fontfamily(sheet.font)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            for tick in axis.get_major_ticks()[:1]:  # of which ticks that are made later are copies
                said = tick.label1
                axis.set_tick_params(
                    labelsize=said.get_fontsize(), labelfontfamily=said.get_fontfamily()
                )
    heading(figure, title, subtitle, TEXT_PT * share)
