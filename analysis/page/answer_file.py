"""``answer.json``: question, answer and verdict alone, for whoever lists thousands of studies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from analysis.page.content import Page
from analysis.study.study_folder import write_text_whole

ANSWER: Final = "answer.json"


def write_answer(folder: Path, page: Page, summary: Mapping[str, Any]) -> None:
    """Writes what a page says first.

    Args:
        folder: the study's.
        page: all that is said.
        summary: content of ``summary.json``.

    Raises:
        OSError: if it cannot be written.
    """
    said = {
        "study": page.study,
        "question": page.question,
        "answer": list(page.answer),
        "outcome": summary["verdict"]["outcome"],
    }
    write_text_whole(folder / ANSWER, json.dumps(said, indent=1) + "\n")
