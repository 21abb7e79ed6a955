"""Custom mixes: what each verb asks for, and where hot rows lead."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from sim.protocol.keys import row_key
from sim.scenario.schema.arrival import StatementSpec, TableSpec, TransactionSpec, Verb
from sim.streams import Streams
from sim.workload.custom import CustomWorkload
from sim.workload.layout import even_start_keys
from tests.workload.lone_client import LoneClient

ACCOUNTS = TableSpec(name="acct", rows=1_000, row_bytes=120)
LOG = TableSpec(name="log", rows=10, row_bytes=50)


def statement(
    verb: Verb, table: str, rows: int | None = 1, *, hot_rows: int = 0, hot_fraction: float = 0.0
) -> StatementSpec:
    return StatementSpec(
        verb=verb, table=table, rows=rows, hot_rows=hot_rows, hot_fraction=hot_fraction
    )


def kind(
    name: str, weight: float, *statements: StatementSpec, autocommit: bool = False
) -> TransactionSpec:
    return TransactionSpec(name=name, weight=weight, statements=statements, autocommit=autocommit)


def workload(*transactions: TransactionSpec) -> CustomWorkload:
    return CustomWorkload([ACCOUNTS, LOG], transactions, Streams(1, 0))


def transfer(weight: float = 1) -> TransactionSpec:
    return kind(
        "transfer",
        weight,
        statement("read", "acct"),
        statement("lock", "acct", rows=2),
        statement("update", "acct", rows=None),
        statement("insert", "log"),
    )


def test_an_update_without_rows_writes_what_was_locked() -> None:
    read, lock, update, insert = workload(transfer()).transaction(0).statements()
    assert len(read.reads) == 1
    assert len(lock.lock_keys) == 2
    assert update.lock_keys == ()
    assert tuple(write.key for write in update.writes) == lock.lock_keys
    assert [write.value_bytes for write in update.writes] == [120, 120]
    assert insert.insert
    assert insert.lock_keys == (row_key(102, 11),)


def test_inserts_append() -> None:
    source = workload(transfer())
    client = LoneClient(even_start_keys(source.tables(), 4))
    for number in range(50):
        client.run(source.transaction(number % 5))
    assert row_key(102, 60) in client.rows


def test_a_hot_row_gets_its_share() -> None:
    hot = statement("update", "acct", hot_rows=1, hot_fraction=0.5)
    source = workload(kind("pay", 1, hot))
    rows = Counter(next(source.transaction(0).statements()).lock_keys[0] for _ in range(2_000))
    assert rows[row_key(100, 1)] / 2_000 == pytest.approx(0.5, abs=0.05)


def test_more_rows_than_hot_ones_are_drawn_from_the_others() -> None:
    hot = statement("lock", "acct", rows=3, hot_rows=1, hot_fraction=1.0)
    (lock,) = workload(kind("pay", 1, hot)).transaction(0).statements()
    assert len(set(lock.lock_keys)) == 3
    assert lock.lock_keys[0] == row_key(100, 1)


def test_a_row_is_locked_once() -> None:
    update = statement("update", "acct", hot_rows=1, hot_fraction=1.0)
    first, second = workload(kind("twice", 1, update, update)).transaction(0).statements()
    assert first.lock_keys == (row_key(100, 1),)
    assert second.lock_keys == ()
    assert second.writes[0].key == row_key(100, 1)


def test_weights() -> None:
    look = kind("look", 3, statement("read", "acct", rows=5))
    source = workload(transfer(1), look)
    drawn = Counter(source.transaction(n % 4).name for n in range(4_000))
    assert drawn["look"] / 4_000 == pytest.approx(0.75, abs=0.03)
    assert drawn.keys() == {"transfer", "look"}


def test_an_auto_commit_update_reads_first_and_locks_only_after_a_conflict() -> None:
    update = statement("update", "acct")
    transaction = workload(kind("touch", 1, update, autocommit=True)).transaction(0)
    (optimistic,) = transaction.statements()
    (pessimistic,) = transaction.statements()
    assert optimistic.reads[0].keys == pessimistic.lock_keys
    assert not pessimistic.reads


def test_answers_carry_rows_of_the_tables_length() -> None:
    look, lock = statement("read", "log"), statement("lock", "log")
    both = kind("both", 1, look, lock, statement("update", "acct"))
    statements = list(workload(both).transaction(0).statements())
    assert [each.row_bytes for each in statements] == [50, 50, 120]


def test_like_takes_the_numbers_locked_in_another_table() -> None:
    same = replace(statement("update", "log", rows=None), like="acct")
    pay = kind("pay", 1, statement("lock", "acct", rows=3), same)
    first, second = workload(pay).transaction(0).statements()
    numbers = [key[-8:] for key in first.lock_keys]
    assert [key[-8:] for key in second.lock_keys] == numbers
    assert first.lock_keys != second.lock_keys


def test_a_pause_is_before_its_statement() -> None:
    late = replace(statement("update", "acct"), pause_ns=7)
    both = kind("late", 1, statement("lock", "acct"), late)
    first, second = workload(both).transaction(0).statements()
    assert (first.pause_ns, second.pause_ns) == (0, 7)
