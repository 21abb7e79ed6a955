"""What ``docs/MODEL.md`` says of the model, as plain text for the page.

Law: the model's own page is the one place where the model is described; a report quotes it. Without
that page (sources that were copied without docs) there is nothing to quote.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from analysis.program import ROOT

MODEL: Final = ROOT / "docs" / "MODEL.md"
_LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_SIMPLIFIED: Final = "What is simplified, and what that does"


@cache
def _sections() -> dict[str, str]:
    """Returns the text below each heading of the second level."""
    try:
        text = MODEL.read_text(encoding="utf-8")
    except OSError:
        return {}
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def paragraph(heading: str, begins: str) -> str:
    """Returns the paragraph of a section that begins so, without markup; empty if there is none."""
    for part in _sections().get(heading, "").split("\n\n"):
        text = _plain(" ".join(part.split()))
        if text.startswith(begins):
            return text
    return ""


def simplifications() -> list[tuple[str, str, str]]:
    """Returns what is simplified, why, and the likely effect."""
    rows = _rows(_sections().get(_SIMPLIFIED, ""))
    return [(cells[0], cells[1], cells[2]) for cells in rows if len(cells) == 3]


def _rows(text: str) -> list[list[str]]:
    """Returns the rows below the heading of the first table."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[_plain(cell.strip()) for cell in line.strip("|").split("|")] for line in lines[2:]]


def _plain(text: str) -> str:
    """Returns Markdown as text: links by their words, no emphasis, no code marks."""
    return _LINK.sub(r"\1", text).replace("**", "").replace("`", "").replace("*", "")
