"""sysbench: statements of each script, rows in range, auto-commit without locks."""

from __future__ import annotations

from collections import Counter

import pytest

from sim.protocol.keys import row_key
from sim.scenario.schema.arrival import RandType
from sim.streams import Streams
from sim.units import MIB
from sim.workload.layout import region_start_keys
from sim.workload.statement import PointGet
from sim.workload.sysbench import SysbenchWorkload
from tests.workload.lone_client import LoneClient

ROWS = 100_000


def workload(script: str, rand: RandType = "uniform", tables: int = 4) -> SysbenchWorkload:
    return SysbenchWorkload(script, Streams(1, 0), tables=tables, rows=ROWS, rand=rand)


def run(script: str, transactions: int = 500) -> LoneClient:
    source = workload(script)
    client = LoneClient(region_start_keys(source.tables(), 4 * MIB))
    for number in range(transactions):
        transaction = source.transaction(number % 3)
        client.run(transaction)
        client.rows.clear()  # sysbench deletes and inserts the same id
    return client


def test_read_write_is_eighteen_statements() -> None:
    client = run("oltp_read_write")
    assert client.mean("statements") == 18
    assert client.mean("SELECT") == 14
    assert client.mean("GET requests") == 10
    assert client.mean("COP requests") == pytest.approx(4, abs=0.1)
    assert client.mean("lock requests") == pytest.approx(3, abs=0.01)


def test_write_only_is_the_writes_of_read_write() -> None:
    client = run("oltp_write_only")
    assert client.mean("statements") == 4
    assert client.mean("GET requests") == 0
    assert client.mean("locked keys") == pytest.approx(3, abs=0.01)
    # Row and two entries, row, row and two entries.
    assert client.mean("mutations") == pytest.approx(7, abs=0.02)


@pytest.mark.parametrize(
    ("script", "mutations"), [("oltp_update_index", 3), ("oltp_update_non_index", 1)]
)
def test_updates_are_auto_commit_and_ask_for_no_lock(script: str, mutations: int) -> None:
    client = run(script)
    assert client.mean("lock requests") == 0
    assert client.mean("GET requests") == 1
    assert client.mean("mutations") == mutations
    assert workload(script).transaction(0).autocommit


def test_a_point_select_is_one_read_of_one_row() -> None:
    client = run("oltp_point_select")
    assert client.mean("statements") == client.mean("GET requests") == 1
    assert client.mean("mutations") == client.mean("locked keys") == 0
    assert isinstance(workload("oltp_point_select").transaction(0), PointGet)


def test_the_second_try_of_an_auto_commit_locks_instead_of_reading() -> None:
    transaction = workload("oltp_update_index").transaction(0)
    (optimistic,) = transaction.statements()
    (pessimistic,) = transaction.statements()
    assert optimistic.reads
    assert not pessimistic.reads
    assert pessimistic.lock_keys == optimistic.lock_keys
    assert pessimistic.writes == optimistic.writes
    assert pessimistic.returns_values


def test_ids_are_uniform_by_default() -> None:
    source = workload("oltp_update_non_index", tables=1)
    tenths = Counter[int]()
    first = row_key(100, 1)
    for _ in range(5_000):
        (statement,) = source.transaction(0).statements()
        (key,) = statement.lock_keys
        assert first <= key <= row_key(100, ROWS)
        tenths[(int.from_bytes(key[-8:]) - (1 << 63) - 1) * 10 // ROWS] += 1
    assert min(tenths.values()) > 400
    assert sum(tenths.values()) == 5_000


def test_special_puts_three_of_four_ids_into_the_middle_percent() -> None:
    source = workload("oltp_update_non_index", rand="special", tables=1)
    middle = 0
    for _ in range(4_000):
        (statement,) = source.transaction(0).statements()
        row = int.from_bytes(statement.lock_keys[0][-8:]) - (1 << 63)
        assert 1 <= row <= ROWS
        middle += 0.494 * ROWS <= row <= 0.506 * ROWS
    # A bell of standard deviation 1/12 puts 5 % of the rest there too.
    assert middle / 4_000 == pytest.approx(0.75 + 0.25 * 0.057, abs=0.03)


def test_a_seed_gives_the_same_statements_again() -> None:
    one, two = workload("oltp_read_write"), workload("oltp_read_write")
    for _ in range(50):
        first, second = one.transaction(1), two.transaction(1)
        assert [(s.lock_keys, s.writes) for s in first.statements()] == [
            (s.lock_keys, s.writes) for s in second.statements()
        ]
