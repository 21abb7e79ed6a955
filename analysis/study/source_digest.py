"""Which code a result was made by: a digest of the source, whatever the commit says.

A unit made by another model is not taken for one of this model, even between two commits.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Final

from analysis.program import ROOT

_KINDS: Final = ("*.py", "*.yaml")


@cache
def source_digest(*packages: str) -> str:
    """Returns the SHA-256 over names and contents of some packages' Python files and tables."""
    digest = hashlib.sha256()
    for package in packages:
        for path in sorted(path for kind in _KINDS for path in (ROOT / package).rglob(kind)):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def model_digest() -> str:
    """Returns the digest of the model, by which a unit's facts are made."""
    return source_digest("sim")
