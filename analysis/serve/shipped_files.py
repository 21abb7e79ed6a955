"""Styles and scripts that come with the pages: served one by one, or set into a file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from analysis.page.html import CHART_SCRIPTS, CHART_STYLES, asset

_OF_REPORTS: Final = ("page.css", *CHART_STYLES, *CHART_SCRIPTS)
_OWN: Final = ("serve.css", "explore.js", "live.js", "compare.js", "time.js")
KINDS: Final = {
    name: "text/css" if name.endswith(".css") else "text/javascript"
    for name in (*_OF_REPORTS, *_OWN)
}
"""Media type by name."""


@cache
def shipped(name: str) -> str:
    """Returns the text of one of ``KINDS``; reports share their style and charts with the pages."""
    if name in _OF_REPORTS:
        return asset(name)
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")
