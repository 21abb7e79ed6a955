"""What TiDB remembers of one running transaction."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sim.protocol.mvcc import LOCK_ONLY
from sim.protocol.percolator import Mutation
from sim.protocol.timestamp import physical_ms

PESSIMISTIC_TTL_MS = 20_000
"""``ManagedLockTTL``: life of a pessimistic lock beyond the transaction's age."""

PREWRITE_TTL_MS = 3_000
"""``defaultLockTTL`` of a small transaction's prewrite."""


class TransactionAborted(Exception):
    """The transaction ends here, without a commit; ``reason`` becomes its class in the facts."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TransactionUndetermined(TransactionAborted):
    """The client gives up without knowing whether the transaction is committed."""

    def __init__(self) -> None:
        super().__init__("undetermined")


class OptimisticConflict(Exception):
    """An auto-commit statement met a newer version; it is tried again with locks."""


@dataclass(slots=True, eq=False)
class TransactionState:
    """Timestamps, locks and buffered mutations."""

    start_ts: int
    for_update_ts: int
    optimistic: bool = field(kw_only=True)
    explicit: bool = field(kw_only=True)
    """Begun by the client, and not by a statement in auto-commit."""
    primary: bytes = b""
    locked: dict[bytes, None] = field(default_factory=dict)
    """Keys locked so far, in order."""
    buffer: dict[bytes, Mutation] = field(default_factory=dict)
    """Newest mutation of each key, in the order in which keys were first written."""
    heartbeat_due_ns: int = 0
    use_async_commit: bool = False
    one_pc: bool = False
    """Whether the commit may do without a second phase, or without a commit_ts from PD."""

    def lock_ttl_ms(self, now_ms: int) -> int:
        """Returns the time to live for a lock request sent at ``now_ms``."""
        return now_ms - physical_ms(self.start_ts) + PESSIMISTIC_TTL_MS

    def prewrite_ttl_ms(self, now_ms: int) -> int:
        """Returns the time to live for a prewrite sent at ``now_ms``."""
        age_ms = now_ms - physical_ms(self.start_ts)
        return age_ms + (PREWRITE_TTL_MS if self.optimistic else PESSIMISTIC_TTL_MS)

    def write(self, mutations: Iterable[Mutation]) -> None:
        """Buffers mutations."""
        for mutation in mutations:
            self.buffer[mutation.key] = mutation

    def mutations(self) -> list[Mutation]:
        """Returns what is to be committed: the buffer, and a lock record for every other lock."""
        for key in self.locked:
            if key not in self.buffer:
                self.buffer[key] = Mutation(key, LOCK_ONLY)
        return list(self.buffer.values())
