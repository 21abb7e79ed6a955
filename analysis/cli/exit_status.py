"""Exit status of every command."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """What the shell sees."""

    FINE = 0
    CLAIM_FAILED = 1
    BAD_INPUT = 2
    UNITS_FAILED = 3
    INTERRUPTED = 130
