"""``--json``: standard output holds one JSON document, and nothing else.

Words for people go away or to standard error. NaN and infinities, which JSON has not, are null.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Any


def print_json(document: Mapping[str, Any]) -> None:
    """Prints a document, indented, keys in their order."""
    sys.stdout.write(json.dumps(_plain(document), indent=1, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    """Returns a value with null for what is not a number, also deep inside."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case Mapping():
            return {str(key): _plain(of) for key, of in value.items()}
        case list() | tuple():
            return [_plain(of) for of in value]
        case _:
            return value
