"""sysbench's ``oltp_*`` scripts with their default options, on tables with an index on ``k``.

A transaction of ``oltp_read_write`` is 10 point selects, one simple, one sum, one ordered and one
distinct range of 100 rows, one update of ``k``, one of ``c``, one delete and insert of the same
id; ``oltp_write_only`` is the last three parts. ``oltp_point_select`` is one SELECT by primary key
in auto-commit, which asks PD for no timestamp. ``oltp_update_index`` and
``oltp_update_non_index`` run one update in auto-commit: TiDB tries it optimistically, so there is
no lock request; these are the control group of every comparison of lock modes.

Ids are uniform: that is the default of sysbench 1.1 (akopytov/sysbench#329) and what PingCAP's
runs ask for (``--rand-type=uniform``). ``special``, the default of 1.0, is here as well.

Source: akopytov/sysbench src/lua/oltp_common.lua, src/sb_rand.c (1.0.20 for ``special``).
"""

from functools import cache
from typing import Final, Literal

from sim.protocol.keys import index_key, index_prefix, record_prefix, row_key
from sim.protocol.mvcc import DELETE, PUT
from sim.protocol.percolator import Mutation
from sim.streams import Stream, Streams
from sim.workload.layout import Segment, Table, rows_by_handle, stored_bytes
from sim.workload.statement import PointGet, Read, ReadKind, Script, Statement, Transaction

POINT_SELECT: Final = "oltp_point_select"
READ_WRITE: Final = "oltp_read_write"
WRITE_ONLY: Final = "oltp_write_only"
UPDATE_INDEX: Final = "oltp_update_index"
UPDATE_NON_INDEX: Final = "oltp_update_non_index"
SCRIPTS: Final = (POINT_SELECT, READ_WRITE, WRITE_ONLY, UPDATE_INDEX, UPDATE_NON_INDEX)

RandType = Literal["uniform", "special"]

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

_SPECIAL_RES: Final = 0.75
_SPECIAL_PCT: Final = 0.01
_SPECIAL_ITER: Final = 12
_GOLDEN: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1


def special_id(stream: Stream, rows: int) -> int:
    """Returns an id of the ``special`` distribution, from 1 to ``rows``.

    Three in four fall into the middle percent of the ids, the rest is a bell over all of them.
    """
    span = rows - 1
    chance = stream.random()
    if chance < 1 - _SPECIAL_RES:
        bell = sum([stream.random() for _ in range(_SPECIAL_ITER)])
        return 1 + int(bell * span / _SPECIAL_ITER)
    middle = chance * (span * _SPECIAL_PCT + 1)
    return 1 + min(span, int(middle + span / 2 - span * _SPECIAL_PCT / 2))


class SysbenchWorkload:
    """Draws transactions of one script for any number of clients."""

    def __init__(
        self, script: str, streams: Streams, *, tables: int, rows: int, rand: RandType = "uniform"
    ) -> None:
        assert script in SCRIPTS, f"{script} is not one of {SCRIPTS}"
        self.script = script
        self.classes = (script,)
        self.rows = rows
        self._tables = tuple(range(FIRST_TABLE, FIRST_TABLE + 2 * tables, 2))
        self._ids = special_id if rand == "special" else _uniform_id
        self._stream_of = cache(lambda client_id: streams.stream(f"client-{client_id}/txn"))

    def tables(self) -> tuple[Table, ...]:
        """Returns ``sbtest1`` and on, in key order."""
        return tuple(
            _table(f"sbtest{number}", table_id, self.rows)
            for number, table_id in enumerate(self._tables, start=1)
        )

    def transaction(self, client_id: int) -> Transaction:
        """Draws the next transaction of one client from that client's own stream."""
        stream = self._stream_of(client_id)
        if self.script == POINT_SELECT:
            return PointGet(self.script, _point_select(*self._row(stream)))
        if self.script == UPDATE_INDEX:
            return self._auto_commit(self._update_index(stream))
        if self.script == UPDATE_NON_INDEX:
            return self._auto_commit(self._update_non_index(stream))
        script: list[Statement] = []
        if self.script == READ_WRITE:
            self._selects(stream, script)
        held: list[bytes] = []
        script.append(_unless_held(self._update_index(stream), held))
        script.append(_unless_held(self._update_non_index(stream), held))
        delete, insert = self._delete_and_insert(stream)
        script.append(_unless_held(delete, held))
        script.append(insert)
        return Script(self.script, script)

    def _row(self, stream: Stream) -> tuple[int, int]:
        """Draws a table, always uniform, and an id."""
        table_id = self._tables[int(stream.random() * len(self._tables))]
        return table_id, self._ids(stream, self.rows)

    def _auto_commit(self, statement: Statement) -> Script:
        statement.reads = (Read(ReadKind.GET, statement.lock_keys, 1),)
        return Script(self.script, [statement], autocommit=True)

    def _selects(self, stream: Stream, script: list[Statement]) -> None:
        table_id, row_id = self._row(stream)
        for number in range(POINT_SELECTS):
            if number > 0:
                row_id = self._ids(stream, self.rows)
            script.append(_point_select(table_id, row_id))
        for kind in RANGES:
            table_id, row_id = self._row(stream)
            last = row_id + RANGE_ROWS - 1
            rows = min(last, self.rows) - row_id + 1
            bounds = (row_key(table_id, row_id), row_key(table_id, last))
            script.append(
                Statement(f"SELECT sbtest {kind} range", (Read(ReadKind.COP, bounds, rows),))
            )

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
            Mutation(index_key(table_id, K_INDEX, k, row_id), DELETE, pessimistic_check=False),
            Mutation(
                index_key(table_id, K_INDEX, k + 1, row_id),
                PUT,
                INDEX_BYTES,
                pessimistic_check=False,
            ),
        )
        return Statement("UPDATE sbtest SET k", (), (row,), writes, returns_values=True)

    def _update_non_index(self, stream: Stream) -> Statement:
        table_id, row_id = self._row(stream)
        row = row_key(table_id, row_id)
        writes = (Mutation(row, PUT, ROW_BYTES),)
        return Statement("UPDATE sbtest SET c", (), (row,), writes, returns_values=True)

    def _delete_and_insert(self, stream: Stream) -> tuple[Statement, Statement]:
        table_id, row_id = self._row(stream)
        k = self._ids(stream, self.rows)
        row = row_key(table_id, row_id)
        old = index_key(table_id, K_INDEX, self._k_of(row_id), row_id)
        new = index_key(table_id, K_INDEX, k, row_id)
        deleted = (Mutation(row, DELETE), Mutation(old, DELETE, pessimistic_check=False))
        inserted = (
            Mutation(row, PUT, ROW_BYTES),
            Mutation(new, PUT, INDEX_BYTES, pessimistic_check=False),
        )
        # The insert finds its row locked by the delete: no request (client-go, lockKeys).
        return (
            Statement("DELETE sbtest", (), (row,), deleted, returns_values=True),
            Statement("INSERT sbtest", (), (), inserted, insert=True),
        )


def _point_select(table_id: int, row_id: int) -> Statement:
    return Statement("SELECT sbtest", (Read(ReadKind.GET, (row_key(table_id, row_id),), 1),))


def _uniform_id(stream: Stream, rows: int) -> int:
    return int(stream.random() * rows) + 1


def _unless_held(statement: Statement, held: list[bytes]) -> Statement:
    """Drops the lock of a row that an earlier statement of the transaction locked."""
    if statement.lock_keys[0] in held:
        statement.lock_keys = ()
        statement.returns_values = False
    else:
        held.append(statement.lock_keys[0])
    return statement


def _table(name: str, table_id: int, rows: int) -> Table:
    """Returns a table: the index by ``k``, which is uniform over the ids, then the rows."""
    index = Segment(
        f"{name}.k",
        index_prefix(table_id, K_INDEX),
        rows=rows,
        row_bytes=stored_bytes(37, INDEX_BYTES),
        key_of_row=lambda row: index_key(table_id, K_INDEX, row + 1),
    )
    records = rows_by_handle(name, table_id, rows, ROW_BYTES)
    return Table(name, record_prefix(table_id)[:-2], (index, records), scattered_reads=1.0)
