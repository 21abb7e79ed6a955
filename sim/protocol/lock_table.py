"""A peer's pessimistic locks in memory: bounded, valid for one (term, version), lost in a crash.

Nothing in here is replicated. A table may be written only while its status is NORMAL and its term
and version are those of the command; a command that may not write it falls back to a proposal.
Removal has two steps: a lock is marked deleted when the command that replaces it is proposed, and
removed when that command is applied; until then other commands still see it.

Source: tikv/tikv components/raftstore/src/store/txn_ext.rs (PeerPessimisticLocks), RFC 77.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final

from sim.protocol.keys import show_key
from sim.protocol.records import Lock
from sim.protocol.write_batch import WriteBatch

PEER_MEM_SIZE_LIMIT_BYTES: Final = 512 * 1024
INSTANCE_MEM_SIZE_LIMIT_BYTES: Final = 100 * 1024 * 1024


class LocksStatus(Enum):
    """Whether the table of a peer may be written and read."""

    NORMAL = "Normal"
    TRANSFERRING_LEADER = "TransferringLeader"
    MERGING_REGION = "MergingRegion"
    NOT_LEADER = "NotLeader"
    IS_IN_FLASHBACK = "IsInFlashback"


_NORMAL: Final = LocksStatus.NORMAL


class InstanceMemory:
    """Bytes in the tables of all peers of a store: a gauge, checked and then added to."""

    def __init__(self, limit_bytes: int = INSTANCE_MEM_SIZE_LIMIT_BYTES) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0


class PeerPessimisticLocks:
    """The table of one peer.

    Attributes:
        map: the lock of each key; locks marked deleted included.
        memory_size: accounted bytes (key, primary and struct of each lock).
    """

    __slots__ = (
        "_deleted",
        "instance",
        "limit_bytes",
        "map",
        "memory_size",
        "status",
        "term",
        "version",
    )

    def __init__(
        self,
        instance: InstanceMemory,
        limit_bytes: int = PEER_MEM_SIZE_LIMIT_BYTES,
        *,
        term: int = 0,
        version: int = 0,
    ) -> None:
        self.instance = instance
        self.limit_bytes = limit_bytes
        self.map: dict[bytes, Lock] = {}
        self._deleted: set[bytes] = set()
        self.status = LocksStatus.NORMAL
        self.term = term
        self.version = version
        self.memory_size = 0

    def refusal(self, term: int, version: int) -> str | None:
        """Returns why a command of ``term`` and epoch ``version`` may not write, or None."""
        if self.status is not _NORMAL:
            return "status"
        if self.term != term:
            return "term"
        return None if self.version == version else "version"

    def refers_to(self, term: int, version: int) -> bool:
        """Returns whether the table is still that of ``term`` and region ``version``."""
        return self.term == term and self.version == version

    def insert(self, locks: Sequence[tuple[bytes, Lock]]) -> bool:
        """Puts all locks of a command, or none if that would exceed a limit.

        A key that is present is overwritten, which takes no room and clears its deleted mark.
        """
        table = self.map
        growth = 0
        for key, lock in locks:
            if key not in table:
                growth += lock.sizes.memory_bytes
        instance = self.instance
        if (
            self.memory_size + growth > self.limit_bytes
            or instance.used_bytes + growth > instance.limit_bytes
        ):
            return False
        self.memory_size += growth
        instance.used_bytes += growth
        table.update(locks)
        if self._deleted:
            for key, _ in locks:
                self._deleted.discard(key)
        return True

    def get(self, key: bytes) -> Lock | None:
        """Returns the lock of ``key``, also when it is marked deleted."""
        return self.map.get(key)

    def is_deleted(self, key: bytes) -> bool:
        """Returns whether a command that removes the lock of ``key`` has been proposed."""
        return key in self._deleted

    def mark_replaced(self, batch: WriteBatch) -> list[bytes]:
        """Marks as deleted what a proposal overwrites or deletes; returns the keys, for ``remove``.

        Keys that have no lock here are left out.
        """
        table = self.map
        if not table:
            return []
        marked = [key for key, _ in batch.lock_puts if key in table]
        if batch.lock_deletes:
            marked += [key for key in batch.lock_deletes if key in table]
        self._deleted.update(marked)
        return marked

    def remove(self, keys: Iterable[bytes]) -> None:
        """Drops the locks of ``keys``: the command that replaces them has been applied."""
        pop = self.map.pop
        freed = 0
        for key in keys:
            lock = pop(key, None)
            if lock is not None:
                freed += lock.sizes.memory_bytes
        self._deleted.difference_update(keys)
        self.memory_size -= freed
        self.instance.used_bytes -= freed

    def clear(self) -> None:
        """Drops every lock: the peer no longer leads, or is destroyed."""
        self.map.clear()
        self._deleted.clear()
        self.instance.used_bytes -= self.memory_size
        self.memory_size = 0

    def close(self, status: LocksStatus) -> None:
        """Refuses new locks from now on, for the reason that ``status`` names."""
        self.status = status

    def reopen(self) -> None:
        """Takes new locks again."""
        self.status = LocksStatus.NORMAL

    def set_version(self, version: int) -> None:
        """Follows the region to another version."""
        self.version = version

    def activate(self, term: int, version: int) -> None:
        """Opens the table of a new leader; locks in it stay."""
        self.status = LocksStatus.NORMAL
        self.term = term
        self.version = version

    def deactivate(self, term: int, version: int) -> None:
        """Closes and empties the table of a peer that steps down."""
        self.status = LocksStatus.NOT_LEADER
        self.clear()
        self.term = term
        self.version = version

    def locks_to_propose(self, *, include_deleted: bool) -> list[tuple[bytes, Lock]]:
        """Returns what must be replicated, by key: all for a merge, undeleted for a transfer."""
        deleted = self._deleted
        return sorted(
            (key, lock) for key, lock in self.map.items() if include_deleted or key not in deleted
        )

    def all_locks(self) -> list[tuple[bytes, Lock, bool]]:
        """Returns every lock by key, with whether it is marked deleted."""
        deleted = self._deleted
        return [(key, lock, key in deleted) for key, lock in sorted(self.map.items())]

    @property
    def has_deleted_marks(self) -> bool:
        """Whether any lock is marked deleted."""
        return bool(self._deleted)

    def group_by_regions(
        self, start_keys: Sequence[bytes], derived: int, *, keep_deleted_marks: bool = False
    ) -> list["PeerPessimisticLocks"]:
        """Moves the locks of split-off regions into their own tables.

        Args:
            start_keys: first keys of the regions after the split, ascending; the first region
                takes whatever lies below.
            derived: index of the region that this peer keeps; its locks stay, with their deleted
                marks.
            keep_deleted_marks: an ablation: locks that are moved keep theirs as well.

        Returns:
            One table for each region, ``self`` at ``derived``; moved locks are not deleted.
        """
        tables = [
            self if index == derived else PeerPessimisticLocks(self.instance, self.limit_bytes)
            for index in range(len(start_keys))
        ]
        for key in list(self.map):
            index = max(0, bisect_right(start_keys, key) - 1)
            if index != derived:
                if keep_deleted_marks and key in self._deleted:
                    tables[index]._deleted.add(key)
                self._move(key, tables[index])
        return tables

    def _move(self, key: bytes, target: "PeerPessimisticLocks") -> None:
        lock = self.map.pop(key)
        self._deleted.discard(key)
        target.map[key] = lock
        self.memory_size -= lock.sizes.memory_bytes
        target.memory_size += lock.sizes.memory_bytes

    def __str__(self) -> str:
        locks = [
            f"{show_key(key)}:{lock.start_ts}{' deleted' if key in self._deleted else ''}"
            for key, lock in sorted(self.map.items())
        ]
        state = f"{self.status.value} term {self.term} version {self.version}"
        return f"{state}, {self.memory_size} B of {self.instance.used_bytes}: [{', '.join(locks)}]"
