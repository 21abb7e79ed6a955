"""Where held locks are apart from the table that they were granted in, and why one was lost.

Invariant: a lock that was granted in memory is replicated once its migration, or its heartbeat, is
applied by some replica. When its table is dropped before that, it is doubtful as long as such a
command, or the one that ends the lock, is under way.

Source: RFC 77; tikv/tikv components/raftstore/src/store/peer.rs (propose_locks_before_*).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from sim.protocol.records import Lock
from sim.raftstore.peer import Peer
from sim.storage.request import KvRequest, LockPath

STALE_LEADER: Final = "stale_leader"
"""Only a leader that had been replaced without knowing it had the lock."""
PROPOSAL_DROPPED: Final = "proposal_dropped"
"""The lock was answered when proposed, and the new leader's log did not have the proposal."""
OLD_VERSION: Final = "old_version"
"""The lock was migrated, and the new leader's store was too old to read it (RFC 77)."""
TRANSFER: Final = "transfer"
"""A leader handed over without having proposed the lock, although nothing kept it from that."""
UNEXPLAINED: Final = "unexplained"
"""Nothing that happened accounts for the loss."""

MERGED: Final = "merged"
"""A region was merged away without having proposed the lock."""

MISTAKES: Final = (TRANSFER, "split", MERGED, UNEXPLAINED)
"""Causes that can only be a mistake of the model."""

_IN_MEMORY: Final = LockPath.IN_MEMORY


def cause_of(peer: Peer, cause: str) -> str:
    """Returns why a peer's table is dropped: a leader may step down because it handed over."""
    transfer = peer.transfer
    if cause != "step_down" or transfer is None or peer.raft.vote != transfer.to_store:
        return cause
    return f"{TRANSFER}:{transfer.left_out}" if transfer.left_out else TRANSFER


class LockPlaces:
    """Where each held lock is known to be."""

    def __init__(self, held: Mapping[bytes, KvRequest]) -> None:
        self._held = held
        self._replicated: dict[bytes, int] = {}
        self._under_way: dict[bytes, int] = {}
        self._doubtful: dict[bytes, tuple[int, str]] = {}
        self._ignored: dict[tuple[int, bytes], int] = {}
        """By store and key: migrated locks that the store could not read."""
        self.have_moved = False
        """Whether any lock has been proposed for migration so far."""
        self.unapplied: dict[KvRequest, None] = {}
        """Lock requests that were answered when proposed and are not applied yet."""

    def proposed(self, locks: Sequence[tuple[bytes, Lock]]) -> None:
        """Notes that the migration of locks has been proposed."""
        self.have_moved = True
        self._under_way.update([(key, lock.start_ts) for key, lock in locks])

    def replicated(self, locks: Sequence[tuple[bytes, Lock]]) -> None:
        """Notes that locks are in the lock CF from now on; forgets those that have ended."""
        self.have_moved = True
        self._replicated.update([(key, lock.start_ts) for key, lock in locks])
        self._replicated = self._still_held(self._replicated)
        self._under_way = self._still_held(self._under_way)

    def forget(self, key: bytes) -> None:
        """Forgets where an earlier lock on a key was; the next may be the same transaction's."""
        self._replicated.pop(key, None)
        self._under_way.pop(key, None)
        self._doubtful.pop(key, None)

    def ignored(self, store: int, locks: Sequence[tuple[bytes, Lock]]) -> None:
        """Notes that the replica on ``store`` goes without locks that the others have."""
        self._ignored.update([((store, key), lock.start_ts) for key, lock in locks])

    def survives(self, key: bytes, lock: Lock, *, deleted: bool, cause: str) -> bool:
        """Returns whether a lock outlives its table, which is dropped because of ``cause``.

        A lock that is marked deleted, or whose migration has been proposed, may still be saved; but
        behind a merge's fence no command that could delete a lock is under way.
        """
        start_ts = lock.start_ts
        request = self._held.get(key)
        if request is None or request.start_ts != start_ts or request.path is not _IN_MEMORY:
            return True
        if self._replicated.get(key) == start_ts:
            return True
        if (deleted and cause != MERGED) or self._under_way.get(key) == start_ts:
            self._doubtful[key] = (start_ts, cause)
            return True
        return False

    def is_doubtful(self, key: bytes, request: KvRequest) -> bool:
        """Returns whether a held lock's table is gone while its end or migration is under way."""
        return self._doubtful.get(key, (0, ""))[0] == request.start_ts

    def is_replicated(self, key: bytes, request: KvRequest) -> bool:
        """Returns whether a held lock is, or has been, in the lock CF."""
        if request.path is not _IN_MEMORY:
            return request not in self.unapplied
        return self._replicated.get(key) == request.start_ts

    def explanation(self, peer: Peer, key: bytes, other: KvRequest) -> str | None:
        """Returns why ``peer`` did not know a held lock, None if nothing explains it."""
        if self.is_doubtful(key, other):
            return self._doubtful[key][1]
        if self._ignored.get((peer.store, key)) == other.start_ts:
            return OLD_VERSION
        if self.is_replicated(key, other):
            return None
        if other.path is not _IN_MEMORY:
            return PROPOSAL_DROPPED if peer.raft.term > other.term else None
        assert other.peer is not None, "a lock was granted by a peer"
        return STALE_LEADER if other.peer.store != peer.store else None

    def _still_held(self, places: dict[bytes, int]) -> dict[bytes, int]:
        held = self._held
        return {key: ts for key, ts in places.items() if key in held and held[key].start_ts == ts}
