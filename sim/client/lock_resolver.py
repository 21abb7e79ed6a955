"""What a session does about another transaction's lock: ask its primary, then finish it or wait.

Source: tikv/client-go txnkv/txnlock/lock_resolver.go; config/retry (backoffs).
"""

from collections.abc import Generator
from typing import Any, Final

from simpy import Event

from sim.client.backoff import TXN_LOCK_FAST
from sim.client.region_groups import keys_by_region
from sim.client.region_request import RequestGroup
from sim.client.tidb import TidbNode
from sim.protocol.mvcc import PESSIMISTIC, Lock
from sim.protocol.percolator import KeyIsLocked, SecondaryLocks, TxnAction, TxnStatus
from sim.protocol.percolator.rollback import has_expired
from sim.protocol.region_errors import RegionError
from sim.protocol.timestamp import MAX_TS, compose_ts
from sim.storage.request import Kind, KvRequest
from sim.units import NS_PER_MS

AFTER_READ: Final = MAX_TS + 1
"""Stands for the commit_ts of a transaction that cannot commit below the caller's read any more."""


class LockResolver:
    """Resolves locks for the sessions of one TiDB node."""

    def __init__(self, node: TidbNode) -> None:
        self._node = node

    def resolve(
        self, key: bytes, lock: Lock, caller_start_ts: int, *, reading: bool = False
    ) -> Generator[Event, Any, int | None]:
        """Finds out about the lock's transaction and finishes it on ``key`` if it is over.

        Args:
            key: where the lock is.
            lock: another transaction's.
            caller_start_ts: the caller's; 0 for a lock request, which pushes nobody's commit.
            reading: whether the caller can read past a lock that is certain to be committed later.

        Returns:
            If the caller may go on at once: the timestamp at which the lock's transaction has been
            committed and its lock resolved, 0 if it is rolled back, or ``AFTER_READ`` if it will
            commit after the caller's read. None: it lives, or may be about to prewrite its primary,
            and the caller should back off.
        """
        status = yield from self._status(lock, caller_start_ts)
        if not isinstance(status, TxnStatus):
            return None
        if status.action is TxnAction.MIN_COMMIT_TS_PUSHED:
            return AFTER_READ if reading else None
        commit_ts = 0
        if status.action is TxnAction.COMMITTED:
            commit_ts = status.commit_ts
        elif status.action is TxnAction.UNCOMMITTED:
            primary = status.lock
            assert primary is not None, "an uncommitted transaction has its primary lock"
            if not (primary.use_async_commit and has_expired(primary, self._current_ts())):
                return None
            found_ts = yield from self._finish_async_commit(primary)
            if found_ts is None:
                return None
            commit_ts = found_ts
        elif status.action is TxnAction.LOCK_NOT_EXIST_DO_NOTHING and lock.kind != PESSIMISTIC:
            return None
        yield from self._finish_on_key(key, lock, commit_ts)
        return commit_ts

    def resolve_all(
        self, requests: list[KvRequest], start_ts: int, attempt: int, *, reading: bool = False
    ) -> Generator[Event, Any, int]:
        """Resolves the lock that each request has met, so that it can be sent again.

        Args:
            requests: reads or prewrites of one transaction.
            start_ts: the transaction's.
            attempt: how often its requests were blocked before; the backoff grows with it.
            reading: as in ``resolve``; a read may then ignore the lock.

        Returns:
            How long it took, in ns.
        """
        node = self._node
        began_ns = node.env.now_ns
        for request in requests:
            met = request.result
            assert isinstance(met, KeyIsLocked), f"unexpected answer {met!r}"
            commit_ts = yield from self.resolve(met.key, met.lock, start_ts, reading=reading)
            if commit_ts is None:
                yield node.env.timeout(TXN_LOCK_FAST.wait_ns(attempt, node.lock_backoffs))
            elif reading and not 0 < commit_ts <= start_ts:
                request.bypass = (*request.bypass, met.lock.start_ts)
            request.result = None
        return node.env.now_ns - began_ns

    def _current_ts(self) -> int:
        return compose_ts(self._node.env.now_ns // NS_PER_MS)

    def _ask(self, request: KvRequest) -> Generator[Event, Any, list[object]]:
        """Returns the answers to a request: several if its keys are in several regions by then."""
        group = RequestGroup(self._node, [request])
        yield group.send()
        return [answered.result for answered in group.requests]

    def _request(self, kind: Kind, key: bytes, start_ts: int) -> KvRequest:
        node = self._node
        request = node.new_request(kind, node.regions.locate(key), start_ts)
        request.keys = (key,)
        return request

    def _status(self, lock: Lock, caller_start_ts: int) -> Generator[Event, Any, object]:
        request = self._request(Kind.CHECK_TXN_STATUS, lock.primary, lock.start_ts)
        request.primary = lock.primary
        request.for_update_ts = caller_start_ts
        request.current_ts = self._current_ts()
        request.pessimistic = lock.kind == PESSIMISTIC
        request.rollback_if_not_exist = has_expired(lock, request.current_ts)
        answers = yield from self._ask(request)
        return answers[0]

    def _finish_on_key(self, key: bytes, lock: Lock, commit_ts: int) -> Generator[Event, Any, None]:
        pessimistic = lock.kind == PESSIMISTIC
        kind = Kind.PESSIMISTIC_ROLLBACK if pessimistic else Kind.RESOLVE_LOCK
        request = self._request(kind, key, lock.start_ts)
        request.for_update_ts = lock.for_update_ts
        request.commit_ts = commit_ts
        yield from self._ask(request)

    def _finish_async_commit(self, primary: Lock) -> Generator[Event, Any, int | None]:
        """Returns the commit_ts of an expired async-commit transaction, 0 if it is rolled back.

        None: some of its regions do not answer, so nobody can say.
        """
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
                    yield from self._finish_on_key(primary.primary, primary, 0)
                    return 0
                for lock in found.locks:
                    commit_ts = max(commit_ts, lock.min_commit_ts)
        yield from self._finish_on_key(primary.primary, primary, commit_ts)
        return commit_ts
