"""The counters that a store's stations feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.write_batch import CAUSE_NAMES

if TYPE_CHECKING:
    from sim.record.recorder import Recorder


class StoreStats:
    """Counters of one store; those of a cause are shared by all stores."""

    __slots__ = ("entry_bytes", "lock_table", "proposals")

    def __init__(self, recorder: Recorder, store: int) -> None:
        self.proposals = [recorder.counter("proposals", cause) for cause in CAUSE_NAMES]
        """Commands proposed, by cause."""
        self.entry_bytes = [recorder.counter("raft_entry_bytes", cause) for cause in CAUSE_NAMES]
        """Entries as proposed, by cause, summed over the replicas that log them."""
        self.lock_table = recorder.series("lock_table_bytes", f"store-{store}")
        """Bytes that all in-memory locks of the store take, at each grant."""
