"""A unit that failed: ``units/<hash>.failed``, which says why and by which model.

It is written by whoever saw the unit fail, at once, and goes when the unit is done or tried again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from analysis.study.study_folder import write_text_whole
from analysis.study.unit_folder import failure_path


@dataclass(frozen=True, slots=True)
class UnitFailure:
    """Why a unit has no facts."""

    unit_hash: str
    variant: str
    replication: int
    point: dict[str, object]
    error: str
    """One line."""
    trace: str
    """Python's traceback; empty if the process died."""
    model: str
    """Digest of the source of the model that failed."""
    attempts: int
    """How often the unit has been tried, earlier runs included."""


def write_failure(units_dir: Path, failure: UnitFailure) -> None:
    """Writes a failure whole.

    Raises:
        OSError: if it cannot be written.
    """
    text = json.dumps(asdict(failure), indent=1) + "\n"
    write_text_whole(failure_path(units_dir, failure.unit_hash), text)


def read_failure(units_dir: Path, unit_hash: str) -> UnitFailure | None:
    """Returns why a unit failed; None if it has not, or the file cannot be read."""
    try:
        content = json.loads(failure_path(units_dir, unit_hash).read_text(encoding="utf-8"))
        return UnitFailure(**content)
    except (OSError, ValueError, TypeError):
        return None
