"""Where the loaded TPC-C rows lie: the key of the n-th row of each table and index.

Everything is a function of the number of warehouses; nothing is stored per row. Warehouses follow
each other in every table; the hidden handles of ``history`` were given out in load order, which is
by warehouse as well.
"""

from collections.abc import Callable
from itertools import groupby
from typing import Final

from sim.protocol.keys import encoded_ints
from sim.workload.layout import Segment, Table, read_evenly, rows_by_handle, stored_bytes
from sim.workload.tpcc import keys, schema
from sim.workload.tpcc.draws import customer_parts, stock_parts
from sim.workload.tpcc.schema import CUSTOMERS, DISTRICTS, FIRST_UNDELIVERED, ITEMS, LINES

_NAMES_IN_ORDER: Final = tuple(sorted(schema.LAST_NAMES))

_READ_PARTS: Final = {"stock": stock_parts, "customer": customer_parts}

_UNDELIVERED: Final = schema.FIRST_NEW_ORDER - FIRST_UNDELIVERED
"""Loaded rows of ``new_order`` in one district."""


def tables(warehouses: int) -> tuple[Table, ...]:
    """Returns the tables of so many warehouses, in key order."""
    districts, customers = warehouses * DISTRICTS, warehouses * DISTRICTS * CUSTOMERS
    undelivered = districts * _UNDELIVERED
    named, history = schema.IDX_CUSTOMER_KEY_BYTES, schema.IDX_HISTORY_BYTES
    numbered, of_order = _numbered(CUSTOMERS, 1), _numbered(_UNDELIVERED, FIRST_UNDELIVERED)
    segments = (
        rows_by_handle("warehouse", schema.WAREHOUSE, warehouses, schema.WAREHOUSE_BYTES),
        _keyed("district", keys.DISTRICT, districts, 29, schema.DISTRICT_BYTES, _district),
        _keyed(
            "customer.idx_customer", keys.IDX_CUSTOMER, customers, named, schema.IDX_CUSTOMER_BYTES,
            _name,
        ),
        _keyed("customer", keys.CUSTOMER, customers, 38, schema.CUSTOMER_BYTES, numbered),
        _keyed("history.idx_h_w_id", keys.IDX_H_W_ID, customers, 37, history, _history),
        _keyed("history.idx_h_c_w_id", keys.IDX_H_C_W_ID, customers, 37, history, _history),
        rows_by_handle("history", schema.HISTORY, customers, schema.HISTORY_BYTES),
        _keyed("new_order", keys.NEW_ORDER, undelivered, 38, schema.NEW_ORDER_BYTES, of_order),
        _keyed("orders.idx_order", keys.IDX_ORDER, customers, 82, schema.IDX_ORDER_BYTES, numbered),
        _keyed("orders", keys.ORDERS, customers, 38, schema.ORDERS_BYTES, numbered),
        _keyed(
            "order_line", keys.ORDER_LINE, customers * LINES, 47, schema.DELIVERED_LINE_BYTES, _line
        ),
        _keyed("stock", keys.STOCK, warehouses * ITEMS, 29, schema.STOCK_BYTES, _stock),
        rows_by_handle("item", schema.ITEM, ITEMS, schema.ITEM_BYTES),
    )  # fmt: skip
    by_table = groupby(segments, key=lambda segment: segment.name.partition(".")[0])
    return tuple(_table(name, tuple(of_table)) for name, of_table in by_table)


def _table(name: str, segments: tuple[Segment, ...]) -> Table:
    """Returns a table; its keys begin with the record prefix less the two bytes ``_r``."""
    start_key = segments[-1].start_key[:-2]
    reads = schema.SCATTERED_READS.get(name, 0.0)
    return Table(name, start_key, segments, reads, _READ_PARTS.get(name, read_evenly))


def _keyed(
    name: str,
    prefix: bytes,
    rows: int,
    key_bytes: int,
    value_bytes: int,
    columns: Callable[[int], bytes],
) -> Segment:
    """Returns a segment whose n-th key is its prefix and ``columns(n)``."""
    row_bytes = stored_bytes(key_bytes, value_bytes)
    return Segment(name, prefix, rows, row_bytes, lambda row: prefix + columns(row), value_bytes)


def _of_district(row: int, rows_per_district: int) -> tuple[int, int, int]:
    """Returns warehouse and district, from 1, and the row inside it, from 0."""
    district, rest = divmod(row, rows_per_district)
    w, d = divmod(district, DISTRICTS)
    return w + 1, d + 1, rest


def _district(row: int) -> bytes:
    return encoded_ints(_of_district(row, 1)[:2])


def _numbered(rows_per_district: int, first: int) -> Callable[[int], bytes]:
    """Returns the columns of rows that have a number in their district, from ``first`` on."""

    def columns(row: int) -> bytes:
        w, d, number = _of_district(row, rows_per_district)
        return encoded_ints((w, d, first + number))

    return columns


def _name(row: int) -> bytes:
    w, d, customer = _of_district(row, CUSTOMERS)
    return encoded_ints((w, d)) + _NAMES_IN_ORDER[customer * len(_NAMES_IN_ORDER) // CUSTOMERS]


def _history(row: int) -> bytes:
    w, _, _ = _of_district(row, CUSTOMERS)
    return encoded_ints((w, row + 1))


def _line(row: int) -> bytes:
    w, d, line = _of_district(row, CUSTOMERS * LINES)
    return encoded_ints((w, d, line // LINES + 1, line % LINES + 1))


def _stock(row: int) -> bytes:
    w, item = divmod(row, ITEMS)
    return encoded_ints((w + 1, item + 1))
