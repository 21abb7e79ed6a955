"""Where a study lies when nobody says so: one folder a question."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

RESULTS: Final = Path("results")
NO_CHECKS: Final = "run.checks=false"
LONGEST_WORDS: Final = 80


def study_folder(name: str, overrides: Sequence[str], seed: int | None = None) -> Path:
    """Returns ``results/<name>``, with what the command line changes: another question's folder.

    More replications extend a study; they make no other one.
    """
    seeds = [] if seed is None else [f"seed={seed}"]
    changes = [change for change in (*overrides, *seeds) if change != NO_CHECKS]
    if not changes:
        return RESULTS / name
    words = re.sub(r"[^\w.=+-]+", "-", "_".join(sorted(changes)))
    if len(words) > LONGEST_WORDS:
        words = hashlib.sha256(words.encode()).hexdigest()[:12]
    return RESULTS / f"{name}_{words}"
