"""Question, answer and verdict of a study alone, for whoever needs no numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

ANSWER: Final = "answer.json"


def said_in(folder: Path) -> Mapping[str, Any]:
    """Returns what a study's file says; nothing if there is none that can be read."""
    try:
        said = json.loads((folder / ANSWER).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def sentences(said: Mapping[str, Any]) -> list[str]:
    """Returns the answer's sentences; none of a file that somebody has damaged."""
    answer = said.get("answer")
    return [each for each in answer if isinstance(each, str)] if isinstance(answer, list) else []
