"""The page as one HTML file that loads nothing, and as Markdown.

Styles, scripts, data and pictures are in the HTML file; Markdown has the same words, and names
pictures by their place below the study's folder.

The charts' library is uPlot, as published: ``assets/uplot/source.toml`` says which version, from
where, and the hash of each file.
"""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis.page.content import Code, Page
from analysis.page.escaping import in_brackets, in_markdown, in_script, visible
from analysis.report.table import ReportTable

LIBRARY: Final = "uplot"
"""Folder of the charts' library below ``assets``."""
CHART_STYLES: Final = (f"{LIBRARY}/uPlot.min.css",)
CHART_SCRIPTS: Final = (f"{LIBRARY}/uPlot.iife.min.js", "charts.js")
"""What draws charts, on reports and on served pages."""
_UNIT: Final = re.compile(r"(\d) (%|[mn]?s\b|KiB\b)")
_INTERVAL: Final = re.compile(r"\[[^\[\]\n]{1,30}\]")


def html_text(page: Page, data: Mapping[str, Any]) -> str:
    """Returns the file's content.

    Args:
        page: what it says.
        data: charts by name; without any, the file has no scripts.
    """
    parts = inlined([*CHART_STYLES, "page.css"], [*CHART_SCRIPTS, "report.js"], asset)
    if not data:
        parts = inlined(["page.css"], [], asset)
    template = environment().get_template("report.html.j2")
    return template.render(page=page, data=Markup(in_script(data)), **parts)


def inlined(
    styles: Sequence[str], scripts: Sequence[str], text: Callable[[str], str]
) -> dict[str, Any]:
    """Returns what the template of a file that loads nothing takes.

    Args:
        styles: names of files, in order.
        scripts: names of files, in order; the only ones that run.
        text: returns a file's content.

    Returns:
        ``policy``, ``notice`` of who draws the charts, and the texts of ``styles`` and ``scripts``.
    """
    code = [text(name) for name in scripts]
    made = library()
    drawn = f"Charts are drawn by {made['name']} {made['version']}, {made['home']}."
    notice = f"<!-- Made by Pessim. {drawn}\n{asset(f'{LIBRARY}/LICENSE')}\n-->"
    return {
        "policy": inline_policy(code),
        "notice": Markup(notice if scripts else ""),
        "styles": [Markup(text(name)) for name in styles],
        "scripts": [Markup(script) for script in code],
    }


@cache
def environment(package: str = __package__) -> Environment:
    """Returns what sets the templates of a package, or of this one: all text is escaped."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(__package__)]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: Any) -> Any:
    """Returns what a template prints: text without hidden characters, everything else as it is.

    A number stays on the line of its unit, an interval on one line.
    """
    if type(value) is not str:
        return value
    text = visible(value).replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")
    text = _UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", text)
    return _INTERVAL.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)


@cache
def asset(name: str, package: str = __package__) -> str:
    """Returns the text of a style or script below ``assets`` of a package, or of this one."""
    return files(package).joinpath("assets", *name.split("/")).read_text(encoding="utf-8")


@cache
def library() -> dict[str, Any]:
    """Returns what is declared of the charts' library: name, version, licence, hashes."""
    return tomllib.loads(asset(f"{LIBRARY}/source.toml"))


def inline_policy(scripts: Sequence[str]) -> str:
    """Returns the policy of a file that loads nothing, and runs no scripts but these."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    named = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'; script-src " + (named or "'none'")
    )


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
