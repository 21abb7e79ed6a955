"""What an unquoted YAML scalar means: the core schema of YAML 1.2, and nothing more.

YAML 1.1, which most Python programs still read, takes ``on`` and ``no`` for truth values, ``1:30``
for ninety and ``010`` for eight. Here they stay text, and a schema that wants a number says so.
``1_000_000`` is read as a number, because people write it.

Source: YAML 1.2.2, 10.3 (core schema).
"""

from __future__ import annotations

import math
import re

_INTEGER = re.compile(r"[-+]?[0-9]+(_[0-9]+)*")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(_[0-9]+)*(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | float | None] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "false": False,
    ".inf": math.inf,
    "-.inf": -math.inf,
    ".nan": math.nan,
}
_MOST_DIGITS = 40
"""More digits than any quantity needs; longer ones stay text, since they cost quadratic time."""


def scalar_value(text: str) -> str | int | float | bool | None:
    """Returns the value of a plain scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text in ("Null", "NULL", "True", "TRUE", "False", "FALSE"):
        return _WORDS[text.lower()]
    if len(text) > _MOST_DIGITS or text[0] not in "-+.0123456789":
        return text
    if _INTEGER.fullmatch(text) and not re.fullmatch(r"[-+]?0[0-9]+", text):
        return int(text)
    if _FLOAT.fullmatch(text) and not re.match(r"[-+]?0[0-9]", text):
        return float(text)
    return text
