"""One holder a key, no lock that comes back after its end, none that is left behind.

Invariant: a key whose lock has not ended is not granted to another transaction, unless the lock was
lost with a named cause; a key that is prewritten is not granted to another at all. A lock of a
transaction that was committed or rolled back on a key is never seen again there, and a prewritten
lock never becomes a pessimistic one again. Where leadership or a range of keys moves in good order,
locks move as well.

Source: RFC 77, Correctness (why deleted locks are not transferred, and why a merge has a fence).
"""

from collections.abc import Sequence
from typing import Final

from sim.checks.report import Report
from sim.observers.lock_fates import LockFates
from sim.observers.lock_places import MISTAKES, cause_of
from sim.protocol.keys import show_key
from sim.protocol.mvcc import PESSIMISTIC
from sim.protocol.records import Lock
from sim.protocol.write_batch import MIGRATION, PREWRITE, WriteBatch
from sim.protocol.write_batch import ROLLBACK as ROLLBACK_CAUSE
from sim.raftstore.peer import Peer, RaftCommand
from sim.storage.probe import Probe
from sim.storage.request import KvRequest

ONE_HOLDER: Final = "one holder a key"
NO_RESURRECTION: Final = "no resurrected lock"
KEPT: Final = "locks move with their region"

_REMEMBERED: Final = 1 << 16
"""Ended locks that are remembered; a lock comes back at once or never."""


class KeyLocks(Probe):
    """Watches grants, and every command once, when the first replica has applied it."""

    def __init__(self, report: Report, fates: LockFates) -> None:
        self._report = report
        self._fates = fates
        self._reported = 0
        """Double grants that have been reported."""
        self._prewritten: dict[bytes, int] = {}
        """Keys with a prewritten lock, and whose it is."""
        self._over: dict[bytes, int] = {}
        """The last transaction that was committed or rolled back on a key."""
        self._apart: dict[bytes, int] = {}
        """Keys with a lock that some replicas have and a store too old to read it has not (RFC 77,
        Compatibility); where that store led, the lock's end did not remove it from the others."""

    def granted(self, peer: Peer, request: KvRequest) -> None:
        """Refuses a grant over another transaction's prewritten lock."""
        prewritten = self._prewritten
        start_ts = request.start_ts
        for key, _ in request.result.locks:  # type: ignore[attr-defined]
            if prewritten.get(key, start_ts) != start_ts:
                self._report.add(
                    ONE_HOLDER,
                    f"{show_key(key)} was granted to {start_ts} in {peer.region} on store "
                    f"{peer.store}, but {prewritten[key]} has prewritten it",
                )

    def table_dropped(
        self, peer: Peer, locks: Sequence[tuple[bytes, Lock, bool]], cause: str
    ) -> None:
        """Refuses losses that nothing but a mistake explains."""
        cause = cause_of(peer, cause)
        if cause not in MISTAKES:
            return
        for key, lock, deleted in locks:
            if not self._fates.places.survives(key, lock, deleted=deleted, cause=cause):
                self._report.add(
                    KEPT, f"{lock} on {show_key(key)} was lost by a {cause} of {peer.region}"
                )

    def migration_ignored(self, peer: Peer, locks: Sequence[tuple[bytes, Lock]]) -> None:
        """Notes locks of which a replica goes without what the others have."""
        del peer
        self._apart.update((key, lock.start_ts) for key, lock in locks)

    def command_applied(self, command: RaftCommand, batch: WriteBatch) -> None:
        """Takes a command that was applied for the first time."""
        puts = batch.write_puts
        over, prewritten = self._over, self._prewritten
        for key, write in puts:
            start_ts = over[key] = write.start_ts
            if prewritten.get(key) == start_ts:
                del prewritten[key]
        if len(over) > 2 * _REMEMBERED:
            self._over = dict(list(over.items())[_REMEMBERED:])
        if batch.cause == ROLLBACK_CAUSE:
            assert isinstance(command, KvRequest), "only clients roll back"
            for key in batch.lock_deletes:
                if prewritten.get(key) == command.start_ts:
                    del prewritten[key]
        if batch.lock_puts:
            self._locks_put(batch)

    def report_two_holders(self) -> None:
        """Reports the grants since the last call that no loss of the other's lock explains."""
        found = self._fates.two_holders
        for two in found[self._reported :]:
            self._report.add(
                ONE_HOLDER,
                f"{show_key(two.key)} was granted to {two.granted_to} by {two.peer}, but "
                f"{two.holder} has not lost it",
                two.at_ns,
            )
        self._reported = len(found)

    def _locks_put(self, batch: WriteBatch) -> None:
        over, prewritten = self._over, self._prewritten
        cause = batch.cause
        for key, lock in batch.lock_puts:
            start_ts = lock.start_ts
            if over.get(key) == start_ts and self._apart.get(key) != start_ts:
                self._resurrected(key, lock, "had ended there")
            other = prewritten.get(key)
            if other is not None and (other != start_ts or lock.kind == PESSIMISTIC):
                self._resurrected(key, lock, f"took the place of the prewritten lock of {other}")
            if cause == PREWRITE:
                prewritten[key] = start_ts
            elif cause == MIGRATION:
                self._check_migrated(key, lock)

    def _check_migrated(self, key: bytes, lock: Lock) -> None:
        """Refuses a lock that has ended without leaving a record: by a pessimistic rollback."""
        start_ts = lock.start_ts
        holder = self._fates.held.get(key)
        is_held = holder is not None and holder.start_ts == start_ts
        if not is_held and self._fates.loss_of(key, start_ts) is None:
            self._resurrected(key, lock, "was not held any more when it was migrated")

    def _resurrected(self, key: bytes, lock: Lock, what: str) -> None:
        self._report.add(NO_RESURRECTION, f"{lock} on {show_key(key)} {what}")
