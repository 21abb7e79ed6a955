"""OrderStatus and StockLevel (TPC-C 2.6, 2.8): no locks, no mutations; 4 % of the mix each.

A condition on an index that does not hold all columns is an index scan and then a fetch of the
rows, two coprocessor requests one after the other (TiDB's IndexLookUp).

Source: pingcap/go-tpc tpcc/order_status.go, tpcc/stock_level.go.
"""

from collections.abc import Generator
from typing import Final

from sim.protocol.keys import encoded_ints
from sim.workload.statement import Payloads, Read, ReadKind, Statement, Transaction
from sim.workload.tpcc import keys
from sim.workload.tpcc.orders import Orders, lines_of
from sim.workload.tpcc.payment import NAMESAKES, Customer
from sim.workload.tpcc.schema import CUSTOMERS, ITEMS, LINES

_RECENT_ORDERS: Final = 20
"""Orders whose lines StockLevel looks at."""


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
        row = (customer.key(),)
        if customer.name is None:
            yield Statement("SELECT customer", (Read(ReadKind.GET, row, 1),))
        else:
            scan = customer.name_range()
            yield Statement("SELECT count customer BY NAME", (scan,))
            rows = Read(ReadKind.COP, row, NAMESAKES)
            yield Statement("SELECT customer BY NAME", (scan, rows))
        # A district's 3,000 customers have about one of its newest 3,000 orders each.
        o = max(1, self._orders.next_of(w, d) - 1 - self._age % CUSTOMERS)
        w_d_o = encoded_ints((w, d, o))
        of_customer = keys.IDX_ORDER + encoded_ints((w, d, customer.c))
        yield Statement(
            "SELECT orders",
            (
                Read(ReadKind.COP, (of_customer, of_customer + keys.AFTER), 1),
                Read(ReadKind.COP, (keys.ORDERS + w_d_o,), 1),
            ),
        )
        lines = lines_of(w, d, o)
        prefix = keys.ORDER_LINE + w_d_o
        bounds = (prefix + keys.LINE[1], prefix + keys.LINE[lines])
        yield Statement("SELECT order_line", (Read(ReadKind.COP, bounds, lines),))


class StockLevel(Transaction):
    """How many items of a district's last 20 orders run low."""

    name = "stock_level"

    def __init__(self, orders: Orders, district: tuple[int, int]) -> None:
        self._orders = orders
        self._w, self._d = district

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Yields the district's next order id, then the join of lines and stock."""
        w, d = self._w, self._d
        district = keys.DISTRICT + encoded_ints((w, d))
        yield Statement("SELECT district", (Read(ReadKind.GET, (district,), 1),))
        o = self._orders.next_of(w, d)
        lines = keys.ORDER_LINE
        of_orders = (
            lines + encoded_ints((w, d, o - _RECENT_ORDERS)),
            lines + encoded_ints((w, d, o)),
        )
        stock = keys.STOCK
        of_warehouse = (stock + encoded_ints((w, 1)), stock + encoded_ints((w, ITEMS)))
        rows = _RECENT_ORDERS * LINES
        yield Statement(
            "SELECT order_line, stock",
            (Read(ReadKind.COP, of_orders, rows), Read(ReadKind.COP, of_warehouse, rows)),
        )
