"""Which transactions were committed lately, as one store knows.

A prewrite of a key that no statement has locked (an index entry) does not look for versions, so one
that arrives late, after its transaction has been committed, would leave a lock behind. Whoever
finds the transaction here looks.

Source: tikv/tikv src/storage/txn/txn_status_cache.rs (since v7.5; its capacity of 5 million
transactions is not modelled).
"""

from collections import deque
from typing import Final

KEPT_NS: Final = 30_000_000_000
"""``CACHE_ITEMS_REQUIRED_KEEP_TIME``."""


class TxnStatusCache:
    """One store's; it lives in memory and is lost in a crash."""

    def __init__(self) -> None:
        self._committed: set[int] = set()
        self._by_age: deque[tuple[int, int]] = deque()
        """When each transaction was noted, in ns, and its start_ts."""

    def insert_committed(self, start_ts: int, now_ns: int) -> None:
        """Notes that a transaction is committed, and forgets those that were long ago."""
        if start_ts in self._committed:
            return
        self._committed.add(start_ts)
        self._by_age.append((now_ns, start_ts))
        while self._by_age[0][0] + KEPT_NS < now_ns:
            self._committed.remove(self._by_age.popleft()[1])

    def is_committed(self, start_ts: int) -> bool:
        """Returns whether a transaction is known to be committed."""
        return start_ts in self._committed
