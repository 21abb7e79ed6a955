"""The page as Markdown: the same words, pictures by their place below the study's folder."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.page.content import Code, Page
from analysis.page.escaping import in_brackets, in_markdown, visible
from analysis.report.table import ReportTable

_BLANK_LINES: Final = re.compile(r"\n{3,}")


class _Ready(str):
    """Markdown that needs no escaping any more."""

    __slots__ = ()


def markdown_text(page: Page) -> str:
    """Returns the file's content."""
    text = _environment().get_template("report.md.j2").render(page=page)
    return _BLANK_LINES.sub("\n\n", text).strip() + "\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__),
        undefined=StrictUndefined,
        finalize=_escaped,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["indented"] = _indented
    environment.filters["in_brackets"] = lambda text: _Ready(in_brackets(text))
    environment.filters["rule"] = _rule
    environment.filters["ready"] = _Ready
    return environment


def _escaped(value: Any) -> Any:
    return in_markdown(value) if isinstance(value, str) and not isinstance(value, _Ready) else value


def _indented(block: Code) -> _Ready:
    """Returns code as an indented block, which no line of it can end."""
    return _Ready("\n".join(f"    {line}" for line in visible(block.text).splitlines()))


def _rule(table: ReportTable) -> _Ready:
    """Returns the line below a table's headings: words to the left, numbers to the right."""
    sides = (":--" if place in table.words else "--:" for place in range(len(table.headings)))
    return _Ready(f"| {' | '.join(sides)} |")
