"""Delivery (TPC-C 2.7), 25 statements; 4 % of the mix.

go-tpc delivers one order of each of the ten districts in one transaction. The oldest undelivered
order is chosen under lock: when another Delivery was faster, the try fails with a write conflict
and the choice is made again. 130 keys are above the limits of async commit, so this is the one
transaction with an ordinary two-phase commit.

Source: pingcap/go-tpc tpcc/delivery.go.
"""

from collections.abc import Generator
from dataclasses import dataclass

from sim.protocol.keys import encoded_ints
from sim.protocol.mvcc import DELETE, PUT
from sim.protocol.percolator import Mutation
from sim.workload.statement import Payloads, Read, ReadKind, Statement, Transaction
from sim.workload.tpcc import keys
from sim.workload.tpcc.orders import Orders, customer_of, lines_of
from sim.workload.tpcc.schema import (
    CUSTOMER_BYTES,
    DELIVERED_LINE_BYTES,
    DELIVERED_ORDERS_BYTES,
    DISTRICTS,
)


@dataclass(eq=False)
class OldestOrder:
    """``SELECT no_o_id ... ORDER BY no_o_id LIMIT 1 FOR UPDATE`` of one district."""

    orders: Orders
    w: int
    d: int
    o: int = 0
    """The order that the last try chose; 0 for none."""

    def keys(self) -> tuple[bytes, ...]:
        """Returns the row of ``new_order`` to lock now; empty when all is delivered."""
        self.o = self.orders.oldest_undelivered(self.w, self.d) or 0
        return (keys.NEW_ORDER + encoded_ints((self.w, self.d, self.o)),) if self.o else ()


class Delivery(Transaction):
    """Ten orders of one warehouse, one a district."""

    name = "delivery"

    def __init__(self, orders: Orders, w: int) -> None:
        self._orders = orders
        self._w = w
        self._chosen: list[OldestOrder] = []

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Yields the statements; what is delivered depends on the state when each select runs."""
        w = self._w
        chosen = [OldestOrder(self._orders, w, d + 1) for d in range(DISTRICTS)]
        for oldest in chosen:
            prefix = keys.NEW_ORDER + encoded_ints((w, oldest.d))
            scan = Read(ReadKind.COP, (prefix, prefix + keys.AFTER), 1)
            label = "SELECT new_order FOR UPDATE"
            yield Statement(label, (scan,), fresh_ts=True, select=oldest.keys)
        self._chosen = chosen = [oldest for oldest in chosen if oldest.o]
        if not chosen:
            return
        parts = [encoded_ints((w, oldest.d, oldest.o)) for oldest in chosen]
        yield from self._deliver(parts)
        yield from self._deliver_lines(parts)
        for oldest in chosen:
            customer = customer_of(w, oldest.d, oldest.o)
            key = keys.CUSTOMER + encoded_ints((w, oldest.d, customer))
            billed = Mutation(key, PUT, CUSTOMER_BYTES)
            yield Statement("UPDATE customer", (), (key,), (billed,), returns_values=True)

    def committed(self) -> None:
        """The orders are delivered: the next Delivery takes later ones."""
        for oldest in self._chosen:
            self._orders.delivered(self._w, oldest.d, oldest.o)

    def _deliver(self, parts: list[bytes]) -> Generator[Statement, Payloads, None]:
        waiting = tuple([keys.NEW_ORDER + part for part in parts])
        yield Statement(
            "DELETE new_order",
            (Read(ReadKind.BATCH_GET, waiting, len(waiting)),),
            (),
            tuple([Mutation(key, DELETE) for key in waiting]),
        )
        orders = tuple([keys.ORDERS + part for part in parts])
        yield Statement(
            "UPDATE orders",
            (),
            orders,
            tuple([Mutation(key, PUT, DELIVERED_ORDERS_BYTES) for key in orders]),
            returns_values=True,
        )
        yield Statement("SELECT orders")

    def _deliver_lines(self, parts: list[bytes]) -> Generator[Statement, Payloads, None]:
        rows: list[bytes] = []
        bounds: list[bytes] = []
        for oldest, part in zip(self._chosen, parts, strict=True):
            prefix = keys.ORDER_LINE + part
            lines = lines_of(self._w, oldest.d, oldest.o)
            bounds += (prefix + keys.LINE[1], prefix + keys.LINE[lines])
            rows += [prefix + line for line in keys.LINE[1 : lines + 1]]
        scan = Read(ReadKind.COP, tuple(bounds), len(rows))
        yield Statement(
            "UPDATE order_line",
            (scan,),
            tuple(rows),
            tuple([Mutation(row, PUT, DELIVERED_LINE_BYTES) for row in rows]),
            fresh_ts=True,
        )
        yield Statement("SELECT order_line", (scan,))
