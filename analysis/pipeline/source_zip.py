"""The code that travels to remote workers: ``sim`` and ``analysis`` as one zip."""

from __future__ import annotations

import zipfile
from pathlib import Path

_PACKAGES = ("sim", "analysis")


def write_source_zip(root: Path, folder: Path) -> Path:
    """Writes ``pessim.zip`` into ``folder``, with every Python file of both packages."""
    target = folder / "pessim.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in _PACKAGES:
            for path in sorted((root / package).rglob("*.py")):
                archive.write(path, path.relative_to(root))
    return target
