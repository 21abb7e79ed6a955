"""Styles and scripts that come with the pages: served one by one, or set into a file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from analysis.program import module

_STYLE, _SCRIPT = "text/css", "text/javascript"
KINDS: Final = {
    "page.css": _STYLE,
    "serve.css": _STYLE,
    "plot.js": _SCRIPT,
    "explore.js": _SCRIPT,
    "live.js": _SCRIPT,
    "compare.js": _SCRIPT,
    "time.js": _SCRIPT,
}
"""Media type by name."""
_OF_REPORTS: Final = "page.css"


@cache
def shipped(name: str) -> str:
    """Returns the text of one of ``KINDS``; reports share their style with the pages."""
    package = module("analysis.page") if name == _OF_REPORTS else module("analysis.serve")
    return files(package).joinpath("assets", name).read_text(encoding="utf-8")
