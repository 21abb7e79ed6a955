"""What TiDB remembers of one running transaction."""

from collections.abc import Iterable

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


class TransactionState:
    """Timestamps, locks and buffered mutations."""

    __slots__ = (
        "buffer",
        "explicit",
        "for_update_ts",
        "heartbeat_due_ns",
        "locked",
        "one_pc",
        "optimistic",
        "primary",
        "start_ts",
        "use_async_commit",
    )

    def __init__(self, start_ts: int, *, optimistic: bool, explicit: bool = True) -> None:
        self.start_ts = start_ts
        self.explicit = explicit
        """Begun by the client, and not by a statement in auto-commit."""
        self.for_update_ts = start_ts
        self.optimistic = optimistic
        self.primary = b""
        self.locked: dict[bytes, None] = {}
        """Keys locked so far, in order."""
        self.buffer: dict[bytes, Mutation] = {}
        """Newest mutation of each key, in the order in which keys were first written."""
        self.heartbeat_due_ns = 0
        self.use_async_commit = False
        self.one_pc = False
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
