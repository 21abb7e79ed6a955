"""A session: carries out transactions, statement by statement.

A transaction reads like this: a round trip and CPU for each statement; its reads, its locks (again
with a newer timestamp if a newer version was met); at the end COMMIT. A transaction that cannot go
on is rolled back and counted under its reason.

Source: pingcap/tidb pkg/executor/adapter.go (handlePessimisticDML, handlePessimisticLockError).
"""

from collections.abc import Generator
from typing import Any, Final

from sim.client.backoff import BUDGETS_NS
from sim.client.lock_resolver import LockResolver
from sim.client.pessimistic import PessimisticLocker
from sim.client.region_groups import keys_by_region, ranges_by_region
from sim.client.region_request import RequestGroup
from sim.client.tidb import TidbNode
from sim.client.transaction_state import (
    OptimisticConflict,
    TransactionAborted,
    TransactionState,
    TransactionUndetermined,
)
from sim.client.ttl_manager import TtlManager
from sim.client.two_phase_commit import TwoPhaseCommitter
from sim.engine import Wait
from sim.protocol.timestamp import MAX_TS
from sim.storage.message_sizes import read_bytes
from sim.storage.request import Kind
from sim.workload.statement import (
    ROLLBACK,
    Payloads,
    PointGet,
    Read,
    ReadKind,
    Statement,
    Transaction,
)

_COP: Final = Kind.COP

_OPTIMISTIC_CONFLICT: Final = "WriteConflict"
"""Why a statement in auto-commit is tried again, with locks."""

_READ_KINDS: Final = {
    ReadKind.GET: Kind.GET,
    ReadKind.BATCH_GET: Kind.BATCH_GET,
    ReadKind.COP: Kind.COP,
    ReadKind.LOOKUP: Kind.BATCH_GET,
}


class Session:
    """The sessions of one TiDB node: one object, since they keep nothing between transactions.

    Any number of transactions may be under way at once, each a call of ``run``. Heartbeats are sent
    by the process ``ttl_manager.run``.
    """

    def __init__(self, node: TidbNode, ttl_manager: TtlManager | None = None) -> None:
        self.node = node
        self.ttl_manager = ttl_manager or TtlManager(node)
        self._resolver = LockResolver(node)
        self._locker = PessimisticLocker(node, self._resolver, self.ttl_manager)
        self._committer = TwoPhaseCommitter(node, self._resolver)

    def run(self, transaction: Transaction, intended_ns: int) -> Generator[Wait, Any, str]:
        """Carries out one transaction and counts it; returns how it ended.

        Args:
            transaction: what to do.
            intended_ns: when it was meant to start; its latency counts from here.
        """
        stats, env = self.node.stats, self.node.env
        stats.started.value += 1
        ticket = stats.population.enter(intended_ns, transaction.name)
        reason = yield from self._carry_out(transaction)
        if reason:
            stats.aborted(reason, env.now_ns - intended_ns)
            outcome = f"aborted: {reason}"
        else:
            transaction.committed()
            stats.committed(transaction.name, env.now_ns - intended_ns)
            outcome = "committed"
        stats.population.leave(env.now_ns, ticket)
        return outcome

    def _carry_out(self, transaction: Transaction) -> Generator[Wait, Any, str]:
        """Carries out a transaction; returns why it was aborted, "" if it is committed."""
        if transaction.autocommit:
            reason = yield from self._attempt(transaction, optimistic=True)
            if reason != _OPTIMISTIC_CONFLICT:
                return reason
            self.node.stats.statement_retries.value += 1
        else:
            yield self.node.statement()
        return (yield from self._attempt(transaction, optimistic=False))

    def _attempt(self, transaction: Transaction, *, optimistic: bool) -> Generator[Wait, Any, str]:
        """Tries once; returns as ``_carry_out`` does."""
        node = self.node
        start_ts = MAX_TS
        if not isinstance(transaction, PointGet):
            start_ts = yield from node.timestamp(begin=True)
        txn = TransactionState(
            start_ts, start_ts, optimistic=optimistic, explicit=not transaction.autocommit
        )
        outcome, reason, committing = "committed", "", False
        try:
            try:
                yield from self._execute_all(txn, transaction)
                if not transaction.autocommit:
                    yield node.statement()
                if txn.buffer or txn.locked:
                    committing = True
                    yield from self._committer.commit(txn)
                else:
                    node.tso.end(start_ts)
            except TransactionUndetermined as unknown:
                outcome, reason = "undetermined", unknown.reason
            except TransactionAborted as aborted:
                outcome, reason = "aborted", aborted.reason
            except OptimisticConflict:
                outcome, reason = "aborted", _OPTIMISTIC_CONFLICT
            if outcome == "aborted" and not committing:  # The committer cleans up after itself.
                yield from self._roll_back(txn)
            node.probe.transaction_ended(start_ts, outcome, reason)
        finally:
            self.ttl_manager.close(txn)
        return reason

    def _execute_all(
        self, txn: TransactionState, transaction: Transaction
    ) -> Generator[Wait, Any, None]:
        statements = transaction.statements()
        payloads: Payloads | None = None
        while True:
            try:
                statement = statements.send(payloads)  # type: ignore[arg-type]
            except StopIteration:
                return
            if statement.pause_ns:
                yield statement.pause_ns
            yield self.node.statement(statement.rows(), writes=statement.changes())
            if statement is ROLLBACK:
                raise TransactionAborted("rollback")
            if _needs_no_store(statement):
                txn.write(statement.writes)
                payloads = ()
            else:
                payloads = yield from self._execute(txn, statement)

    def _execute(
        self, txn: TransactionState, statement: Statement
    ) -> Generator[Wait, Any, Payloads]:
        node = self.node
        tries = 0
        locking_since_ns = 0
        while True:
            if statement.fresh_ts or tries:
                txn.for_update_ts = yield from node.timestamp()
            for read in statement.reads:
                yield from self._read(txn, read, statement.row_bytes)
            keys = _keys_to_lock(txn, statement)
            locked = txn.locked
            wanted = tuple([key for key in keys if key not in locked])
            values: dict[bytes, object] | None = {}
            if wanted:
                locking_since_ns = locking_since_ns or node.env.now_ns
                values = yield from self._locker.lock(txn, statement, wanted, locking_since_ns)
            if values is not None:
                break
            tries += 1
            node.stats.statement_retries.value += 1
            if tries > node.settings.max_retry_count:
                raise TransactionAborted("retry_limit")
            yield node.replan(statement.rows(), writes=statement.changes())
        if statement.writes:
            txn.write(statement.writes)
        return _payloads(txn, keys, values) if statement.returns_values else ()

    def _read(
        self, txn: TransactionState, read: Read, row_bytes: int
    ) -> Generator[Wait, Any, None]:
        node = self.node
        requests = []
        kind = _READ_KINDS[read.kind]
        by_region = ranges_by_region if kind is _COP else keys_by_region
        groups = [group for keys in read.tasks() for group in by_region(node.regions, keys)]
        for route, keys in groups:
            request = node.new_request(kind, route, txn.start_ts)
            request.keys = tuple(keys)
            request.rows = read.rows // len(groups) if kind is _COP else 0
            request.row_bytes = row_bytes
            request.request_bytes = read_bytes(keys)
            requests.append(request)
        attempt = 0
        blocked_ns = 0
        while requests:
            group = RequestGroup(node, requests)
            yield group.send()
            if group.failure is not None:
                raise TransactionAborted(type(group.failure).__name__)
            requests = group.refusals()
            if requests and blocked_ns >= BUDGETS_NS[kind]:
                raise TransactionAborted("resolve_lock_timeout")
            blocked_ns += yield from self._resolver.resolve_all(
                requests, txn.start_ts, attempt, reading=True
            )
            attempt += 1

    def _roll_back(self, txn: TransactionState) -> Generator[Wait, Any, None]:
        """Frees the locks of a transaction that gives up, and waits for that.

        If a request fails, locks may be left, and the transaction counts as running for ever.
        """
        if txn.locked:
            group = self._locker.roll_back(txn, tuple(txn.locked))
            yield group.event
            if group.failure is not None:
                return
        self.node.tso.end(txn.start_ts)


def _needs_no_store(statement: Statement) -> bool:
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


def _payloads(
    txn: TransactionState, keys: tuple[bytes, ...], values: dict[bytes, object]
) -> Payloads:
    """Returns what each key holds for this transaction: its own write, or what was locked."""
    payloads = []
    for key in keys:
        own = txn.buffer.get(key)
        payloads.append(own.value if own is not None else values.get(key))
    return tuple(payloads)
