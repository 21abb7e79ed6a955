"""LockKeys: the pessimistic locks of one statement.

Keys that the transaction holds already are left out. The transaction's first key becomes its
primary, and its request goes before the others; requests to the other regions go together. A
request that has waited too long for a lock asks what became of the holder and is sent again.

Source: tikv/client-go txnkv/transaction/txn.go (lockKeys), pessimistic.go.
"""

from collections.abc import Generator, Sequence
from typing import Any, Final

from sim.client.lock_resolver import LockResolver
from sim.client.region_groups import keys_by_region
from sim.client.region_request import RequestGroup
from sim.client.tidb import TidbNode
from sim.client.transaction_state import TransactionAborted, TransactionState
from sim.client.ttl_manager import TtlManager
from sim.engine import Wait
from sim.protocol.percolator import Acquired, AlreadyExist, KeyIsLocked, WriteConflict
from sim.protocol.region import Route
from sim.protocol.region_errors import RegionError
from sim.storage.lock_manager import Deadlock
from sim.storage.message_sizes import keys_bytes, lock_bytes
from sim.storage.request import NO_WAIT, Kind, KvRequest
from sim.units import NS_PER_MS
from sim.workload.statement import Statement

_LOCK: Final = Kind.LOCK

_DEADLOCK_REST_NS = 5 * NS_PER_MS
"""After a statement's locks were given back, for whoever waits for one of them (client-go txn.go,
LockKeys)."""


class _Deadlocked(TransactionAborted):
    """A wait that would never end; ``held_key`` is the lock of one's own that closes the circle."""

    def __init__(self, held_key: bytes) -> None:
        super().__init__("deadlock")
        self.held_key = held_key


class PessimisticLocker:
    """Lock requests of the sessions of one TiDB node."""

    def __init__(self, node: TidbNode, resolver: LockResolver, ttl_manager: TtlManager) -> None:
        self._node = node
        self._resolver = resolver
        self._ttl_manager = ttl_manager

    def lock(
        self, txn: TransactionState, statement: Statement, keys: tuple[bytes, ...], since_ns: int
    ) -> Generator[Wait, Any, dict[bytes, object] | None]:
        """Locks ``keys``, none of which the transaction holds.

        Args:
            txn: whose statement it is.
            statement: what is executed.
            keys: to lock.
            since_ns: when the statement first asked for a lock, which is what
                ``innodb_lock_wait_timeout`` counts from (TiDB, ``GetLockWaitStartTime``): it tries
                again under the same limit.

        Returns:
            The payloads of the keys; None if the statement has to be tried again with a newer
            ``for_update_ts``: a newer version was met, or a deadlock that this statement's own
            locks are to blame for.

        Raises:
            TransactionAborted: a deadlock that locks of earlier statements close, a lock wait
                timeout, a row that must not exist, or a region not reached within its budget.
        """
        first = not txn.primary
        try:
            return (yield from self._lock_in_rounds(txn, statement, keys, since_ns))
        except _Deadlocked as deadlock:
            if deadlock.held_key not in keys:
                raise
        # It ends if the statement gives its own locks back (client-go's ``IsRetryable``).
        for key in keys:
            txn.locked.pop(key, None)
        yield self.roll_back(txn, keys).event
        yield _DEADLOCK_REST_NS
        if first:
            txn.primary = b""
        return None

    def _lock_in_rounds(
        self, txn: TransactionState, statement: Statement, keys: tuple[bytes, ...], since_ns: int
    ) -> Generator[Wait, Any, dict[bytes, object] | None]:
        """Locks ``keys``, a primary before the others; returns and raises as ``lock`` does."""
        groups = keys_by_region(self._node.regions, keys)
        first = not txn.primary
        if first:
            txn.primary = keys[0]
        rounds = [groups[:1], groups[1:]] if first and len(groups) > 1 else [groups]
        values: dict[bytes, object] = {}
        for batch in rounds:
            try:
                granted = yield from self._lock_together(txn, statement, batch, values, since_ns)
            except TransactionAborted:
                # The transaction's rollback frees what this statement has locked so far, too.
                txn.locked.update(dict.fromkeys(values))
                raise
            if not granted:
                self._roll_back_statement(txn, keys, values)
                if first and keys[0] not in values:
                    txn.primary = b""
                return None
        txn.locked.update(dict.fromkeys(keys))
        if first:
            self._ttl_manager.keep_alive(txn)
        return values

    def roll_back(self, txn: TransactionState, keys: Sequence[bytes]) -> RequestGroup:
        """Sends the requests that free pessimistic locks."""
        requests = []
        for route, held in keys_by_region(self._node.regions, keys):
            request = self._node.new_request(Kind.PESSIMISTIC_ROLLBACK, route, txn.start_ts)
            request.keys = tuple(held)
            request.for_update_ts = txn.for_update_ts
            request.request_bytes = keys_bytes(held)
            requests.append(request)
        group = RequestGroup(self._node, requests)
        group.send()
        return group

    def _lock_together(
        self,
        txn: TransactionState,
        statement: Statement,
        groups: list[tuple[Route, list[bytes]]],
        values: dict[bytes, object],
        since_ns: int,
    ) -> Generator[Wait, Any, bool]:
        """Sends one request a group until each is granted; False if one met a newer version.

        Raises:
            TransactionAborted: as ``lock`` says; ``_Deadlocked`` after any deadlock.
        """
        node = self._node
        until_ns = since_ns + node.settings.innodb_lock_wait_timeout_ns
        requests = [self._request(txn, statement, route, keys, until_ns) for route, keys in groups]
        while requests:
            group = RequestGroup(node, requests)
            yield group.send()
            blocked = self._take_answers(txn, group.requests, values)
            if blocked is None:
                return False
            requests = []
            for request, met in blocked:
                # The wait was in the store, which is why there is no backoff here.
                holder = yield from self._resolver.resolve(met, 0)
                if holder.lives_ns and node.env.now_ns >= until_ns:
                    raise TransactionAborted("lock_wait_timeout")
                for route, keys in keys_by_region(node.regions, request.keys):
                    requests.append(self._request(txn, statement, route, keys, until_ns))
        return True

    @staticmethod
    def _take_answers(
        txn: TransactionState, requests: list[KvRequest], values: dict[bytes, object]
    ) -> list[tuple[KvRequest, KeyIsLocked]] | None:
        """Notes what was granted; returns who met a lock, or None if one met a newer version.

        All answers are looked at before one of them ends the statement: what was granted has to be
        freed again.
        """
        blocked: list[tuple[KvRequest, KeyIsLocked]] = []
        conflict = False
        fatal: list[KvRequest] = []
        for request in requests:
            result = request.result
            if isinstance(result, Acquired):
                if result.locked_with_conflict_ts > txn.for_update_ts:
                    txn.for_update_ts = result.locked_with_conflict_ts
                values.update(zip(request.keys, result.values, strict=True))
            elif isinstance(result, WriteConflict):
                conflict = True
            elif isinstance(result, KeyIsLocked):
                blocked.append((request, result))
            else:
                fatal.append(request)
        if fatal:
            raise _end_of(txn, fatal)
        return None if conflict else blocked

    def _request(
        self,
        txn: TransactionState,
        statement: Statement,
        route: Route,
        keys: list[bytes],
        until_ns: int,
    ) -> KvRequest:
        node = self._node
        request = node.new_request(_LOCK, route, txn.start_ts)
        request.keys = tuple(keys)
        request.primary = txn.primary
        request.for_update_ts = txn.for_update_ts
        request.min_commit_ts = txn.for_update_ts + 1
        request.wait_timeout_ns = max(until_ns - node.env.now_ns, 0) or NO_WAIT
        request.lock_ttl_ms = txn.lock_ttl_ms(node.env.now_ns // NS_PER_MS)
        request.insert = statement.insert
        request.wants_values = statement.returns_values
        request.row_bytes = statement.row_bytes
        request.allow_lock_with_conflict = node.settings.fair_locking and len(keys) == 1
        request.request_bytes = lock_bytes(txn.primary, keys)
        node.stats.by_kind[_LOCK].value += 1
        node.stats.locked_keys.value += len(keys)
        return request

    def _roll_back_statement(
        self, txn: TransactionState, keys: tuple[bytes, ...], values: dict[bytes, object]
    ) -> None:
        """Frees, in the background, what a failed statement on several keys has locked."""
        held = tuple(key for key in keys if key in values)
        if held and len(keys) > 1:
            self.roll_back(txn, held)
            for key in held:
                del values[key]


def _end_of(txn: TransactionState, fatal: Sequence[KvRequest]) -> TransactionAborted:
    """Returns what ends a statement; a deadlock, which need not end it, only if all else is well.

    Of a request with a region's error nobody knows whether it was carried out: the transaction's
    rollback includes its keys.
    """
    ends: TransactionAborted | None = None
    for request in fatal:
        result = request.result
        if not isinstance(result, Deadlock):
            ends = TransactionAborted(_reason(result))
        elif ends is None:
            ends = _Deadlocked(result.held_key)
        if isinstance(result, RegionError):
            txn.locked.update(dict.fromkeys(request.keys))
    assert ends is not None
    return ends


def _reason(result: object) -> str:
    if isinstance(result, AlreadyExist):
        return "already_exist"
    return type(result).__name__
