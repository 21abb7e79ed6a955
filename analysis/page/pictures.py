"""Pictures of a study as the page holds them: small, and inside it.

Law: a page has a budget for pictures. They are taken in order until it is spent; of those that are
left the page gives the title, the words that stand for the picture, and its file.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PIL import Image

from analysis.page.content import PageFigure
from analysis.plots.drawn import Drawn

PLOTS: Final = "plots"
BUDGET_BYTES: Final = 385_000
"""Of all pictures of a page, as data URIs."""

_LARGE_BYTES: Final = 60_000
"""Of one picture, from which fewer colours are worth their loss."""
_COLOURS: Final = 64
_NEARLY_WHITE: Final = 250
_DRAWN_DPI: Final = 144
_CSS_DPI: Final = 96


class Album:
    """Puts pictures into a page as long as its budget lasts."""

    def __init__(
        self, folder: Path, charted: tuple[str, ...] = (), budget_bytes: int = BUDGET_BYTES
    ) -> None:
        """Takes pictures of a study's folder.

        Args:
            folder: the study's.
            charted: how the files begin of pictures that a chart of the page shows as well.
            budget_bytes: of all pictures, as data URIs.
        """
        self._folder = folder
        self._charted = charted
        self._left_bytes = budget_bytes
        self.left_out = 0
        """Pictures for which there was no room."""

    def figures(self, drawn: Sequence[Drawn]) -> tuple[PageFigure, ...]:
        """Returns pictures with their data, or without where the budget is spent."""
        return tuple(self._figure(one) for one in drawn)

    def _figure(self, drawn: Drawn) -> PageFigure:
        file = f"{PLOTS}/{drawn.name}.png"
        data, width, height = embedded(self._folder / file)
        if len(data) > self._left_bytes:
            self.left_out += 1
            return PageFigure(file, drawn.title, drawn.alt)
        charted = drawn.name.startswith(self._charted)
        self._left_bytes -= len(data)
        return PageFigure(file, drawn.title, drawn.alt, data, width, height, charted)


def embedded(file: Path) -> tuple[str, int, int]:
    """Returns a drawing as a data URI (lossless WebP), and its size in CSS pixels.

    Raises:
        OSError: if the file cannot be read, or is no picture.
    """
    with Image.open(file) as drawing:
        width, height = (round(side * _CSS_DPI / _DRAWN_DPI) for side in drawing.size)
        picture = _written(drawing.convert("RGB"))
        if len(picture) > _LARGE_BYTES:
            picture = _written(_few_colours(drawing.convert("RGB")))
    code = base64.b64encode(picture).decode("ascii")
    return f"data:image/webp;base64,{code}", width, height


def _written(drawing: Image.Image) -> bytes:
    written = io.BytesIO()
    drawing.save(written, "WEBP", lossless=True, method=4, quality=50)
    return written.getvalue()


def _few_colours(drawing: Image.Image) -> Image.Image:
    """Returns a drawing with fewer shades where bands and lines end; white stays white."""
    few = drawing.quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    shades = few.getpalette() or []
    for first in range(0, len(shades), 3):
        if min(shades[first : first + 3]) >= _NEARLY_WHITE:
            shades[first : first + 3] = [255, 255, 255]
    few.putpalette(shades)
    return few.convert("RGB")
