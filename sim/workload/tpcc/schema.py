"""The nine TPC-C tables as go-tpc makes them on TiDB: ids, numbers of rows, sizes of values.

Clustered primary keys, so that a row's key is its primary key; ``history`` has none and takes a
hidden integer handle, ``warehouse`` and ``item`` have integer handles. Row values are row format v2
(tidb pkg/util/rowcodec) of the columns go-tpc fills, at their mean length; a fixed length per table
is enough, because the lengths of one table differ by less than a tenth.

Source: pingcap/go-tpc tpcc/ddl.go (CREATE TABLE), tpcc/load.go (contents).
"""

from typing import Final

DISTRICTS: Final = 10
"""Districts of one warehouse."""

CUSTOMERS: Final = 3_000
"""Customers, loaded orders and loaded history rows of one district."""

ITEMS: Final = 100_000
"""Items, and stock rows of one warehouse."""

FEWEST_LINES: Final = 5
MOST_LINES: Final = 15
LINES: Final = 10
"""Order lines of one order: uniform between the first two; the third is the mean."""

RECENT_ORDERS: Final = 20
RECENT_LINES: Final = RECENT_ORDERS * LINES
"""What StockLevel looks at: a district's newest orders and their lines. Hardly any two of these
lines have the same item."""

FIRST_UNDELIVERED: Final = 2_101
"""The loaded orders from this one on have a row in ``new_order``."""

FIRST_NEW_ORDER: Final = CUSTOMERS + 1
"""``d_next_o_id`` after loading."""

WAREHOUSE: Final = 100
DISTRICT: Final = 102
CUSTOMER: Final = 104
HISTORY: Final = 106
NEW_ORDER: Final = 108
ORDERS: Final = 110
ORDER_LINE: Final = 112
STOCK: Final = 114
ITEM: Final = 116
"""Table ids, in the order go-tpc creates the tables."""

IDX_CUSTOMER: Final = 1
IDX_H_W_ID: Final = 1
IDX_H_C_W_ID: Final = 2
IDX_ORDER: Final = 1
"""Index ids inside their tables."""

WAREHOUSE_BYTES: Final = 106
DISTRICT_BYTES: Final = 111
CUSTOMER_BYTES: Final = 597
ORDERS_BYTES: Final = 31
DELIVERED_ORDERS_BYTES: Final = 34
NEW_ORDER_BYTES: Final = 6
ORDER_LINE_BYTES: Final = 57
DELIVERED_LINE_BYTES: Final = 67
STOCK_BYTES: Final = 334
HISTORY_BYTES: Final = 75
ITEM_BYTES: Final = 82
"""Row values."""

IDX_ORDER_BYTES: Final = 3
IDX_CUSTOMER_BYTES: Final = 3
IDX_HISTORY_BYTES: Final = 1
"""Index values: common handles leave a version and a length, int handles a padding byte."""

IDX_CUSTOMER_KEY_BYTES: Final = 19 + 2 * 9 + 19 + 19 + 3 * 9
"""Prefix, two ints, ``c_last`` and ``c_first`` (two groups of 9 and a flag each), the handle."""

_SYLLABLES: Final = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")


def last_name(number: int) -> str:
    """Returns the customer name made of a number's three digits (TPC-C 4.3.2.3)."""
    return "".join(_SYLLABLES[digit] for digit in (number // 100, number // 10 % 10, number % 10))


def encoded_text(text: str) -> bytes:
    """Returns a string as TiDB's codec writes it: a flag, then groups of 8 padded with zeros.

    Source: pingcap/tidb pkg/util/codec/bytes.go (EncodeBytes).
    """
    raw = text.encode()
    groups = [raw[at : at + 8] for at in range(0, len(raw) + 1, 8)]
    return b"\x01" + b"".join(
        group.ljust(8, b"\0") + bytes([0xFF - 8 + len(group)]) for group in groups
    )


LAST_NAMES: Final = tuple(encoded_text(last_name(number)) for number in range(1_000))
"""Index columns by the number of the name."""

SCATTERED_READS: Final = {
    "stock": 0.45 * LINES + 0.04 * RECENT_LINES,
    "customer": 0.45
    + 0.43
    + 0.04 * DISTRICTS
    + 0.04 * (0.4 + 0.6 * (CUSTOMERS // len(LAST_NAMES))),
}
"""Rows read over a whole table, a transaction of go-tpc's mix. Orders and their lines are read
where the district's last reader has been, or has just written."""

CUSTOMERS_BY_ID: Final = (0.45 + 0.4 * (0.43 + 0.04)) / SCATTERED_READS["customer"]
"""Of the customers read, those whose id is drawn: by NewOrder, and 40 % of Payment's and
OrderStatus's."""
