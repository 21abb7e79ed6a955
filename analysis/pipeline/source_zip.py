"""What travels to remote workers: ``sim``, ``analysis`` and the hardware profiles, as one zip."""

from __future__ import annotations

import zipfile
from pathlib import Path

from analysis.program import IMPORTED_FROM, ROOT

_WHAT = (
    ("sim", "*.py"),
    ("analysis", "*.py"),
    ("analysis", "*.yaml"),
    ("scenarios/profiles", "*.yaml"),
)


def write_source_zip(folder: Path) -> Path:
    """Writes ``pessim.zip`` into ``folder``, with all that a unit needs."""
    target = folder / "pessim.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for below, names in _WHAT:
            for path in sorted((ROOT / below).rglob(names)):
                archive.write(path, path.relative_to(IMPORTED_FROM))
    return target
