"""TPC-C's flow: who depends on whom, what is drawn how often, and that nothing else decides."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from sim.protocol.keys import index_prefix, record_prefix
from sim.streams import Streams
from sim.units import MIB
from sim.workload.layout import region_start_keys
from sim.workload.statement import ROLLBACK, ReadKind, Statement, Transaction
from sim.workload.tpcc import TpccWorkload, schema
from sim.workload.tpcc.delivery import Delivery
from sim.workload.tpcc.orders import Orders, customer_of, lines_of
from sim.workload.tpcc.workload import CARDS, DEFAULT_MIX
from tests.call_count import calls_of
from tests.record_keys import record_key
from tests.workload.lone_client import LoneClient

ONE_TYPE = {"new_order": {"new_order": 1}, "delivery": {"delivery": 1}, "payment": {"payment": 1}}


def workload(warehouses: int = 3, seed: int = 1, only: str | None = None) -> TpccWorkload:
    mix = ONE_TYPE[only] if only else None
    return TpccWorkload(warehouses, Streams(seed, replication=0), mix)


def lone_client(source: TpccWorkload) -> LoneClient:
    return LoneClient(region_start_keys(source.tables(), 96 * MIB))


def statements_of(transaction: Transaction) -> list[Statement]:
    """Returns all statements, as they are when every payload is None."""
    steps = transaction.statements()
    statements = [next(steps)]
    while True:
        last = statements[-1]
        keys = last.select() if last.select else last.lock_keys
        try:
            statements.append(steps.send((None,) * len(keys) if last.returns_values else ()))
        except StopIteration:
            return statements


def digest(seed: int) -> str:
    """Returns a hash over everything 300 transactions of one run ask for."""
    source = workload(seed=seed)
    client = lone_client(source)
    summary = sha256()
    for number in range(300):
        for key, mutation in client.run(source.transaction(number % 7)).items():
            summary.update(key + repr(mutation).encode())
    return summary.hexdigest()


def test_a_seed_gives_the_same_keys_again() -> None:
    assert digest(seed=5) == digest(seed=5)
    assert digest(seed=5) != digest(seed=6)


def test_the_hash_seed_of_python_decides_nothing() -> None:
    program = "from tests.workload.test_tpcc import digest; print(digest(seed=5))"
    for hash_seed in ("0", "1"):
        printed = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(Path.cwd())},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert printed.strip() == digest(seed=5)


def test_a_transaction_is_the_same_whoever_begins_it() -> None:
    alone, crowded = workload(), workload()
    for number in range(200):
        one, same = alone.transaction(4), crowded.transaction(number % 7)
        assert one.name == same.name
        if one.name == "new_order":
            assert [s.lock_keys for s in statements_of(one)] == [
                s.lock_keys for s in statements_of(same)
            ]


def test_the_mix() -> None:
    source = workload(warehouses=100)
    drawn = Counter(source.transaction(n % 50).name for n in range(20_000))
    for name, weight in DEFAULT_MIX.items():
        assert drawn[name] / 20_000 == pytest.approx(weight / 100, abs=0.012)


def test_every_deck_has_the_mix_in_an_order_of_its_own() -> None:
    source = workload(warehouses=100)
    decks = [[source.transaction(0).name for _ in range(CARDS)] for _ in range(20)]
    assert all(Counter(deck) == DEFAULT_MIX for deck in decks)
    assert len(set(map(tuple, decks))) == len(decks)


def test_a_mix_of_fractions_is_right_on_average() -> None:
    mix = {"new_order": 2.0, "payment": 1.0}
    source = TpccWorkload(100, Streams(1, replication=0), mix)
    drawn = Counter(source.transaction(0).name for _ in range(30 * CARDS))
    assert drawn["new_order"] == pytest.approx(20 * CARDS, abs=30)


def test_a_mix_may_be_given() -> None:
    source = workload(only="delivery")
    assert {source.transaction(0).name for _ in range(20)} == {"delivery"}


def test_new_orders_of_a_district_number_on_and_a_rollback_leaves_no_gap() -> None:
    source = workload(warehouses=1, only="new_order")
    client = lone_client(source)
    prefix = record_prefix(schema.ORDERS)
    placed = Counter[bytes]()
    rolled_back = 0
    for number in range(400):
        orders = [key for key in client.run(source.transaction(number)) if key.startswith(prefix)]
        rolled_back += not orders
        for key in orders:
            district, o = key[:29], int.from_bytes(key[-8:]) - (1 << 63)
            assert o == schema.FIRST_NEW_ORDER + placed[district]
            placed[district] += 1
    assert 0 < rolled_back < 20
    assert len(placed) == schema.DISTRICTS


def test_a_payment_hands_the_next_order_id_on() -> None:
    source = TpccWorkload(1, Streams(1, 0), {"new_order": 1, "payment": 1})
    client = lone_client(source)
    ids: dict[bytes, int] = {}
    for number in range(500):
        for key, mutation in client.run(source.transaction(number)).items():
            if key.startswith(record_prefix(schema.DISTRICT)) and mutation.value is not None:
                assert isinstance(mutation.value, int)
                assert mutation.value >= ids.get(key, 0)
                ids[key] = mutation.value


def test_a_delivery_takes_the_oldest_order_and_its_own_lines() -> None:
    source = workload(warehouses=1, only="delivery")
    client = lone_client(source)
    for round_number in range(3):
        o = schema.FIRST_UNDELIVERED + round_number
        written = client.run(source.transaction(0))
        lines = [key for key in written if key.startswith(record_prefix(schema.ORDER_LINE))]
        assert record_key(schema.NEW_ORDER, 1, 7, o) in written
        assert len(lines) == sum(lines_of(1, d, o) for d in range(1, 11))


def test_a_delivered_order_has_the_lines_that_were_inserted() -> None:
    source = TpccWorkload(1, Streams(2, 0), {"new_order": 1})
    client = lone_client(source)
    prefix = record_prefix(schema.ORDER_LINE)
    written = client.run(source.transaction(0))
    lines = [key for key in written if key.startswith(prefix)]
    w, d, o = (int.from_bytes(lines[0][at : at + 8]) - (1 << 63) for at in (12, 21, 30))
    assert len(lines) == lines_of(w, d, o)


def test_a_select_chooses_again_at_each_try() -> None:
    orders = Orders()
    steps = Delivery(orders, w=1).statements()
    first = next(steps)
    assert first.select is not None
    assert first.fresh_ts
    assert first.select() == (record_key(schema.NEW_ORDER, 1, 1, 2_101),)
    orders.delivered(1, 1, 2_101)  # another Delivery commits while this one waits
    assert first.select() == (record_key(schema.NEW_ORDER, 1, 1, 2_102),)


def test_a_district_without_undelivered_orders_is_passed_over() -> None:
    orders = Orders()
    orders.delivered(1, 3, schema.FIRST_NEW_ORDER - 1)
    statements = statements_of(Delivery(orders, w=1))
    assert [s.label for s in statements].count("UPDATE customer") == 9
    orders.placed(1, 3, schema.FIRST_NEW_ORDER)
    assert orders.oldest_undelivered(1, 3) == schema.FIRST_NEW_ORDER


def test_one_in_a_hundred_new_orders_rolls_back_after_the_items() -> None:
    source = workload(only="new_order")
    ends = Counter[str]()
    for number in range(3_000):
        statements = statements_of(source.transaction(number % 5))
        rolls_back = statements[-1] is ROLLBACK
        ends[statements[-2].label if rolls_back else "committed"] += 1
    assert set(ends) == {"committed", "SELECT item"}
    assert 10 <= ends["SELECT item"] <= 60


def test_payments_for_others_and_by_name() -> None:
    source = workload(warehouses=50, only="payment")
    remote = by_name = 0
    for number in range(3_000):
        statements = {s.label: s for s in statements_of(source.transaction(number % 5))}
        home = statements["UPDATE district"].lock_keys[0][11:20]
        paying = statements["SELECT customer FOR UPDATE"].lock_keys[0][11:20]
        remote += home != paying
        by_name += "SELECT customer BY NAME" in statements
    assert remote / 3_000 == pytest.approx(0.15, abs=0.03)
    assert by_name / 3_000 == pytest.approx(0.60, abs=0.04)


def test_a_lone_warehouse_has_no_customers_elsewhere() -> None:
    source = workload(warehouses=1, only="payment")
    for _ in range(200):
        statements = {s.label: s for s in statements_of(source.transaction(0))}
        home = statements["UPDATE district"].lock_keys[0][11:29]
        assert statements["SELECT customer FOR UPDATE"].lock_keys[0][11:29] == home


def test_order_lines_are_uniform_and_customers_are_skewed_as_drawn() -> None:
    lines = Counter(
        lines_of(w, d, o) for w in range(1, 9) for d in range(1, 11) for o in range(500)
    )
    assert sorted(lines) == list(range(5, 16))
    assert max(lines.values()) / min(lines.values()) < 1.1
    customers = [customer_of(w, 1, o) for w in range(1, 9) for o in range(500)]
    assert min(customers) >= 1
    assert max(customers) <= 3_000


def test_all_keys_lie_inside_their_tables() -> None:
    source = workload(warehouses=2)
    client = lone_client(source)
    starts = [table.start_key for table in source.tables()]
    for number in range(400):
        for key in client.run(source.transaction(number)):
            assert starts[0] <= key < starts[-1] + b"\xff"
    indexes = [(schema.ORDERS, 1), (schema.HISTORY, 1), (schema.HISTORY, 2)]
    for table_id, index_id in indexes:
        prefix = index_prefix(table_id, index_id)
        assert any(key.startswith(prefix) for key in client.rows)


def test_memory_does_not_grow_with_the_transactions() -> None:
    source = workload(warehouses=2)
    client = lone_client(source)

    def run(transactions: int) -> None:
        for number in range(transactions):
            client.run(source.transaction(number % 5))
        client.rows.clear()
        gc.collect()  # also gives up the interpreter's free lists of tuples

    run(1_000)  # until the streams' blocks have their full size and all districts are known
    tracemalloc.start()
    run(200)
    after_200, _ = tracemalloc.get_traced_memory()
    run(1_000)
    after_1_200, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after_1_200 - after_200 < 20_000


def test_generation_is_light_enough_for_the_hot_path() -> None:
    source = workload(warehouses=1_000)

    def generate() -> None:
        for number in range(2_000):
            statements_of(source.transaction(number % 50))

    assert calls_of(generate) < 110 * 2_000


def test_stock_level_looks_up_the_stock_of_two_hundred_lines() -> None:
    source = TpccWorkload(3, Streams(1, replication=0), {"stock_level": 1})
    _, join = statements_of(source.transaction(0))
    lines, stock = join.reads
    assert lines.rows == schema.RECENT_LINES
    assert len(set(stock.keys)) == schema.RECENT_LINES
    assert len({key[:-9] for key in stock.keys}) == 1, "of the home warehouse"
    assert [len(task) for task in stock.tasks()] == [32, 64, 104]
    assert [task for each in lines.tasks() for task in each] == list(lines.keys)


def test_order_status_looks_up_all_who_bear_a_name() -> None:
    source = TpccWorkload(3, Streams(1, replication=0), {"order_status": 1})
    looked_up = Counter[int]()
    for _ in range(200):
        statements = statements_of(source.transaction(0))
        reads = [read for statement in statements for read in statement.reads]
        [*of_name, order] = [read for read in reads if read.kind is ReadKind.LOOKUP]
        assert len(order.keys) == 1
        looked_up[sum(len(read.keys) for read in of_name)] += 1
    assert set(looked_up) == {0, 3}
    assert 0.5 < looked_up[3] / looked_up.total() < 0.7
