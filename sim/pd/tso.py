"""PD as far as transactions need it: timestamps, and the oldest transaction that still runs.

Timestamps (``protocol.timestamp``) grow strictly. The safe point below which old versions may be
dropped is the ``start_ts`` of the oldest running transaction: no running transaction can see
anything older. TiDB's own GC safe point guarantees the same, ten minutes later.

Source: tikv/pd server/tso; client-go oracle.
"""

from sim.protocol.timestamp import compose_ts
from sim.units import NS_PER_MS


class TimestampOracle:
    """Hands out timestamps and remembers which transactions run."""

    def __init__(self) -> None:
        self._last = 0
        self.running: dict[int, int] = {}
        """start_ts of every running transaction, oldest first (a dict as an ordered set)."""

    def next(self, now_ns: int) -> int:
        """Returns a timestamp greater than all before."""
        timestamp = compose_ts(now_ns // NS_PER_MS)
        if timestamp <= self._last:
            timestamp = self._last + 1
        self._last = timestamp
        return timestamp

    def begin(self, now_ns: int) -> int:
        """Returns a new transaction's ``start_ts`` and counts it as running until ``end``."""
        start_ts = self.next(now_ns)
        self.running[start_ts] = start_ts
        return start_ts

    def end(self, start_ts: int) -> None:
        """Forgets a transaction whose last lock is gone."""
        self.running.pop(start_ts, None)

    def safe_ts(self) -> int:
        """Returns the timestamp below which nobody reads."""
        for start_ts in self.running:
            return start_ts
        return self._last
