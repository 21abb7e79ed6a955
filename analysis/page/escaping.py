"""Text from anywhere, made harmless in each format that a page is set in.

Law: a template prints only what has gone through here. Control characters and characters that turn
the direction of writing are left out: they make text look like other text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_SPECIAL: Final = re.compile(r"([\\`*<>|~$&])")
_UNDERSCORE: Final = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_LINK: Final = re.compile(r"\](?=[(\[:])")
_BRACKET: Final = re.compile(r"[\[\]]")
_ADDRESS: Final = re.compile(
    r":(?=//)|(?<=www)\.|(?<=\w)@(?=\w)|(?<=mailto):|(?<=xmpp):", re.IGNORECASE
)
_BEGINNING: Final = re.compile(r"^(\s*)([#+=-]|\d+(?=[.)](?:\s|$)))")
_SCRIPT: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028",
                  "\u2029": "\\u2029"}  # fmt: skip


def visible(text: str) -> str:
    """Returns text without hidden characters; line breaks and tabs stay."""
    return "".join(
        letter for letter in text if letter in "\n\t" or unicodedata.category(letter) not in _HIDDEN
    )


def one_line(text: str) -> str:
    """Returns text on one line, without hidden characters."""
    return " ".join(visible(text).split())


def in_markdown(text: str) -> str:
    """Returns text that Markdown (CommonMark and GitHub's) shows as it is.

    No markup, no HTML, no entity, no table's column, no link, not even of a bare address.
    """
    return _escaped(text, _LINK)


def in_brackets(text: str) -> str:
    """Returns text for between Markdown's brackets, which nothing in it closes."""
    return _escaped(text, _BRACKET)


def _escaped(text: str, brackets: re.Pattern[str]) -> str:
    line = _SPECIAL.sub(r"\\\1", one_line(text))
    for marks in (_UNDERSCORE, brackets, _ADDRESS):
        line = marks.sub(lambda found: "\\" + found[0], line)
    return _BEGINNING.sub(_begun, line)


def _begun(found: re.Match[str]) -> str:
    """Keeps a line from beginning a heading, a list or a rule."""
    mark = found[2]
    return f"{found[1]}{mark}\\" if mark.isdigit() else f"{found[1]}\\{mark}"


def in_script(content: Mapping[str, Any]) -> str:
    """Returns JSON for an element ``script``: nothing in it can end that element."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return "".join(_SCRIPT.get(letter, letter) for letter in text)
