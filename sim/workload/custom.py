"""A mix written in the scenario: tables of rows with integer handles, transactions of statements.

Four verbs. ``read`` is a point get, or a batch of them. ``lock`` is ``SELECT ... FOR UPDATE`` by
primary key: one lock request brings the rows. ``update`` writes the rows the transaction has
locked in that table where it names no number of rows, and otherwise draws, locks and writes rows
of its own. ``insert`` appends rows. A part of the draws can go to the first ``hot_rows`` rows of a
table: that is how a mix has a hot row or a hot range. ``like`` takes the row numbers that the
transaction has locked in another table: a transfer between two accounts of one number.

A transaction that is one ``update`` in auto-commit is tried optimistically, as TiDB does.
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Final

from sim.protocol.keys import record_prefix, row_key
from sim.protocol.mvcc import PUT
from sim.protocol.percolator import Mutation
from sim.scenario.schema.arrival import StatementSpec, TableSpec, TransactionSpec
from sim.streams import Stream, Streams
from sim.workload.custom_reads import TableReads
from sim.workload.layout import Table, rows_by_handle
from sim.workload.statement import Read, ReadKind, Script, Statement

FIRST_TABLE: Final = 100


class CustomWorkload:
    """Draws transactions of a mix for any number of clients."""

    def __init__(
        self,
        tables: Sequence[TableSpec],
        transactions: Sequence[TransactionSpec],
        streams: Streams,
    ) -> None:
        weight = sum(spec.weight for spec in transactions)
        assert weight > 0, "a mix needs a transaction with a weight above 0"
        self._specs = tuple(transactions)
        self._thresholds = [part / weight for part in accumulate(t.weight for t in transactions)]
        self._tables = {table.name: table for table in tables}
        self._table_ids = {table.name: FIRST_TABLE + 2 * n for n, table in enumerate(tables)}
        self._next_row = {table.name: table.rows for table in tables}
        self._stream_of = cache(lambda client_id: streams.stream(f"client-{client_id}/txn"))

    def tables(self) -> tuple[Table, ...]:
        """Returns the tables in key order, which is the order they were given in."""
        return tuple(
            _table(table, self._table_ids[table.name], TableReads(table, self._specs))
            for table in self._tables.values()
        )

    def transaction(self, client_id: int) -> Script:
        """Draws the next transaction of one client from that client's own stream."""
        stream = self._stream_of(client_id)
        spec = self._drawn_spec(stream.random())
        held: dict[str, list[int]] = {}
        script = []
        for each in spec.statements:
            statement = self._statement(stream, each, held)
            statement.pause_ns = each.pause_ns
            if spec.autocommit:
                _read_what_is_locked(statement)
            script.append(statement)
        return Script(spec.name, script, autocommit=spec.autocommit)

    def _drawn_spec(self, chance: float) -> TransactionSpec:
        for spec, threshold in zip(self._specs, self._thresholds, strict=True):
            if chance < threshold:
                return spec
        return self._specs[-1]

    def _statement(
        self, stream: Stream, spec: StatementSpec, held: dict[str, list[int]]
    ) -> Statement:
        """Draws the rows of one statement; ``held`` are the rows locked so far, by table."""
        own = held.setdefault(spec.table, [])
        if spec.verb == "insert":
            return self._insert(spec, own)
        if spec.like:
            rows = list(held.get(spec.like, ()))
        else:
            rows = own if spec.rows is None else self._rows(stream, spec, spec.rows)
        keys = self._keys(spec.table, rows)
        row_bytes = self._tables[spec.table].row_bytes
        if spec.verb == "read":
            kind = ReadKind.GET if len(keys) == 1 else ReadKind.BATCH_GET
            reads = (Read(kind, keys, len(keys)),)
            return Statement(f"SELECT {spec.table}", reads, row_bytes=row_bytes)
        fresh = [row for row in rows if row not in own]
        own.extend(fresh)
        locks = self._keys(spec.table, fresh)
        if spec.verb == "lock":
            label = f"SELECT {spec.table} FOR UPDATE"
            return Statement(label, (), locks, returns_values=True, row_bytes=row_bytes)
        writes = tuple([Mutation(key, PUT, row_bytes) for key in keys])
        label = f"UPDATE {spec.table}"
        return Statement(label, (), locks, writes, returns_values=True, row_bytes=row_bytes)

    def _insert(self, spec: StatementSpec, own: list[int]) -> Statement:
        first = self._next_row[spec.table] + 1
        rows = list(range(first, first + (spec.rows or 1)))
        self._next_row[spec.table] = rows[-1]
        own.extend(rows)
        keys = self._keys(spec.table, rows)
        size_bytes = self._tables[spec.table].row_bytes
        writes = tuple([Mutation(key, PUT, size_bytes) for key in keys])
        return Statement(f"INSERT {spec.table}", (), keys, writes, insert=True)

    def _rows(self, stream: Stream, spec: StatementSpec, count: int) -> list[int]:
        """Draws different rows; a hot part that is used up is drawn around."""
        all_rows = self._tables[spec.table].rows
        rows: list[int] = []
        while len(rows) < min(count, all_rows):
            hot = spec.hot_fraction > 0 and stream.random() < spec.hot_fraction
            span = spec.hot_rows if hot and len(rows) < spec.hot_rows else all_rows
            row = int(stream.random() * span) + 1
            if row not in rows:
                rows.append(row)
        return rows

    def _keys(self, table: str, rows: Sequence[int]) -> tuple[bytes, ...]:
        table_id = self._table_ids[table]
        return tuple([row_key(table_id, row) for row in rows])


def _read_what_is_locked(statement: Statement) -> None:
    """An optimistic try reads its rows, since no lock request brings them."""
    if statement.lock_keys and not statement.insert:
        kind = ReadKind.GET if len(statement.lock_keys) == 1 else ReadKind.BATCH_GET
        statement.reads = (Read(kind, statement.lock_keys, len(statement.lock_keys)),)


def _table(spec: TableSpec, table_id: int, reads: TableReads) -> Table:
    rows = rows_by_handle(spec.name, table_id, spec.rows, spec.row_bytes)
    return Table(
        spec.name,
        record_prefix(table_id)[:-2],
        (rows,),
        scattered_reads=reads.per_transaction(),
        read_parts=reads.parts,
    )
