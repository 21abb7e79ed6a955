"""What a session does about another transaction's lock: ask its primary, then finish it or wait.

A reader that knows how the transaction ends goes on at once: the lock is finished in the
background, and the read ignores it, or reads through it what it has committed.

Source: tikv/client-go txnkv/txnlock/lock_resolver.go (resolveLocks, getTxnStatusFromLock,
resolveAsyncCommitLock), txnkv/transaction/prewrite.go, txnkv/txnsnapshot (backoffs).
"""

from collections.abc import Generator
from typing import Any, Final, NamedTuple

from simpy import Event

from sim.client.backoff import TXN_LOCK, TXN_LOCK_FAST, TXN_NOT_FOUND
from sim.client.region_groups import keys_by_region
from sim.client.region_request import RequestGroup
from sim.client.tidb import TidbNode
from sim.engine import Wait
from sim.protocol.mvcc import PESSIMISTIC, Lock
from sim.protocol.percolator import (
    KeyIsLocked,
    SecondaryLocks,
    TxnAction,
    TxnNotFound,
    TxnStatus,
)
from sim.protocol.percolator.rollback import has_expired
from sim.protocol.region_errors import RegionError
from sim.protocol.timestamp import MAX_TS, compose_ts, physical_ms
from sim.storage.request import Kind, KvRequest
from sim.units import NS_PER_MS

AFTER_READ: Final = MAX_TS + 1
"""Stands for the commit_ts of a transaction that cannot commit below the caller's read any more."""

_REMEMBERED: Final = 2_048
"""How many ended transactions a TiDB node knows of (client-go ``ResolvedCacheSize``)."""

_LIVES: Final = frozenset({TxnAction.UNCOMMITTED, TxnAction.MIN_COMMIT_TS_PUSHED})
_MAY_CHANGE: Final = frozenset(
    {TxnAction.TTL_EXPIRE_PESSIMISTIC_ROLLBACK, TxnAction.LOCK_NOT_EXIST_DO_NOTHING}
)
"""Without a lock, but it has not ended: its client may still lock its primary."""


class LockHolder(NamedTuple):
    """What became of the transaction that a lock belongs to."""

    commit_ts: int
    """0: it is rolled back, or not known to be over; or ``AFTER_READ``."""
    lives_ns: int = 0
    """If it is not over: how long until it is, if nothing more is heard of its client."""


class LockResolver:
    """Resolves locks for the sessions of one TiDB node."""

    def __init__(self, node: TidbNode) -> None:
        self._node = node
        self._ended: dict[int, int] = {}
        """Commit timestamps of ended transactions by start_ts, 0 of those rolled back."""

    def resolve(
        self, met: KeyIsLocked, caller_start_ts: int, *, reading: bool = False
    ) -> Generator[Wait, Any, LockHolder]:
        """Finds out about a lock's transaction and finishes it on that key if it is over.

        Args:
            met: another transaction's lock.
            caller_start_ts: the caller's; 0 for a lock request, which pushes nobody's commit.
            reading: whether the caller can read past a lock whose transaction is over, or is
                certain to be committed later.

        Returns:
            Whether the transaction lives (the caller should back off), or how it has ended.
        """
        lock = met.lock
        commit_ts = self._ended.get(lock.start_ts)
        if commit_ts is None:
            holder = yield from self._holder(met, caller_start_ts, reading=reading)
            if holder.lives_ns or holder.commit_ts == AFTER_READ:
                return holder
            commit_ts = holder.commit_ts
        finished = self._finish_on_key(met.key, lock, commit_ts)
        if not reading:
            yield finished
        return LockHolder(commit_ts)

    def resolve_all(
        self, requests: list[KvRequest], start_ts: int, attempt: int, *, reading: bool = False
    ) -> Generator[Wait, Any, int]:
        """Makes requests that have met a lock ready to be sent again; backs off if one lives.

        Args:
            requests: reads or prewrites of one transaction.
            start_ts: the transaction's.
            attempt: how often its requests were blocked before; the backoff grows with it.
            reading: as in ``resolve``; a read is told which locks it may pass.

        Returns:
            How long it took, in ns.
        """
        node = self._node
        began_ns = node.env.now_ns
        lives_ns = 0
        for request in requests:
            met = request.result
            assert isinstance(met, KeyIsLocked), f"unexpected answer {met!r}"
            request.result = None
            holder = yield from self.resolve(met, start_ts, reading=reading)
            lives_ns = max(lives_ns, holder.lives_ns)
            if reading and not holder.lives_ns:
                if 0 < holder.commit_ts <= start_ts:
                    request.access = (*request.access, met.lock.start_ts)
                else:
                    request.bypass = (*request.bypass, met.lock.start_ts)
        if lives_ns:
            backoff = TXN_LOCK_FAST if reading else TXN_LOCK
            yield min(backoff.wait_ns(attempt, node.lock_backoffs), lives_ns)
        return node.env.now_ns - began_ns

    def _holder(
        self, met: KeyIsLocked, caller_start_ts: int, *, reading: bool
    ) -> Generator[Wait, Any, LockHolder]:
        """Asks about a lock's transaction, and remembers how it has ended."""
        status = yield from self._status(met, caller_start_ts)
        if not isinstance(status, TxnStatus):
            return self._alive(met.lock)
        if status.action is TxnAction.MIN_COMMIT_TS_PUSHED and reading:
            return LockHolder(AFTER_READ)
        commit_ts = status.commit_ts
        if status.action in _LIVES:
            primary = status.lock
            assert primary is not None, "an uncommitted transaction has its primary lock"
            if not (primary.use_async_commit and has_expired(primary, self._current_ts())):
                return self._alive(primary)
            ended_ts = yield from self._end_of_async_commit(primary, reading=reading)
            if ended_ts is None:
                return self._alive(met.lock)
            commit_ts = ended_ts
        if status.action not in _MAY_CHANGE:
            self._remember(met.lock.start_ts, commit_ts)
        return LockHolder(commit_ts)

    def _remember(self, start_ts: int, commit_ts: int) -> None:
        ended = self._ended
        if len(ended) >= _REMEMBERED:
            del ended[next(iter(ended))]
        ended[start_ts] = commit_ts

    def _current_ts(self) -> int:
        return compose_ts(self._node.env.now_ns // NS_PER_MS)

    def _alive(self, lock: Lock) -> LockHolder:
        """Returns that a lock lives: whoever has just asked waits at least a millisecond."""
        until_ns = (physical_ms(lock.start_ts) + lock.ttl_ms) * NS_PER_MS
        return LockHolder(0, max(until_ns - self._node.env.now_ns, NS_PER_MS))

    def _ask(self, request: KvRequest) -> Generator[Wait, Any, list[object]]:
        """Returns the answers to a request: several if its keys are in several regions by then."""
        group = RequestGroup(self._node, [request])
        yield group.send()
        return [answered.result for answered in group.requests]

    def _request(self, kind: Kind, key: bytes, start_ts: int) -> KvRequest:
        node = self._node
        request = node.new_request(kind, node.regions.locate(key), start_ts)
        request.keys = (key,)
        return request

    def _status(self, met: KeyIsLocked, caller_start_ts: int) -> Generator[Wait, Any, object]:
        """Returns what the primary's store says of a lock's transaction.

        A prewritten lock may be there before its primary: that is asked for until it is there.
        """
        node = self._node
        lock = met.lock
        attempt = 0
        while True:
            request = self._request(Kind.CHECK_TXN_STATUS, lock.primary, lock.start_ts)
            request.primary = lock.primary
            request.for_update_ts = caller_start_ts
            request.current_ts = MAX_TS if met.resolve_now else self._current_ts()
            request.pessimistic = lock.kind == PESSIMISTIC
            request.rollback_if_not_exist = has_expired(lock, request.current_ts)
            (answer,) = yield from self._ask(request)
            if request.pessimistic or not isinstance(answer, TxnNotFound):
                return answer
            yield TXN_NOT_FOUND.wait_ns(attempt, node.lock_backoffs)
            attempt += 1

    def _finish_on_key(self, key: bytes, lock: Lock, commit_ts: int) -> Event:
        """Commits or rolls back a lock; returns the event of its store's having done so."""
        pessimistic = lock.kind == PESSIMISTIC
        kind = Kind.PESSIMISTIC_ROLLBACK if pessimistic else Kind.RESOLVE_LOCK
        request = self._request(kind, key, lock.start_ts)
        request.for_update_ts = lock.for_update_ts
        request.commit_ts = commit_ts
        return RequestGroup(self._node, [request]).send()

    def _end_of_async_commit(
        self, primary: Lock, *, reading: bool
    ) -> Generator[Wait, Any, int | None]:
        """Ends an expired async-commit transaction as its secondaries say.

        Returns:
            Its commit_ts; 0 if it is rolled back, or None if nobody can say: some of its regions do
            not answer.
        """
        commit_ts = yield from self._commit_ts_of(primary)
        if commit_ts is not None:
            finished = self._finish_on_key(primary.primary, primary, commit_ts)
            if not reading:
                yield finished
        return commit_ts

    def _commit_ts_of(self, primary: Lock) -> Generator[Wait, Any, int | None]:
        commit_ts = primary.min_commit_ts
        for route, keys in keys_by_region(self._node.regions, primary.secondaries or ()):
            request = self._request(Kind.CHECK_SECONDARY_LOCKS, keys[0], primary.start_ts)
            request.region, request.store = route
            request.keys = tuple(keys)
            for found in (yield from self._ask(request)):
                if isinstance(found, RegionError):
                    return None
                assert isinstance(found, SecondaryLocks), f"unexpected answer {found!r}"
                if found.commit_ts:
                    return found.commit_ts
                if found.rolled_back:
                    return 0
                for lock in found.locks:
                    commit_ts = max(commit_ts, lock.min_commit_ts)
        return commit_ts
