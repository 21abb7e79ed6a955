"""sysbench's ``oltp_*`` scripts with their default options, on tables with an index on ``k``.

============ ====================================================================================
read_write   BEGIN, 10 point selects, one simple, one sum, one ordered and one distinct range of
             100 rows, an update of ``k``, one of ``c``, a delete and an insert of one id, COMMIT
read_only    the same without the writes: it ends without any request
write_only   the same without the reads
point_select one SELECT by primary key in auto-commit, which needs no timestamp
update_index one update of ``k`` in auto-commit: a row and two entries of its index
update_non_  one update of ``c`` in auto-commit: a row, so that the commit has one phase
index
insert       one insert in auto-commit, at the end of a table: a row and an entry of its index
delete       one delete by primary key in auto-commit: likewise; nothing, if the row is gone
============ ====================================================================================

Statements in auto-commit are tried optimistically, so there is no lock request; they are the
control group of every comparison of lock modes. A row and its entries lie in different regions of
all but the smallest tables, and then the commit is asynchronous.

``insert`` sends id 0, for which TiDB takes the next number. It takes 30,000 of them at a time, so
nodes that do it side by side still write to the same region; here they share one sequence.

Ids are uniform by default, as in sysbench 1.1 (akopytov/sysbench#329) and in PingCAP's runs
(``--rand-type=uniform``); 1.0 has ``special``. ``sysbench_ids`` has all distributions.

Source: akopytov/sysbench src/lua/oltp_*.lua; TiDB docs, AUTO_INCREMENT.
"""

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import cache, partial
from typing import Final

from sim.protocol.encoding import NO_VALUE
from sim.protocol.keys import index_key, index_prefix, record_prefix, row_key
from sim.protocol.mvcc import DELETE, INSERT, PUT
from sim.protocol.percolator import Mutation
from sim.scenario.schema.arrival import RandType
from sim.streams import Stream, Streams
from sim.workload.layout import Segment, Table, rows_by_handle, stored_bytes
from sim.workload.statement import (
    Payloads,
    PointGet,
    Read,
    ReadKind,
    Script,
    Statement,
    Transaction,
)
from sim.workload.sysbench_ids import ID_LAWS, IdLaw

POINT_SELECTS: Final = 10
RANGES: Final = ("simple", "sum", "order", "distinct")
RANGE_ROWS: Final = 100

ROW_BYTES: Final = 197
"""Row format v2: 6 of header, 3 of column ids, 6 of offsets, k 4, c 119, pad 59 (tidb
pkg/util/rowcodec); ``id`` is the handle and not stored again."""

INDEX_BYTES: Final = 1
"""Value of an entry in a non-unique index."""

K_INDEX: Final = 1
FIRST_TABLE: Final = 100

_GOLDEN: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1


class SysbenchWorkload:
    """Draws transactions of one script for any number of clients."""

    def __init__(
        self, script: str, streams: Streams, *, tables: int, rows: int, rand: RandType = "uniform"
    ) -> None:
        self.script = script
        self.rows = rows
        self._tables = tuple(range(FIRST_TABLE, FIRST_TABLE + 2 * tables, 2))
        self._law = ID_LAWS[rand]
        self._ids = self._law.draw
        self._stream_of = cache(lambda client_id: streams.stream(f"client-{client_id}/txn"))
        self._last_id = dict.fromkeys(self._tables, rows)
        self._deleted: set[bytes] = set()
        draws: dict[str, Callable[[Stream], Transaction]] = {
            "oltp_read_write": self._read_write,
            "oltp_read_only": self._read_only,
            "oltp_write_only": self._write_only,
            "oltp_point_select": self._point_select,
            "oltp_update_index": lambda stream: self._changed(self._update_index(stream)),
            "oltp_update_non_index": lambda stream: self._changed(self._update_non_index(stream)),
            "oltp_insert": self._insert,
            "oltp_delete": self._delete,
        }
        self._draw = draws[script]

    def tables(self) -> tuple[Table, ...]:
        """Returns ``sbtest1`` and on, in key order."""
        return tuple(
            _table(f"sbtest{number}", table_id, self.rows, self._law)
            for number, table_id in enumerate(self._tables, start=1)
        )

    def transaction(self, client_id: int) -> Transaction:
        """Draws the next transaction of one client from that client's own stream."""
        return self._draw(self._stream_of(client_id))

    def _read_write(self, stream: Stream) -> Script:
        return Script(self.script, self._selects(stream) + self._changes(stream))

    def _read_only(self, stream: Stream) -> Script:
        return Script(self.script, self._selects(stream))

    def _write_only(self, stream: Stream) -> Script:
        return Script(self.script, self._changes(stream))

    def _point_select(self, stream: Stream) -> PointGet:
        return PointGet(self.script, _select(*self._row(stream)))

    def _insert(self, stream: Stream) -> Script:
        table_id = self._table(stream)
        k = self._ids(stream, self.rows)
        row_id = self._last_id[table_id] = self._last_id[table_id] + 1
        row = row_key(table_id, row_id)
        # Whether the row exists is asked by the prewrite.
        writes = (Mutation(row, INSERT, ROW_BYTES), _entry(table_id, k, row_id))
        statement = Statement("INSERT sbtest", (), (row,), writes, insert=True)
        return Script(self.script, [statement], autocommit=True)

    def _delete(self, stream: Stream) -> Script:
        statement = _reading(self._deletion(*self._row(stream)))
        return _Deletion(self.script, statement, self._deleted)

    def _changed(self, statement: Statement) -> Script:
        return Script(self.script, [_reading(statement)], autocommit=True)

    def _table(self, stream: Stream) -> int:
        """Draws a table, always uniform."""
        return self._tables[int(stream.random() * len(self._tables))]

    def _row(self, stream: Stream) -> tuple[int, int]:
        """Draws a table and an id."""
        return self._table(stream), self._ids(stream, self.rows)

    def _selects(self, stream: Stream) -> list[Statement]:
        table_id, row_id = self._row(stream)
        others = [self._ids(stream, self.rows) for _ in range(POINT_SELECTS - 1)]
        script = [_select(table_id, each) for each in (row_id, *others)]
        for kind in RANGES:
            table_id, row_id = self._row(stream)
            last = row_id + RANGE_ROWS - 1
            rows = min(last, self.rows) - row_id + 1
            bounds = (row_key(table_id, row_id), row_key(table_id, last))
            script.append(
                Statement(f"SELECT sbtest {kind} range", (Read(ReadKind.COP, bounds, rows),))
            )
        return script

    def _changes(self, stream: Stream) -> list[Statement]:
        held: list[bytes] = []
        update_k = _unless_held(self._update_index(stream), held)
        update_c = _unless_held(self._update_non_index(stream), held)
        table_id, row_id = self._row(stream)
        delete = _unless_held(self._deletion(table_id, row_id), held)
        # The insert finds its row locked by the delete: no request (client-go, lockKeys).
        inserted = (
            Mutation(row_key(table_id, row_id), PUT, ROW_BYTES),
            _entry(table_id, self._ids(stream, self.rows), row_id),
        )
        insert = Statement("INSERT sbtest", (), (), inserted, insert=True)
        return [update_k, update_c, delete, insert]

    def _k_of(self, row_id: int) -> int:
        """Returns the row's ``k``: a hash of its id.

        Keeping each row's value would let memory grow; which entry of the index an update touches
        changes nothing but its region, and that stays uniform.
        """
        return (row_id * _GOLDEN & _MASK) % self.rows + 1

    def _update_index(self, stream: Stream) -> Statement:
        table_id, row_id = self._row(stream)
        k = self._k_of(row_id)
        row = row_key(table_id, row_id)
        writes = (
            Mutation(row, PUT, ROW_BYTES),
            _entry(table_id, k, row_id, DELETE),
            _entry(table_id, k + 1, row_id),
        )
        return Statement("UPDATE sbtest SET k", (), (row,), writes, returns_values=True)

    def _update_non_index(self, stream: Stream) -> Statement:
        table_id, row_id = self._row(stream)
        row = row_key(table_id, row_id)
        writes = (Mutation(row, PUT, ROW_BYTES),)
        return Statement("UPDATE sbtest SET c", (), (row,), writes, returns_values=True)

    def _deletion(self, table_id: int, row_id: int) -> Statement:
        row = row_key(table_id, row_id)
        writes = (
            Mutation(row, DELETE),
            _entry(table_id, self._k_of(row_id), row_id, DELETE),
        )
        return Statement("DELETE sbtest", (), (row,), writes, returns_values=True)


class _Deletion(Script):
    """A delete in auto-commit, which writes nothing if it finds its row deleted."""

    def __init__(self, name: str, statement: Statement, deleted: set[bytes]) -> None:
        super().__init__(name, [statement], autocommit=True)
        (self._row,) = statement.lock_keys
        self._deleted = deleted

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Returns the statements of ``Script``, without the writes if the row is gone."""
        if self._row in self._deleted:
            self._script = [replace(statement, writes=()) for statement in self._script]
        return super().statements()

    def committed(self) -> None:
        """Notes that the row is gone."""
        self._deleted.add(self._row)


def _select(table_id: int, row_id: int) -> Statement:
    return Statement("SELECT sbtest", (Read(ReadKind.GET, (row_key(table_id, row_id),), 1),))


def _reading(statement: Statement) -> Statement:
    """Returns the statement as auto-commit tries it first: it reads its row and locks nothing."""
    statement.reads = (Read(ReadKind.GET, statement.lock_keys, 1),)
    return statement


def _entry(table_id: int, k: int, row_id: int, op: int = PUT) -> Mutation:
    """Returns the mutation of an entry in the index on ``k``."""
    size_bytes = INDEX_BYTES if op == PUT else NO_VALUE
    key = index_key(table_id, K_INDEX, k, row_id)
    return Mutation(key, op, size_bytes, pessimistic_check=False)


def _unless_held(statement: Statement, held: list[bytes]) -> Statement:
    """Drops the lock of a row that an earlier statement of the transaction locked."""
    if statement.lock_keys[0] in held:
        statement.lock_keys = ()
        statement.returns_values = False
    else:
        held.append(statement.lock_keys[0])
    return statement


def _table(name: str, table_id: int, rows: int, law: IdLaw) -> Table:
    """Returns a table: the index by ``k``, which is uniform over the ids, then the rows."""
    index = Segment(
        f"{name}.k",
        index_prefix(table_id, K_INDEX),
        rows=rows,
        row_bytes=stored_bytes(37, INDEX_BYTES),
        key_of_row=lambda row: index_key(table_id, K_INDEX, row + 1),
    )
    records = rows_by_handle(name, table_id, rows, ROW_BYTES)
    return Table(
        name,
        record_prefix(table_id)[:-2],
        (index, records),
        scattered_reads=1.0,
        read_parts=partial(law.read_parts, rows),
    )
