"""Versions of TiKV, as numbers that can be compared."""

from typing import Final

Version = tuple[int, int, int]

IN_MEMORY_SINCE: Final[Version] = (6, 0, 0)
"""Feature gate of in-memory pessimistic locks (tikv/tikv#12078)."""

COMMIT_PIPELINE_SINCE: Final[Version] = (6, 0, 0)
"""From when on threads insert into RocksDB's memtables side by side (tikv/tikv#12060)."""


def parse_version(text: str) -> Version:
    """Returns ``6.0.0`` as numbers.

    Raises:
        ValueError: if it is not three numbers with dots between, with or without a leading ``v``.
    """
    parts = text.removeprefix("v").split(".")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        raise ValueError(f"{text!r} is not a version; write three numbers, as in 6.0.0")
    major, minor, patch = map(int, parts)
    return major, minor, patch
