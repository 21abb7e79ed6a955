"""Which blocks of a custom table are hot: what is worked out against what is drawn."""

from collections import Counter
from itertools import accumulate, pairwise

import pytest

from sim.scenario.schema.arrival import StatementSpec, TableSpec, TransactionSpec
from sim.streams import Streams
from sim.workload.custom import CustomWorkload
from sim.workload.custom_reads import TableReads

ROWS, ROWS_OF_BLOCK = 10_000, 100
TABLE = TableSpec(name="acct", rows=ROWS, row_bytes=100)
MIX = (
    TransactionSpec(
        name="pay",
        weight=3,
        statements=(
            StatementSpec(verb="lock", table="acct", rows=2, hot_rows=500, hot_fraction=0.8),
            StatementSpec(verb="update", table="acct", rows=None),
            StatementSpec(verb="insert", table="log", rows=1),
        ),
    ),
    TransactionSpec(
        name="look",
        weight=1,
        statements=(
            StatementSpec(verb="read", table="acct", rows=1, hot_rows=3, hot_fraction=0.5),
            StatementSpec(verb="update", table="acct", rows=1),
            StatementSpec(verb="lock", table="twin", rows=None, like="acct"),
        ),
    ),
)


def reads(table: str = "acct") -> TableReads:
    return TableReads(TableSpec(name=table, rows=ROWS, row_bytes=100), MIX)


def test_rows_are_counted_where_they_are_drawn() -> None:
    assert reads().per_transaction() == pytest.approx(0.75 * 2 + 0.25 * 2)
    assert reads("twin").per_transaction() == pytest.approx(0.25)
    assert reads("log").per_transaction() == 0


def test_a_part_has_at_least_a_block() -> None:
    parts = reads().parts(ROWS_OF_BLOCK)
    assert [part.blocks for part in parts] == pytest.approx([0.01, 0.04, 0.95])
    assert sum(part.reads for part in parts) == pytest.approx(1)
    (whole,) = reads().parts(2 * ROWS)
    assert (whole.blocks, whole.reads) == pytest.approx((1, 1))


def test_parts_are_read_as_often_as_they_are_drawn() -> None:
    tables = (TABLE, TableSpec(name="log", rows=1), TableSpec(name="twin", rows=ROWS))
    workload = CustomWorkload(tables, MIX, Streams(1, 0))
    drawn: Counter[int] = Counter()
    for _ in range(4_000):
        for statement in workload.transaction(0).statements():
            keys = statement.lock_keys or [key for read in statement.reads for key in read.keys]
            if not statement.insert and "acct" in statement.label:
                drawn.update(int.from_bytes(key[-8:]) - (1 << 63) for key in keys)
    parts = reads().parts(ROWS_OF_BLOCK)
    borders = [0.0, *accumulate(part.blocks for part in parts)]
    for part, (begin, end) in zip(parts, pairwise(borders), strict=True):
        inside = sum(count for row, count in drawn.items() if begin * ROWS < row <= end * ROWS)
        assert inside / drawn.total() == pytest.approx(part.reads, abs=0.015)
