"""What a client asks TiDB for: statements, the transactions they form, and their sources.

A statement is data. It says which keys are read, which are locked and which mutations enter the
transaction's buffer; it does not say which requests follow: the client groups the keys by region
and cuts them (client-go txnkv/transaction/2pc.go), so splits and region sizes act by themselves.
The order inside one statement is TiDB's: reads, then the lock requests, then the buffer
(tidb pkg/executor/adapter.go, handlePessimisticDML).

This module knows no engine, no clock and no randomness.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Final, Protocol

from sim.protocol.percolator import Mutation
from sim.workload.layout import Table

_SCANNED_ROW: Final = 0.05
"""TiDB's CPU for one row of a range scan, as a part of that for one looked up: it comes in a chunk
with many others, and only its columns are copied. ASSUMED."""

_FIRST_LOOKUP: Final = 32
"""Rows of a lookup's first task."""

ROW_BYTES: Final = 120
"""Of a row in an answer where a workload does not say otherwise. ASSUMED; small against 10 Gb/s."""

Payloads = tuple[object | None, ...]
"""What the newest versions of the locked keys carry, in the order of the keys; None: nothing."""


class ReadKind(IntEnum):
    """How TiDB fetches rows: ``KvGet``, ``KvBatchGet``, or ``Coprocessor`` requests for ranges."""

    GET = 0
    BATCH_GET = 1
    COP = 2
    LOOKUP = 3
    """Rows whose keys a scan has found, for an index lookup or join: Coprocessor requests of point
    ranges. They cost a store what a ``KvBatchGet`` of as many keys costs, and become one here."""


_COP: Final = ReadKind.COP
_LOOKUP: Final = ReadKind.LOOKUP
"""For hot code: reaching for a member through its enum takes 70 ns."""


@dataclass(slots=True, eq=False)
class Read:
    """One read plan of a statement; the client sends one request for each region of ``keys``."""

    kind: ReadKind
    """Which request it becomes."""
    keys: tuple[bytes, ...]
    """For COP the first and the last key of each range; otherwise the rows."""
    rows: int
    """Rows the storage touches in all, for the service time."""

    def tasks(self) -> Iterator[tuple[bytes, ...]]:
        """Yields the keys of each task; all are in flight at once.

        A lookup asks for 32 rows first, and for twice as many with each further task (tidb
        pkg/executor/join/index_lookup_join.go, outerWorker).
        """
        if self.kind is not _LOOKUP:
            yield self.keys
            return
        at, size = 0, _FIRST_LOOKUP
        while at < len(self.keys):
            yield self.keys[at : at + size]
            at, size = at + size, 2 * size


@dataclass(slots=True, eq=False)
class Statement:
    """One SQL statement, planned."""

    label: str
    """The verb and the table, such as ``SELECT district FOR UPDATE``."""
    reads: tuple[Read, ...] = ()
    """Before the locks, one after the other; all requests of one read are in flight at once."""
    lock_keys: tuple[bytes, ...] = ()
    """Keys to lock that the transaction does not hold yet (TiDB filters the ones it holds before it
    sends anything: client-go txnkv/transaction/txn.go, lockKeys)."""
    writes: tuple[Mutation, ...] = ()
    """Enter the transaction's buffer once the statement has succeeded."""
    insert: bool = field(default=False, kw_only=True)
    """The locked keys must not exist."""
    returns_values: bool = field(default=False, kw_only=True)
    """The lock responses carry the rows; the payloads of the locked keys are then sent into the
    transaction's generator, otherwise ``()`` is."""
    fresh_ts: bool = field(default=False, kw_only=True)
    """Each try fetches a timestamp for ``for_update_ts`` before it reads; otherwise the first try
    reuses the transaction's newest one (tidb pkg/sessiontxn/isolation/repeatable_read.go,
    notNeedGetLatestTSFromPD)."""
    select: Callable[[], tuple[bytes, ...]] | None = field(default=None, kw_only=True)
    """Where given, the keys to lock are what this returns, asked again at each try of the
    statement, after the reads; empty means that no row qualifies."""
    row_bytes: int = field(default=ROW_BYTES, kw_only=True)
    """What a store answers for each row that is read, or whose lock brings it."""
    pause_ns: int = field(default=0, kw_only=True)
    """The client waits this long before it sends the statement."""

    def rows(self) -> float:
        """Returns the rows that it reads, locks or writes, as far as they cost CPU."""
        locked, written = len(self.lock_keys), len(self.writes)
        rows = float(locked if locked > written else written)
        for read in self.reads:
            rows += read.rows * _SCANNED_ROW if read.kind is _COP else len(read.keys)
        return rows

    def changes(self) -> bool:
        """Returns whether it locks or writes."""
        return bool(self.lock_keys or self.writes or self.select)

    def __str__(self) -> str:
        return (
            f"{self.label}: {len(self.reads)} reads, "
            f"{'selected' if self.select else len(self.lock_keys)} locks, {len(self.writes)} writes"
        )


ROLLBACK: Final = Statement("ROLLBACK")
"""A transaction that yields this gives its locks and its buffer up; nothing follows it."""


class Transaction:
    """One transaction of one client: all that is random was drawn when it was made."""

    name: str
    """Its class, such as ``new_order``; the class of its latencies."""
    autocommit = False
    """A single statement outside BEGIN: tried optimistically without locks, and after a write
    conflict once more with them (TiDB, pessimistic-txn of auto-commit DML); ``statements`` is then
    called anew."""

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Yields the statements in order; expects each one's payloads back through ``send``.

        When it returns, the client commits what is in the buffer.
        """
        raise NotImplementedError

    def committed(self) -> None:
        """Notes that the commit succeeded; the client calls it once, before its next step."""


class PointGet(Transaction):
    """One SELECT of a row by primary key in auto-commit.

    A single row cannot contradict itself, so TiDB fetches no timestamp and reads the newest version
    (tidb pkg/planner/core, IsPointGetWithPKOrUniqueKeyByAutoCommit).
    """

    autocommit = True

    def __init__(self, name: str, statement: Statement) -> None:
        self.name = name
        self._statement = statement

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Yields the one statement."""
        yield self._statement


class Script(Transaction):
    """A list of statements that are all known when it is made: sysbench, custom mixes.

    An auto-commit statement reads its row in the first, optimistic try. In the second, pessimistic
    one the lock request returns the row instead, so the reads fall away (tidb
    pkg/executor/point_get.go).
    """

    def __init__(self, name: str, script: list[Statement], *, autocommit: bool = False) -> None:
        self.name = name
        self.autocommit = autocommit
        self._script = script
        self._tries = 0

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Yields the list, without the reads of locked rows from the second try on."""
        self._tries += 1
        if self.autocommit and self._tries == 2:
            self._script = [
                replace(statement, reads=(), pause_ns=0) if statement.lock_keys else statement
                for statement in self._script
            ]
        for statement in self._script:  # noqa: UP028 - a list does not take what is sent
            yield statement


class TransactionSource(Protocol):
    """A source of transactions for any number of clients."""

    def tables(self) -> tuple[Table, ...]:
        """Returns the tables in key order; ``layout`` makes the regions of them."""

    def transaction(self, client_id: int) -> Transaction:
        """Draws the next transaction of one client from that client's own stream."""
