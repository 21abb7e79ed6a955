"""What a store remembers about reads, so that async commit and 1PC never commit below one.

A prewrite that fixes its own commit timestamp (async commit, 1PC) takes one above ``max_ts``, the
latest timestamp that this store has been read at. From then on until the prewrite is applied its
locks are in memory, where later readers find them; in between there is no moment at which a reader
sees neither.

Source: tikv/tikv components/concurrency_manager/src/{lib,lock_table}.rs.
"""

from collections.abc import Iterable

from sim.protocol.records import Lock
from sim.protocol.timestamp import MAX_TS


class ConcurrencyManager:
    """One store's; it lives in memory and is lost in a crash.

    Attributes:
        max_ts: the latest timestamp of a read served here, or of another command that has seen
            versions up to there. It never falls.
        locks: by key, the locks of async-commit and one-phase prewrites that are being replicated.
    """

    def __init__(self) -> None:
        self.max_ts = 0
        self.locks: dict[bytes, Lock] = {}

    def update_max_ts(self, ts: int) -> None:
        """Notes a read at ``ts``; ``MAX_TS`` is no time and changes nothing."""
        if self.max_ts < ts < MAX_TS:
            self.max_ts = ts

    def lock_keys(self, locks: Iterable[tuple[bytes, Lock]]) -> None:
        """Shows readers the locks of a prewrite that is about to be proposed."""
        self.locks.update(locks)

    def unlock_keys(self, locks: Iterable[tuple[bytes, Lock]]) -> None:
        """Removes the locks of a prewrite that has been applied, or that has failed."""
        for key, _ in locks:
            self.locks.pop(key, None)
