"""OrderStatus and StockLevel (TPC-C 2.6, 2.8): no locks, no mutations; 4 % of the mix each.

A condition on an index that does not hold all columns is an index scan and then a lookup of the
rows (TiDB's IndexLookUp). StockLevel's query hints an index join: the lines of the district's last
orders are scanned, and their stock is looked up row by row.

Source: pingcap/go-tpc tpcc/order_status.go, tpcc/stock_level.go.
"""

from collections.abc import Generator

from sim.protocol.keys import encoded_ints
from sim.workload.statement import Payloads, Read, ReadKind, Statement, Transaction
from sim.workload.tpcc import keys
from sim.workload.tpcc.orders import Orders, lines_of
from sim.workload.tpcc.payment import Customer
from sim.workload.tpcc.schema import CUSTOMERS, RECENT_LINES, RECENT_ORDERS


class OrderStatus(Transaction):
    """A customer asks for the last order."""

    name = "order_status"

    def __init__(self, orders: Orders, customer: Customer, age: int) -> None:
        self._orders = orders
        self._customer = customer
        self._age = age

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Yields four statements for a name, three for an id."""
        customer = self._customer
        w, d = customer.w, customer.d
        if customer.name is None:
            yield Statement("SELECT customer", (Read(ReadKind.GET, (customer.key(),), 1),))
        else:
            scan = customer.name_range()
            yield Statement("SELECT count customer BY NAME", (scan,))
            yield Statement("SELECT customer BY NAME", (scan, customer.of_name()))
        # A district's 3,000 customers have about one of its newest 3,000 orders each.
        o = max(1, self._orders.next_of(w, d) - 1 - self._age % CUSTOMERS)
        w_d_o = encoded_ints((w, d, o))
        of_customer = keys.IDX_ORDER + encoded_ints((w, d, customer.c))
        yield Statement(
            "SELECT orders",
            (
                Read(ReadKind.COP, (of_customer, of_customer + keys.AFTER), 1),
                Read(ReadKind.LOOKUP, (keys.ORDERS + w_d_o,), 1),
            ),
        )
        lines = lines_of(w, d, o)
        prefix = keys.ORDER_LINE + w_d_o
        bounds = (prefix + keys.LINE[1], prefix + keys.LINE[lines])
        yield Statement("SELECT order_line", (Read(ReadKind.COP, bounds, lines),))


class StockLevel(Transaction):
    """How many items of a district's last 20 orders run low."""

    name = "stock_level"

    def __init__(
        self, orders: Orders, item_keys: keys.ItemKeys, district: tuple[int, int], items: list[int]
    ) -> None:
        self._orders = orders
        self._item_keys = item_keys
        self._w, self._d = district
        self._items = items

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Yields the district's next order id, then the join of lines and stock."""
        w, d = self._w, self._d
        district = keys.DISTRICT + encoded_ints((w, d))
        yield Statement("SELECT district", (Read(ReadKind.GET, (district,), 1),))
        o = self._orders.next_of(w, d)
        lines = keys.ORDER_LINE
        of_orders = (
            lines + encoded_ints((w, d, o - RECENT_ORDERS)),
            lines + encoded_ints((w, d, o)),
        )
        prefix, parts = keys.STOCK + encoded_ints((w,)), self._item_keys.stock_parts
        stock = tuple([prefix + parts[item] for item in self._items])
        yield Statement(
            "SELECT order_line, stock",
            (
                Read(ReadKind.COP, of_orders, RECENT_LINES),
                Read(ReadKind.LOOKUP, stock, len(stock)),
            ),
        )
