"""Where the loaded TPC-C rows lie: the key of the n-th row of each table and index.

Everything is a function of the number of warehouses; nothing is stored per row. Warehouses follow
each other in every table; the hidden handles of ``history`` were given out in load order, which is
by warehouse as well.
"""

from collections.abc import Callable
from typing import Final

from sim.protocol.keys import index_key, index_prefix, record_key, record_prefix, row_key
from sim.workload.layout import Segment, Table, stored_bytes
from sim.workload.tpcc import schema
from sim.workload.tpcc.schema import CUSTOMERS, DISTRICTS, FIRST_UNDELIVERED, ITEMS, LINES

_NAMES_IN_ORDER: Final = tuple(sorted(schema.LAST_NAMES))

_UNDELIVERED: Final = schema.FIRST_NEW_ORDER - FIRST_UNDELIVERED
"""Loaded rows of ``new_order`` in one district."""


def tables(warehouses: int) -> tuple[Table, ...]:
    """Returns the tables of so many warehouses, in key order."""
    return (
        _table("warehouse", schema.WAREHOUSE, warehouses, (_warehouse,)),
        _table("district", schema.DISTRICT, warehouses, (_district,)),
        _table("customer", schema.CUSTOMER, warehouses, (_idx_customer, _customer)),
        _table("history", schema.HISTORY, warehouses, (_idx_h_w_id, _idx_h_c_w_id, _history)),
        _table("new_order", schema.NEW_ORDER, warehouses, (_new_order,)),
        _table("orders", schema.ORDERS, warehouses, (_idx_order, _orders)),
        _table("order_line", schema.ORDER_LINE, warehouses, (_order_line,)),
        _table("stock", schema.STOCK, warehouses, (_stock,)),
        _table("item", schema.ITEM, 1, (_item,)),
    )


def _table(
    name: str, table_id: int, warehouses: int, segments: tuple[Callable[[int], Segment], ...]
) -> Table:
    """Returns a table; its keys begin with the record prefix less the two bytes ``_r``."""
    start_key = record_prefix(table_id)[:-2]
    made = tuple(segment(warehouses) for segment in segments)
    return Table(name, start_key, made, schema.SCATTERED_READS.get(name, 0.0))


def _of_district(row: int, rows_per_district: int) -> tuple[int, int, int]:
    """Returns warehouse and district, from 1, and the row inside it, from 0."""
    district, rest = divmod(row, rows_per_district)
    w, d = divmod(district, DISTRICTS)
    return w + 1, d + 1, rest


def _warehouse(warehouses: int) -> Segment:
    return Segment(
        "warehouse",
        record_prefix(schema.WAREHOUSE),
        rows=warehouses,
        row_bytes=stored_bytes(19, schema.WAREHOUSE_BYTES),
        key_of_row=lambda row: row_key(schema.WAREHOUSE, row + 1),
    )


def _district(warehouses: int) -> Segment:
    return Segment(
        "district",
        record_prefix(schema.DISTRICT),
        rows=warehouses * DISTRICTS,
        row_bytes=stored_bytes(29, schema.DISTRICT_BYTES),
        key_of_row=lambda row: record_key(schema.DISTRICT, *_of_district(row, 1)[:2]),
    )


def _idx_customer(warehouses: int) -> Segment:
    def key_of_row(row: int) -> bytes:
        w, d, customer = _of_district(row, CUSTOMERS)
        name = _NAMES_IN_ORDER[customer * len(_NAMES_IN_ORDER) // CUSTOMERS]
        return index_key(schema.CUSTOMER, schema.IDX_CUSTOMER, w, d) + name

    return Segment(
        "customer.idx_customer",
        index_prefix(schema.CUSTOMER, schema.IDX_CUSTOMER),
        rows=warehouses * DISTRICTS * CUSTOMERS,
        row_bytes=stored_bytes(schema.IDX_CUSTOMER_KEY_BYTES, schema.IDX_CUSTOMER_BYTES),
        key_of_row=key_of_row,
    )


def _customer(warehouses: int) -> Segment:
    def key_of_row(row: int) -> bytes:
        w, d, customer = _of_district(row, CUSTOMERS)
        return record_key(schema.CUSTOMER, w, d, customer + 1)

    return Segment(
        "customer",
        record_prefix(schema.CUSTOMER),
        rows=warehouses * DISTRICTS * CUSTOMERS,
        row_bytes=stored_bytes(38, schema.CUSTOMER_BYTES),
        key_of_row=key_of_row,
    )


def _idx_h_w_id(warehouses: int) -> Segment:
    return _idx_history(warehouses, "history.idx_h_w_id", schema.IDX_H_W_ID)


def _idx_h_c_w_id(warehouses: int) -> Segment:
    return _idx_history(warehouses, "history.idx_h_c_w_id", schema.IDX_H_C_W_ID)


def _idx_history(warehouses: int, name: str, index_id: int) -> Segment:
    def key_of_row(row: int) -> bytes:
        w, _, _ = _of_district(row, CUSTOMERS)
        return index_key(schema.HISTORY, index_id, w, row + 1)

    return Segment(
        name,
        index_prefix(schema.HISTORY, index_id),
        rows=warehouses * DISTRICTS * CUSTOMERS,
        row_bytes=stored_bytes(37, schema.IDX_HISTORY_BYTES),
        key_of_row=key_of_row,
    )


def _history(warehouses: int) -> Segment:
    return Segment(
        "history",
        record_prefix(schema.HISTORY),
        rows=warehouses * DISTRICTS * CUSTOMERS,
        row_bytes=stored_bytes(19, schema.HISTORY_BYTES),
        key_of_row=lambda row: row_key(schema.HISTORY, row + 1),
    )


def _new_order(warehouses: int) -> Segment:
    def key_of_row(row: int) -> bytes:
        w, d, order = _of_district(row, _UNDELIVERED)
        return record_key(schema.NEW_ORDER, w, d, FIRST_UNDELIVERED + order)

    return Segment(
        "new_order",
        record_prefix(schema.NEW_ORDER),
        rows=warehouses * DISTRICTS * _UNDELIVERED,
        row_bytes=stored_bytes(38, schema.NEW_ORDER_BYTES),
        key_of_row=key_of_row,
    )


def _idx_order(warehouses: int) -> Segment:
    def key_of_row(row: int) -> bytes:
        w, d, customer = _of_district(row, CUSTOMERS)
        return index_key(schema.ORDERS, schema.IDX_ORDER, w, d, customer + 1)

    return Segment(
        "orders.idx_order",
        index_prefix(schema.ORDERS, schema.IDX_ORDER),
        rows=warehouses * DISTRICTS * CUSTOMERS,
        row_bytes=stored_bytes(82, schema.IDX_ORDER_BYTES),
        key_of_row=key_of_row,
    )


def _orders(warehouses: int) -> Segment:
    def key_of_row(row: int) -> bytes:
        w, d, order = _of_district(row, CUSTOMERS)
        return record_key(schema.ORDERS, w, d, order + 1)

    return Segment(
        "orders",
        record_prefix(schema.ORDERS),
        rows=warehouses * DISTRICTS * CUSTOMERS,
        row_bytes=stored_bytes(38, schema.ORDERS_BYTES),
        key_of_row=key_of_row,
    )


def _order_line(warehouses: int) -> Segment:
    def key_of_row(row: int) -> bytes:
        w, d, line = _of_district(row, CUSTOMERS * LINES)
        return record_key(schema.ORDER_LINE, w, d, line // LINES + 1, line % LINES + 1)

    return Segment(
        "order_line",
        record_prefix(schema.ORDER_LINE),
        rows=warehouses * DISTRICTS * CUSTOMERS * LINES,
        row_bytes=stored_bytes(47, schema.DELIVERED_LINE_BYTES),
        key_of_row=key_of_row,
    )


def _stock(warehouses: int) -> Segment:
    def key_of_row(row: int) -> bytes:
        w, item = divmod(row, ITEMS)
        return record_key(schema.STOCK, w + 1, item + 1)

    return Segment(
        "stock",
        record_prefix(schema.STOCK),
        rows=warehouses * ITEMS,
        row_bytes=stored_bytes(29, schema.STOCK_BYTES),
        key_of_row=key_of_row,
    )


def _item(copies: int) -> Segment:
    return Segment(
        "item",
        record_prefix(schema.ITEM),
        rows=copies * ITEMS,
        row_bytes=stored_bytes(19, schema.ITEM_BYTES),
        key_of_row=lambda row: row_key(schema.ITEM, row + 1),
    )
