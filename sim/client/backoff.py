"""How long a request waits before it is sent again, and when its client gives up.

The waits of one kind double from its base to its cap, each kind for itself; once all waits of a
request add up to its budget, the next error is the answer. Time spent on the network, or waiting
for an answer, is not counted, nor are the waits for a busy server until they add up to ten minutes.

Source: tikv/client-go config/retry/config.go (BoTiKVRPC and others), backoff.go (isSleepExcluded),
kv/variables.go (DefBackoffLockFast),
txnkv/transaction/2pc.go (pessimisticLockMaxBackoff, PrewriteMaxBackoff); pingcap/tidb pkg/config
(commit-timeout), pkg/store/copr (copNextMaxBackoff).
"""

from typing import Final, NamedTuple

from sim.storage.request import Kind
from sim.streams import Stream
from sim.units import NS_PER_MS, NS_PER_S


class Backoff(NamedTuple):
    """One kind of wait."""

    name: str
    base_ms: int
    cap_ms: int
    jitter: bool
    """Half of the wait is drawn ("equal jitter")."""

    def wait_ns(self, attempt: int, stream: Stream) -> int:
        """Returns the length of the ``attempt``-th wait, from 0, in ns."""
        most_ms = min(self.cap_ms, self.base_ms << min(attempt, _LAST_DOUBLING))
        if not self.jitter:
            return most_ms * NS_PER_MS
        return int(most_ms / 2 * (1 + stream.random()) * NS_PER_MS)


_LAST_DOUBLING = 12
"""By then every kind has reached its cap."""

TIKV_RPC: Final = Backoff("tikvRPC", 100, 2_000, jitter=True)
REGION_MISS: Final = Backoff("regionMiss", 2, 500, jitter=False)
REGION_SCHEDULING: Final = Backoff("regionScheduling", 2, 500, jitter=False)
MAX_TS_NOT_SYNCED: Final = Backoff("maxTsNotSynced", 2, 500, jitter=False)
SERVER_BUSY: Final = Backoff("tikvServerBusy", 2_000, 10_000, jitter=True)
DISK_FULL: Final = Backoff("tikvDiskFull", 500, 5_000, jitter=False)
TXN_LOCK: Final = Backoff("txnLock", 100, 3_000, jitter=True)
TXN_LOCK_FAST: Final = Backoff("txnLockFast", 10, 3_000, jitter=True)
TXN_NOT_FOUND: Final = Backoff("txnNotFound", 2, 500, jitter=False)

BUSY_LIMIT_NS: Final = 600 * NS_PER_S
"""How long a busy server is waited for beside the budget."""

_WEIGHT = 2
"""TiDB's ``tidb_backoff_weight``, by which client-go multiplies each budget."""
_DEFAULT_BUDGET_NS = _WEIGHT * 20 * NS_PER_S

BUDGETS_NS: Final = dict.fromkeys(Kind, _DEFAULT_BUDGET_NS) | {
    Kind.PREWRITE: _WEIGHT * 40 * NS_PER_S,
    Kind.COMMIT: _WEIGHT * 41 * NS_PER_S,
}
"""What the waits of a request may add up to. Waiting in a store for a lock is none of them."""


class Backoffer:
    """The waits of requests that were sent together."""

    __slots__ = ("_attempts", "_busy_ns", "_limit_ns", "_stream", "slept_ns")

    def __init__(self, limit_ns: int, stream: Stream) -> None:
        self._limit_ns = limit_ns
        self._stream = stream
        self._attempts: dict[str, int] = {}
        self._busy_ns = 0
        self.slept_ns = 0
        """All waits so far, without those for a busy server."""

    def next_ns(self, kind: Backoff) -> int | None:
        """Returns how long to wait now, in ns; None if the budget is used up."""
        if self.slept_ns >= self._limit_ns:
            return None
        if kind is SERVER_BUSY and self._busy_ns >= BUSY_LIMIT_NS:
            return None
        attempt = self._attempts.get(kind.name, 0)
        self._attempts[kind.name] = attempt + 1
        wait_ns = kind.wait_ns(attempt, self._stream)
        if kind is SERVER_BUSY:
            self._busy_ns += wait_ns
        else:
            self.slept_ns += wait_ns
        return wait_ns
