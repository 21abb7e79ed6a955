"""Disk bytes of all stores, by place and by cause.

Law: every byte that a model part writes to a disk is entered here once, under the place it is
written (raft log, KV WAL, flush, compaction) and the cause it is written for (the command).
``broken_conservation`` compares the ledger with what the disks themselves counted.
"""

from __future__ import annotations

from typing import Final

from sim.protocol.write_batch import CAUSE_NAMES
from sim.record.recorder import Counter, Recorder

RAFT_LOG: Final = 0
KV_WAL: Final = 1
FLUSH: Final = 2
COMPACTION: Final = 3
PLACE_NAMES: Final = ("raft_log", "kv_wal", "flush", "compaction")
CAUSES: Final = len(CAUSE_NAMES)

DISK_WRITE_BYTES: Final = "disk_write_bytes"


class DiskBytes:
    """The ledger: one counter for each (place, cause), shared by all stores."""

    def __init__(self, recorder: Recorder) -> None:
        self.by_place: list[list[Counter]] = [
            [recorder.counter(DISK_WRITE_BYTES, f"{place}/{cause}") for cause in CAUSE_NAMES]
            for place in PLACE_NAMES
        ]

    def total(self) -> int:
        """Returns all bytes entered so far."""
        return sum(counter.value for row in self.by_place for counter in row)


def spread(total_bytes: int, weights: list[int]) -> list[int]:
    """Splits ``total_bytes`` in proportion to ``weights``, exactly: the parts sum to the whole.

    What rounding leaves goes to the greatest weight.
    """
    whole = sum(weights)
    assert whole > 0, "somebody must have caused these bytes"
    most = max(weights)
    if most == whole:
        return [total_bytes if weight else 0 for weight in weights]
    parts = [total_bytes * weight // whole for weight in weights]
    parts[weights.index(most)] += total_bytes - sum(parts)
    return parts
