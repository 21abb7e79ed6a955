"""TSO timestamps: milliseconds of PD's clock, and a logical counter in the low 18 bits.

Source: tikv/pd pkg/utils/tsoutil; tikv/client-go oracle.
"""

from typing import Final

TSO_PHYSICAL_SHIFT: Final = 18
"""Bits of the logical counter."""

MAX_TS: Final = (1 << 64) - 1
"""``u64::MAX``: a point get in auto-commit reads at it. It asks for the newest version and is no
time, so no transaction is promised to commit after it."""


def physical_ms(timestamp: int) -> int:
    """Returns the milliseconds of a timestamp."""
    return timestamp >> TSO_PHYSICAL_SHIFT


def logical_part(timestamp: int) -> int:
    """Returns the logical counter of a timestamp."""
    return timestamp & ((1 << TSO_PHYSICAL_SHIFT) - 1)


def compose_ts(physical_ms: int, logical: int = 0) -> int:
    """Returns the timestamp of these milliseconds and this logical counter."""
    return (physical_ms << TSO_PHYSICAL_SHIFT) + logical
