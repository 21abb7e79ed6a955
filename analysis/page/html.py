"""The page as one HTML file that loads nothing: styles, scripts, data and pictures are in it.

Source of the charts' library: dygraphs 1.1.1 (MIT), as the Python package ``dygraphs`` ships it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis.page.content import Page
from analysis.page.escaping import in_script, visible

_LIBRARY: Final = ("dygraphs", "assets/dygraph-combined.js")
_SOURCE_MAP: Final = re.compile(r"^//[#@] sourceMappingURL=.*$", re.MULTILINE)
_UNIT: Final = re.compile(r"(\d) (%|[mn]?s\b|KiB\b)")
_INTERVAL: Final = re.compile(r"\[[^\[\]\n]{1,30}\]")


def html_text(page: Page, data: Mapping[str, Any]) -> str:
    """Returns the file's content.

    Args:
        page: what it says.
        data: charts by name; without any, the file has no scripts.
    """
    scripts = [_library(), _asset("charts.js")] if data else []
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'; script-src " + (" ".join(map(_digest, scripts)) or "'none'")
    )
    return environment().get_template("report.html.j2").render(
        page=page,
        policy=policy,
        style=Markup(_asset("page.css")),
        scripts=[Markup(script) for script in scripts],
        data=Markup(in_script(data)),
    )  # fmt: skip


@cache
def environment(package: str = "analysis.page") -> Environment:
    """Returns what sets the templates of a package: all text is escaped, nothing is hidden."""
    return Environment(
        loader=PackageLoader(package),
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
def _asset(name: str) -> str:
    return files("analysis.page").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _library() -> str:
    package, path = _LIBRARY
    text = files(package).joinpath(*path.split("/")).read_text(encoding="utf-8")
    return _SOURCE_MAP.sub("", text).replace("</script", "<\\/script")


def _digest(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
