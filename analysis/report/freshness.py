"""Whether a folder's summary and plots are what would be made again: then they need not be.

They depend on the study, the facts and the code. The manifest keeps a fingerprint of these and the
digests of the files, so a file that was changed, lost or half written is made anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from analysis.study.source_digest import source_digest
from analysis.study.study import Study
from analysis.study.unit_folder import UnitRecord, file_digest
from analysis.study.units import Unit

MANIFEST: Final = "manifest.json"
SUMMARY: Final = "summary.json"
_INPUTS: Final = frozenset({MANIFEST, "scenario.yaml"})


def fingerprint(study: Study, done: Mapping[Unit, UnitRecord]) -> str:
    """Returns a digest of all that a summary is made of."""
    facts = {unit.unit_hash: record.digests for unit, record in done.items()}
    return _digest([asked(study), facts])


def asked(study: Study) -> str:
    """Returns a digest of the question and of the code that answers it."""
    return _digest([study.name, study.resolved_yaml(), source_digest("sim", "analysis")])


def is_finished(folder: Path, study: Study) -> bool:
    """Returns whether the manifest says that this very question was answered, units unseen."""
    try:
        said = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return bool(said["asked"] == asked(study) and said["finished"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def result_digests(folder: Path) -> dict[str, str]:
    """Returns the digest of every file that was made of facts, plots included."""
    files = [*folder.glob("*"), *(folder / "plots").glob("*")]
    return {
        path.relative_to(folder).as_posix(): file_digest(path)
        for path in sorted(files)
        if path.is_file() and not path.name.startswith(".") and path.name not in _INPUTS
    }


def present_summary(
    folder: Path, study: Study, done: Mapping[Unit, UnitRecord]
) -> dict[str, Any] | None:
    """Returns the summary in the folder if it, and all beside it, is up to date."""
    try:
        said = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        whole = SUMMARY in said["results"] and said["results"] == result_digests(folder)
        if not whole or said["made_of"] != fingerprint(study, done):
            return None
        summary: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return summary
