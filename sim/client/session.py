"""A session: one connection that carries out transactions, statement by statement.

A transaction reads like this: a round trip and CPU for each statement; its reads, its locks (again
with a newer timestamp if a newer version was met); at the end COMMIT. A transaction that cannot go
on is rolled back and counted under its reason.

Source: pingcap/tidb pkg/executor/adapter.go (handlePessimisticDML, handlePessimisticLockError).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.client.background import Background
from sim.client.backoff import BUDGETS_NS
from sim.client.callers import NOBODY
from sim.client.committer import Committer, OptimisticConflict
from sim.client.keep_alive import KeepAlive
from sim.client.kv_client import KvClient
from sim.client.lock_resolver import LockResolver
from sim.client.locker import Locker
from sim.client.region_groups import keys_by_region
from sim.client.requests import RequestGroup
from sim.client.transaction_state import (
    TransactionAborted,
    TransactionState,
    TransactionUndetermined,
)
from sim.protocol.percolator import KeyIsLocked
from sim.storage.request import Kind, KvRequest
from sim.workload.statement import ROLLBACK, Payloads, ReadKind

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.client.client_stats import ClientStats
    from sim.client.tidb import TidbNode
    from sim.scenario.resolved import Scenario
    from sim.server.cluster import Cluster
    from sim.streams import Stream
    from sim.workload.statement import Read, Statement, Transaction

_COP: Final = Kind.COP

_READ_KINDS = {ReadKind.GET: Kind.GET, ReadKind.BATCH_GET: Kind.BATCH_GET, ReadKind.COP: Kind.COP}


class SessionParts:
    """What the sessions of one TiDB node share."""

    __slots__ = (
        "background",
        "backoffs",
        "committer",
        "keep_alive",
        "kv",
        "locker",
        "max_retry_count",
        "node",
        "probe",
        "resolver",
        "stats",
    )

    def __init__(
        self,
        node: TidbNode,
        cluster: Cluster,
        scenario: Scenario,
        stats: ClientStats,
        backoffs: Stream,
    ) -> None:
        tidb = scenario.cluster.tidb
        kv = KvClient(node, stats, cluster.tso, tidb.innodb_lock_wait_timeout_ns)
        self.node = node
        self.stats = stats
        self.probe = cluster.probe
        self.backoffs = backoffs
        self.max_retry_count = tidb.max_retry_count
        self.kv = kv
        self.resolver = LockResolver(kv, backoffs)
        self.background = Background(kv)
        self.keep_alive = KeepAlive(kv)
        self.locker = Locker(kv, tidb, self.background, self.keep_alive, self.resolver)
        self.committer = Committer(kv, tidb, self.background, self.resolver)


class Session:
    """One connection."""

    __slots__ = ("_parts",)

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts

    def run(self, transaction: Transaction, intended_ns: int) -> Generator[Event, Any, None]:
        """Carries out one transaction and counts it.

        Args:
            transaction: what to do.
            intended_ns: when it was meant to start; its latency counts from here.
        """
        stats, env = self._parts.stats, self._parts.node.env
        stats.started.value += 1
        ticket = stats.population.enter(intended_ns)
        try:
            yield from self._carry_out(transaction)
        except TransactionAborted as aborted:
            stats.aborted(aborted.reason, env.now_ns - intended_ns)
        else:
            transaction.committed()
            stats.committed(transaction.name, env.now_ns - intended_ns)
        stats.population.leave(env.now_ns, ticket)

    def _carry_out(self, transaction: Transaction) -> Generator[Event, Any, None]:
        if not transaction.autocommit:
            yield self._parts.node.statement()
            yield from self._attempt(transaction, optimistic=False)
            return
        try:
            yield from self._attempt(transaction, optimistic=True)
        except OptimisticConflict:
            self._parts.stats.statement_retries.value += 1
            yield from self._attempt(transaction, optimistic=False)

    def _attempt(
        self, transaction: Transaction, *, optimistic: bool
    ) -> Generator[Event, Any, None]:
        parts = self._parts
        start_ts = yield parts.node.timestamp(begin=True)
        txn = TransactionState(start_ts, optimistic=optimistic, explicit=not transaction.autocommit)
        try:
            yield from self._execute_all(txn, transaction)
            if not transaction.autocommit:
                yield parts.node.statement()
            if txn.buffer or txn.locked:
                yield from parts.committer.commit(txn)
            else:
                parts.kv.tso.end(start_ts)
        except TransactionUndetermined as unknown:
            parts.probe.transaction_ended(start_ts, "undetermined", unknown.reason)
            raise
        except TransactionAborted as aborted:
            yield from self._roll_back(txn)
            parts.probe.transaction_ended(start_ts, "aborted", aborted.reason)
            raise
        except OptimisticConflict:
            yield from self._roll_back(txn)
            parts.probe.transaction_ended(start_ts, "aborted", "WriteConflict")
            raise
        else:
            parts.probe.transaction_ended(start_ts, "committed", "")
        finally:
            parts.keep_alive.end(txn)

    def _execute_all(
        self, txn: TransactionState, transaction: Transaction
    ) -> Generator[Event, Any, None]:
        statements = transaction.statements()
        payloads: Payloads | None = None
        while True:
            try:
                statement = statements.send(payloads)  # type: ignore[arg-type]
            except StopIteration:
                return
            if statement.pause_ns:
                yield self._parts.node.env.timeout(statement.pause_ns)
            yield self._parts.node.statement()
            if statement is ROLLBACK:
                raise TransactionAborted("rollback")
            if _stays_here(statement):
                txn.write(statement.writes)
                payloads = ()
            else:
                payloads = yield from self._execute(txn, statement)

    def _execute(
        self, txn: TransactionState, statement: Statement
    ) -> Generator[Event, Any, Payloads]:
        parts = self._parts
        tries = 0
        while True:
            if statement.fresh_ts or tries:
                txn.for_update_ts = yield parts.node.timestamp()
            for read in statement.reads:
                yield from self._read(txn, read)
            keys = _keys_to_lock(txn, statement)
            locked = txn.locked
            wanted = tuple([key for key in keys if key not in locked])
            values: dict[bytes, object] | None = {}
            if wanted:
                values = yield from parts.locker.lock(txn, statement, wanted)
            if values is not None:
                break
            tries += 1
            parts.stats.statement_retries.value += 1
            if tries > parts.max_retry_count:
                raise TransactionAborted("retry_limit")
            yield parts.node.replan()
        if statement.writes:
            txn.write(statement.writes)
        return self._payloads(txn, keys, values) if statement.returns_values else ()

    @staticmethod
    def _payloads(
        txn: TransactionState, keys: tuple[bytes, ...], values: dict[bytes, object]
    ) -> Payloads:
        """Returns what each key holds for this transaction: its own write, or what was locked."""
        payloads = []
        for key in keys:
            own = txn.buffer.get(key)
            payloads.append(own.value if own is not None else values.get(key))
        return tuple(payloads)

    def _read(self, txn: TransactionState, read: Read) -> Generator[Event, Any, None]:
        parts = self._parts
        requests = []
        groups = keys_by_region(parts.node.regions, read.keys)
        kind = _READ_KINDS[read.kind]
        for route, keys in groups:
            request = KvRequest(kind, route, NOBODY, parts.node.node, txn.start_ts)
            request.keys = tuple(keys) if kind is not _COP else _ranges(keys)
            request.rows = read.rows // len(groups) if kind is _COP else 0
            request.request_bytes = sum(map(len, keys))
            requests.append(request)
        attempt = 0
        blocked_ns = 0
        while requests:
            group = RequestGroup(parts.kv, requests)
            yield group.send()
            if group.failure is not None:
                raise TransactionAborted(type(group.failure).__name__)
            requests = group.refusals()
            if requests and blocked_ns >= BUDGETS_NS[kind]:
                raise TransactionAborted("resolve_lock_timeout")
            began_ns = parts.kv.env.now_ns
            for request in requests:
                met = request.result
                assert isinstance(met, KeyIsLocked), f"unexpected answer {met!r}"
                gone = yield from parts.resolver.resolve(
                    met.key, met.lock, txn.start_ts, reading=True
                )
                if gone:
                    request.bypass = (*request.bypass, met.lock.start_ts)
                else:
                    yield parts.resolver.backoff(attempt)
                request.result = None
            blocked_ns += parts.kv.env.now_ns - began_ns
            attempt += 1

    def _roll_back(self, txn: TransactionState) -> Generator[Event, Any, None]:
        """Frees the locks of a transaction that gives up, and waits for that."""
        parts = self._parts
        if txn.locked:
            requests = parts.background.rollback_requests(txn, tuple(txn.locked))
            yield RequestGroup(parts.kv, requests).send()
        parts.kv.tso.end(txn.start_ts)


def _stays_here(statement: Statement) -> bool:
    """Returns whether a statement only fills the buffer: no read, lock or timestamp."""
    return not (
        statement.lock_keys
        or statement.reads
        or statement.fresh_ts
        or statement.returns_values
        or statement.select
    )


def _keys_to_lock(txn: TransactionState, statement: Statement) -> tuple[bytes, ...]:
    if txn.optimistic:
        return ()
    return statement.lock_keys if statement.select is None else statement.select()


def _ranges(keys: list[bytes]) -> tuple[bytes, ...]:
    """Returns (first, last) pairs; a range cut by a region boundary is a point on either side."""
    return tuple(keys) if len(keys) % 2 == 0 else (*keys, keys[-1])
