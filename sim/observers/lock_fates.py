"""What becomes of every granted pessimistic lock.

Invariant: a granted lock ends once: it is committed, rolled back, expired (removed by others) or
lost with a named cause. A replicated lock ends when the first replica applies the command that ends
it; one that is only in memory is lost when its table is dropped, or when another replica grants the
key to another transaction. Between grant and end a lock may migrate: a transfer or a merge
replicates it, a split moves it.

Every run keeps account, so that a study can say what was lost and why; whether it may have been
lost is for the checkers to say.

Source: RFC 77; tikv/tikv components/raftstore/src/store/peer.rs (who clears the table, and when).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from sim.engine import LeanEnv
from sim.observers.lock_places import PROPOSAL_DROPPED, UNEXPLAINED, LockPlaces, cause_of
from sim.protocol.mvcc import ROLLBACK, Lock, Write
from sim.protocol.raft.log import Entry
from sim.protocol.region_errors import RegionError
from sim.protocol.timestamp import physical_ms
from sim.protocol.write_batch import MIGRATION, PREWRITE, WriteBatch
from sim.protocol.write_batch import ROLLBACK as ROLLBACK_CAUSE
from sim.raftstore.peer import Peer, RaftCommand
from sim.record.recorder import Counter, Recorder
from sim.storage.probe import Probe
from sim.storage.request import Kind, KvRequest
from sim.units import NS_PER_MS

_LOCK: Final = Kind.LOCK
_BY_OTHERS: Final = (Kind.CHECK_TXN_STATUS, Kind.RESOLVE_LOCK, Kind.CHECK_SECONDARY_LOCKS)


def was_skipped(peer: Peer, entry: Entry) -> bool:
    """Returns whether an applied entry changed nothing: its region was newer, or flashed back."""
    commands: list[RaftCommand] = entry.payload
    if not commands:
        return True
    version: int = commands[0].region.epoch.version
    return peer.state.in_flashback or version != peer.state.region.epoch.version


class TwoHolders(NamedTuple):
    """A key was granted by ``peer`` although another transaction's lock on it had not ended."""

    at_ns: int
    key: bytes
    holder: int
    granted_to: int
    peer: str


class LockFates(Probe):
    """The account of all granted locks of one cluster.

    Attributes:
        held: by key, the request that was granted its lock, until the lock ends.
        places: where held locks are apart from the table they were granted in.
        lost: by running transaction, the keys whose locks it has lost, with the cause.
        two_holders: grants over a lock whose loss nothing explains.
        granted_locks: locks granted so far.
    """

    def __init__(self, env: LeanEnv, recorder: Recorder) -> None:
        self._env = env
        self._recorder = recorder
        self._counters: dict[tuple[str, str], Counter] = {}
        self._committed = recorder.counter("lock_fates", "committed")
        self._rolled_back = recorder.counter("lock_fates", "rolled_back")
        self._expired = recorder.counter("lock_fates", "expired")
        self._lost_total = 0
        self._running: dict[int, None] = {}
        self._outlived: dict[int, None] = {}
        """Running transactions whose locks others have removed as expired."""
        self._migrating: dict[int, str] = {}
        """Why a region's locks migrate."""
        self._losers: dict[bytes, dict[int, str]] = {}
        """By key, the running transactions that have lost it, with the cause."""
        self.held: dict[bytes, KvRequest] = {}
        self.places = LockPlaces(self.held)
        self.lost: dict[int, dict[bytes, str]] = {}
        self.two_holders: list[TwoHolders] = []
        self.granted_locks = 0

    def ended_locks(self) -> int:
        """Returns how many locks have ended so far, in whatever way."""
        ended = self._committed.value + self._rolled_back.value + self._expired.value
        return ended + self._lost_total

    def granted(self, peer: Peer, request: KvRequest) -> None:
        """Notes the locks that a request was granted."""
        held = self.held
        start_ts = request.start_ts
        self._running[start_ts] = None
        locks = request.result.locks  # type: ignore[attr-defined]
        fresh = len(locks)
        have_moved = self.places.have_moved
        for key, _ in locks:
            other = held.get(key)
            if other is not None:
                if other.start_ts == start_ts:
                    fresh -= 1
                else:
                    self._take_over(peer, request, key, other)
            elif have_moved:
                self.places.forget(key)
            held[key] = request
        self.granted_locks += fresh
        if request.reply_at_proposed and locks:
            self.places.unapplied[request] = None
        if self._losers:
            for key, _ in locks:
                self._count_excluded(key, start_ts)

    def first_applied(self, peer: Peer, entry: Entry) -> None:
        """Ends the locks that an entry removes, when the first replica has applied it."""
        if was_skipped(peer, entry):
            return
        for command in entry.payload:
            batch: WriteBatch = command.batch
            puts = batch.write_puts
            deletes = batch.lock_deletes
            if puts:
                self._written(command, puts)
            if deletes and (batch.cause == ROLLBACK_CAUSE or len(deletes) > len(puts)):
                self._deleted(command, deletes)
            if batch.lock_puts and batch.cause != PREWRITE:
                self._put(peer.region.region_id, command, batch)
            elif self.lost and (puts or batch.lock_puts):
                self._count_amended(command.start_ts, batch)

    def proposal_lost(self, request: KvRequest, error: RegionError) -> None:
        """Counts locks as lost that were answered when proposed, and whose proposal was dropped."""
        del error
        for key, _ in request.result.locks:  # type: ignore[attr-defined]
            if self.held.get(key) is request:
                self._lose(key, request, PROPOSAL_DROPPED)

    def table_dropped(
        self, peer: Peer, locks: Sequence[tuple[bytes, Lock, bool]], cause: str
    ) -> None:
        """Counts locks as lost that were only in that table."""
        cause = cause_of(peer, cause)
        for key, lock, deleted in locks:
            if not self.places.survives(key, lock, deleted=deleted, cause=cause):
                self._lose(key, self.held[key], cause)

    def locks_proposed(self, peer: Peer, locks: Sequence[tuple[bytes, Lock]], cause: str) -> None:
        """Remembers why a region's locks migrate, and that they may survive their table."""
        self._migrating[peer.region.region_id] = cause
        self.places.proposed(locks)

    def migration_ignored(self, peer: Peer, locks: Sequence[tuple[bytes, Lock]]) -> None:
        """Remembers which replica knows nothing of locks that have migrated."""
        self.places.ignored(peer.store, locks)

    def locks_moved(self, peer: Peer, new_peer: Peer, keys: Sequence[bytes]) -> None:
        """Counts locks that a split has moved."""
        del peer, new_peer
        self._count("lock_fates", "migrated:split", len(keys))

    def transaction_ended(self, start_ts: int, outcome: str, reason: str) -> None:
        """Forgets a transaction that its client has ended."""
        del outcome
        self._running.pop(start_ts, None)
        lost = self.lost.pop(start_ts, {})
        if reason.startswith("pessimistic_lock_not_found"):
            other = "expired" if start_ts in self._outlived else "no_lock_lost"
            self._count("prewrites_aborted", next(iter(lost.values()), other))
        self._outlived.pop(start_ts, None)
        for key in lost:
            losers = self._losers.get(key, {})
            losers.pop(start_ts, None)
            if not losers:
                self._losers.pop(key, None)

    def loss_of(self, key: bytes, start_ts: int) -> str | None:
        """Returns why a running transaction has lost its lock on ``key``, None if it has not."""
        return self.lost.get(start_ts, {}).get(key)

    def _written(self, command: KvRequest, puts: Sequence[tuple[bytes, Write]]) -> None:
        held = self.held
        committed = 0
        for key, write in puts:
            request = held.get(key)
            if request is not None and request.start_ts == write.start_ts:
                del held[key]
                if write.kind == ROLLBACK:
                    self._count_removed(command, request)
                else:
                    committed += 1
        self._committed.value += committed

    def _deleted(self, command: KvRequest, keys: Sequence[bytes]) -> None:
        start_ts = command.start_ts
        for key in keys:
            request = self.held.get(key)
            if request is not None and request.start_ts == start_ts:
                del self.held[key]
                self._count_removed(command, request)

    def _count_removed(self, command: KvRequest, request: KvRequest) -> None:
        """Counts a lock that was removed without a commit: by its own transaction, or by others."""
        kind = command.kind
        expires_ms = physical_ms(request.start_ts) + request.lock_ttl_ms
        is_late = kind is Kind.PESSIMISTIC_ROLLBACK and expires_ms * NS_PER_MS < self._env.now_ns
        if kind not in _BY_OTHERS and not is_late:
            self._rolled_back.value += 1
            return
        self._expired.value += 1
        if request.start_ts in self._running:
            self._outlived[request.start_ts] = None

    def _put(self, region_id: int, command: RaftCommand, batch: WriteBatch) -> None:
        """Notes locks that are in the lock CF from now on: proposed, migrated or kept alive."""
        if batch.cause != MIGRATION:
            if isinstance(command, KvRequest) and command.kind is _LOCK:
                self.places.unapplied.pop(command, None)
                return
        else:
            cause = self._migrating.get(region_id, "unknown")
            self._count("lock_fates", f"migrated:{cause}", len(batch.lock_puts))
        self.places.replicated(batch.lock_puts)

    def _count_amended(self, start_ts: int, batch: WriteBatch) -> None:
        lost = self.lost.get(start_ts)
        if lost is None:
            return
        for key, _ in batch.lock_puts or batch.write_puts:
            if key in lost:
                self._count("prewrites_amended", lost[key])

    def _take_over(self, peer: Peer, request: KvRequest, key: bytes, other: KvRequest) -> None:
        """Ends a lock whose key was granted to another transaction."""
        cause = self.places.explanation(peer, key, other)
        if cause is None:
            cause = UNEXPLAINED
            found = (self._env.now_ns, key, other.start_ts, request.start_ts, str(peer))
            self.two_holders.append(TwoHolders(*found))
        self._lose(key, other, cause)
        self._count_excluded(key, request.start_ts)

    def _lose(self, key: bytes, request: KvRequest, cause: str) -> None:
        self.held.pop(key, None)
        self.places.unapplied.pop(request, None)
        self._lost_total += 1
        self._count("locks_lost", cause)
        self._count("lock_fates", f"lost:{cause}")
        if request.start_ts in self._running:
            self.lost.setdefault(request.start_ts, {})[key] = cause
            self._losers.setdefault(key, {})[request.start_ts] = cause

    def _count_excluded(self, key: bytes, start_ts: int) -> None:
        """Counts running transactions that do not know that their key was granted to another."""
        losers = self._losers.get(key, {})
        for loser in [each for each in losers if each != start_ts]:
            self._count("mutual_exclusion_lost", losers.pop(loser))
        if not losers:
            self._losers.pop(key, None)

    def _count(self, metric: str, class_: str, number: int = 1) -> None:
        counter = self._counters.get((metric, class_))
        if counter is None:
            counter = self._counters[metric, class_] = self._recorder.counter(metric, class_)
        counter.value += number
