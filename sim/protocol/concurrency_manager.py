"""placeholder until merge"""

from sim.protocol.records import Lock


class ConcurrencyManager:
    """Timestamps read at, and async-commit locks under way."""

    def __init__(self) -> None:
        self.max_ts = 0
        self.memory_locks: dict[bytes, Lock] = {}

    def update_max_ts(self, ts: int) -> None:
        """Raises max_ts."""
        if ts > self.max_ts:
            self.max_ts = ts
