"""NewOrder (TPC-C 2.4), 18 statements at ten lines; 45 % of the mix.

The district row comes first and is the primary; it hands out the order id, so its payload is the
next id and everything after depends on what the lock returned. One in a hundred orders names an
item that does not exist: found out after the item SELECT, rolled back with three keys locked.
Stock is always that of the home warehouse: go-tpc changes only the supplying warehouse's column.

Source: pingcap/go-tpc tpcc/new_order.go.
"""

from collections.abc import Generator
from dataclasses import dataclass

from sim.protocol.keys import encoded_ints, row_key
from sim.protocol.mvcc import PUT
from sim.protocol.percolator import Mutation
from sim.workload.statement import ROLLBACK, Payloads, Read, ReadKind, Statement, Transaction
from sim.workload.tpcc import keys
from sim.workload.tpcc.orders import Orders, lines_of
from sim.workload.tpcc.schema import (
    DISTRICT_BYTES,
    FIRST_NEW_ORDER,
    IDX_ORDER_BYTES,
    NEW_ORDER_BYTES,
    ORDER_LINE_BYTES,
    ORDERS_BYTES,
    STOCK_BYTES,
    WAREHOUSE,
)


@dataclass(eq=False)
class NewOrder(Transaction):
    """One order of one customer of a district."""

    orders: Orders
    item_keys: keys.ItemKeys
    district: tuple[int, int]
    c: int
    items: list[int]
    rolls_back: bool
    o: int = 0
    name: str = "new_order"

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Yields the statements; the order's id is the district row's payload."""
        w, d = self.district
        w_d = encoded_ints((w, d))
        district = keys.DISTRICT + w_d
        yield Statement(
            "SELECT customer, warehouse",
            (
                Read(ReadKind.GET, (keys.CUSTOMER + encoded_ints((w, d, self.c)),), 1),
                Read(ReadKind.GET, (row_key(WAREHOUSE, w),), 1),
            ),
        )
        (next_order,) = yield Statement(
            "SELECT district FOR UPDATE", (), (district,), returns_values=True
        )
        o = FIRST_NEW_ORDER if next_order is None else next_order
        assert isinstance(o, int), f"the payload of {district!r} is {next_order!r}, not an order id"
        self.o = o
        yield from self._insert_order(o, district, w_d)
        items = self.items[: lines_of(w, d, o)]
        rows = self.item_keys.rows
        item_rows = tuple([rows[item] for item in items])
        yield Statement("SELECT item", (Read(ReadKind.BATCH_GET, item_rows, len(items)),))
        if self.rolls_back:
            yield ROLLBACK
            return
        yield from self._take_from_stock(items)
        yield self._insert_lines(w_d + encoded_ints((o,)), len(items))

    def committed(self) -> None:
        """The order exists: the next Delivery may find it."""
        self.orders.placed(*self.district, self.o)

    def _insert_order(
        self, o: int, district: bytes, w_d: bytes
    ) -> Generator[Statement, Payloads, None]:
        w_d_o = encoded_ints((*self.district, o))
        order, new_order = keys.ORDERS + w_d_o, keys.NEW_ORDER + w_d_o
        idx_order = keys.IDX_ORDER + w_d + encoded_ints((self.c, o)) + w_d_o
        advanced = Mutation(district, PUT, DISTRICT_BYTES, o + 1)
        yield Statement("UPDATE district", (), (), (advanced,))
        yield Statement(
            "INSERT orders",
            (),
            (order,),
            (
                Mutation(order, PUT, ORDERS_BYTES),
                Mutation(idx_order, PUT, IDX_ORDER_BYTES, pessimistic_check=False),
            ),
            insert=True,
        )
        yield Statement(
            "INSERT new_order",
            (),
            (new_order,),
            (Mutation(new_order, PUT, NEW_ORDER_BYTES),),
            insert=True,
        )

    def _take_from_stock(self, items: list[int]) -> Generator[Statement, Payloads, None]:
        prefix = keys.STOCK + encoded_ints(self.district[:1])
        parts = self.item_keys.stock_parts
        stock = [prefix + parts[item] for item in items]
        yield Statement("SELECT stock FOR UPDATE", (), tuple(stock), returns_values=True)
        for key in stock:
            taken = Mutation(key, PUT, STOCK_BYTES)
            yield Statement("UPDATE stock", (), (), (taken,))

    def _insert_lines(self, w_d_o: bytes, lines: int) -> Statement:
        prefix = keys.ORDER_LINE + w_d_o
        rows = tuple([prefix + line for line in keys.LINE[1 : lines + 1]])
        return Statement(
            "INSERT order_line",
            (),
            rows,
            tuple([Mutation(row, PUT, ORDER_LINE_BYTES) for row in rows]),
            insert=True,
        )
