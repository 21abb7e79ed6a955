"""The records of a key: a lock, and the versions below it.

Records are values: a ``Lock`` or a ``Write`` that has been put is never changed, so the keys of one
command may share one lock object. Long values are counted (default CF) but not stored apart: the
record carries them.

Source: tikv/tikv components/txn_types/src/{lock,write}.rs.
"""

from typing import Any, ClassVar, Final, TypeVar

from sim.protocol.encoding import NO_VALUE, RecordSizes

PUT: Final = 1
DELETE: Final = 2
LOCK: Final = 3
ROLLBACK: Final = 4
PESSIMISTIC: Final = 5
INSERT: Final = 6

LOCK_ONLY: Final = LOCK
"""A 2PC lock on a key that was locked but not written (``Op_Lock``)."""

KIND_NAMES: Final = {
    PUT: "PUT",
    DELETE: "DELETE",
    LOCK: "LOCK",
    ROLLBACK: "ROLLBACK",
    PESSIMISTIC: "PESSIMISTIC",
    INSERT: "INSERT",
}


_AnyLock = TypeVar("_AnyLock", bound="Lock")


class Lock:
    """A lock on one key: pessimistic, or of a transaction that has been prewritten.

    Attributes:
        kind: PESSIMISTIC, PUT, DELETE or LOCK_ONLY; the last three become a write of that kind.
        value_bytes: length of the new value; NO_VALUE when there is none.
        value: opaque payload of the new value, or None.
        secondaries: keys of an async-commit transaction; on its primary lock only.
        sizes: bytes of this key's records.
    """

    __slots__ = (
        "for_update_ts",
        "kind",
        "min_commit_ts",
        "primary",
        "secondaries",
        "sizes",
        "start_ts",
        "ttl_ms",
        "use_async_commit",
        "value",
        "value_bytes",
    )

    is_locked_with_conflict: ClassVar[bool] = False
    """Whether the lock was taken over a version newer than the request's for_update_ts."""

    use_one_pc: ClassVar[bool] = False
    """Whether it stands for a version that is being written in one phase; in memory only."""

    def __init__(  # noqa: PLR0913, PLR0917 - the fields of TiKV's
        self,
        kind: int,
        primary: bytes,
        start_ts: int,
        ttl_ms: int,
        for_update_ts: int,
        min_commit_ts: int,
        sizes: RecordSizes,
        value_bytes: int = NO_VALUE,
        value: Any = None,
        *,
        use_async_commit: bool = False,
        secondaries: tuple[bytes, ...] | None = None,
    ) -> None:
        self.kind = kind
        self.primary = primary
        self.start_ts = start_ts
        self.ttl_ms = ttl_ms
        self.for_update_ts = for_update_ts
        self.min_commit_ts = min_commit_ts
        self.sizes = sizes
        self.value_bytes = value_bytes
        self.value = value
        self.use_async_commit = use_async_commit
        self.secondaries = secondaries

    def with_ttl(self, ttl_ms: int) -> "Lock":
        """Returns this lock with another time to live."""
        return self._with(ttl_ms, self.min_commit_ts)

    def with_min_commit_ts(self, min_commit_ts: int) -> "Lock":
        """Returns this lock with another smallest commit_ts."""
        return self._with(self.ttl_ms, min_commit_ts)

    def _with(self, ttl_ms: int, min_commit_ts: int) -> "Lock":
        return self.__class__(
            self.kind,
            self.primary,
            self.start_ts,
            ttl_ms,
            self.for_update_ts,
            min_commit_ts,
            self.sizes,
            self.value_bytes,
            self.value,
            use_async_commit=self.use_async_commit,
            secondaries=self.secondaries,
        )

    def with_conflict(self) -> "LockWithConflict":
        """Returns this pessimistic lock as one taken with conflict."""
        return self._without_value(LockWithConflict)

    def of_one_phase(self) -> "OnePhaseLock":
        """Returns this lock as one that readers meet while its version is on its way."""
        return self._without_value(OnePhaseLock)

    def _without_value(self, lock_class: type[_AnyLock]) -> _AnyLock:
        return lock_class(
            self.kind,
            self.primary,
            self.start_ts,
            self.ttl_ms,
            self.for_update_ts,
            self.min_commit_ts,
            self.sizes,
        )

    def __repr__(self) -> str:
        return (
            f"Lock({KIND_NAMES[self.kind]} start_ts={self.start_ts} primary={self.primary!r} "
            f"ttl_ms={self.ttl_ms} for_update_ts={self.for_update_ts} "
            f"min_commit_ts={self.min_commit_ts})"
        )


class LockWithConflict(Lock):
    """A pessimistic lock taken with conflict (fair locking).

    A delayed request may take one for a transaction that has ended since, so whoever infers a
    transaction's state from such a lock looks for the transaction's record first.
    """

    __slots__ = ()

    is_locked_with_conflict: ClassVar[bool] = True


class OnePhaseLock(Lock):
    """What readers meet on a key that is being committed in one phase; never written."""

    __slots__ = ()

    use_one_pc: ClassVar[bool] = True


class Write:
    """One version of a key, or the record of a rollback (``commit_ts == start_ts``)."""

    __slots__ = (
        "commit_ts",
        "has_overlapped_rollback",
        "kind",
        "prev",
        "start_ts",
        "value",
        "value_bytes",
    )

    def __init__(
        self,
        kind: int,
        start_ts: int,
        commit_ts: int,
        value_bytes: int = NO_VALUE,
        value: Any = None,
    ) -> None:
        self.kind = kind
        self.start_ts = start_ts
        self.commit_ts = commit_ts
        self.value_bytes = value_bytes
        self.value = value
        self.prev: Write | None = None
        self.has_overlapped_rollback = False

    def above(self, prev: "Write | None") -> "Write":
        """Returns the same record with ``prev`` below it."""
        record = Write(self.kind, self.start_ts, self.commit_ts, self.value_bytes, self.value)
        record.has_overlapped_rollback = self.has_overlapped_rollback
        record.prev = prev
        return record

    def __repr__(self) -> str:
        return f"Write({KIND_NAMES[self.kind]} {self.start_ts}->{self.commit_ts})"
