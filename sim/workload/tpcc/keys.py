"""TPC-C keys, built from parts that are made once.

A key is a prefix and encoded ints. The tables of one order share the ints (warehouse, district,
order), stock rows of one transaction share the warehouse, and line numbers and item ids are few:
so most keys cost one concatenation. The parts come from ``sim.protocol.keys``, which alone knows
the codec.
"""

from functools import cache
from itertools import repeat
from typing import Final

from sim.protocol.keys import encoded_ints, index_prefix, record_prefix, row_key
from sim.workload.tpcc import schema

DISTRICT: Final = record_prefix(schema.DISTRICT)
CUSTOMER: Final = record_prefix(schema.CUSTOMER)
NEW_ORDER: Final = record_prefix(schema.NEW_ORDER)
ORDERS: Final = record_prefix(schema.ORDERS)
ORDER_LINE: Final = record_prefix(schema.ORDER_LINE)
STOCK: Final = record_prefix(schema.STOCK)
IDX_CUSTOMER: Final = index_prefix(schema.CUSTOMER, schema.IDX_CUSTOMER)
IDX_ORDER: Final = index_prefix(schema.ORDERS, schema.IDX_ORDER)
IDX_H_W_ID: Final = index_prefix(schema.HISTORY, schema.IDX_H_W_ID)
IDX_H_C_W_ID: Final = index_prefix(schema.HISTORY, schema.IDX_H_C_W_ID)

LINE: Final = tuple(encoded_ints((line,)) for line in range(schema.MOST_LINES + 1))
"""The last part of an ``order_line`` key, by line number."""

AFTER: Final = b"\xff"
"""Appended to a prefix: a bound above all keys that begin with it."""


class ItemKeys:
    """Row keys of ``item``, and the last parts of ``stock`` keys, by item id.

    About 12 MB and 0.1 s, so a process makes them once: ``item_keys``.
    """

    def __init__(self) -> None:
        ids = range(schema.ITEMS + 1)
        self.rows = tuple(map(row_key, repeat(schema.ITEM), ids))
        self.stock_parts = tuple(map(encoded_ints, zip(ids, strict=True)))


@cache
def item_keys() -> ItemKeys:
    """Returns the keys of all items, which are the same for every workload."""
    return ItemKeys()
