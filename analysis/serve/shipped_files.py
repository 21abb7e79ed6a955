"""Styles and scripts that come with the pages: served one by one, or set into a file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from analysis.program import module

_OF_REPORTS: Final = "page.css"
KINDS: Final = dict.fromkeys((_OF_REPORTS, "serve.css"), "text/css") | dict.fromkeys(
    ("plot.js", "explore.js", "live.js", "compare.js", "time.js"), "text/javascript"
)
"""Media type by name."""


@cache
def shipped(name: str) -> str:
    """Returns the text of one of ``KINDS``; reports share their style with the pages."""
    package = module("analysis.page") if name == _OF_REPORTS else module("analysis.serve")
    return files(package).joinpath("assets", name).read_text(encoding="utf-8")
