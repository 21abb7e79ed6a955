"""TPC-C with go-tpc's transactions and weights; whichever client begins next takes the next one.

Warehouses are uniform for every transaction; clients are not bound to one. All draws of a
transaction are made when it is created, in a number that depends on earlier draws only, so that a
unit's n-th transaction is the same in two variants of a scenario (common random numbers). Ids
that depend on the order of events (orders, history handles) are given out while it runs.

Kinds come from a shuffled deck, as TPC-C allows (5.2.4.2), so that a short run has the mix that a
long one has; go-tpc draws each transaction for itself.

Source: pingcap/go-tpc tpcc/workload.go (weights, no think time).
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import Final

from sim.streams import Stream, Streams
from sim.workload.layout import Table
from sim.workload.statement import Transaction
from sim.workload.tpcc.delivery import Delivery
from sim.workload.tpcc.draws import Draws
from sim.workload.tpcc.keys import item_keys
from sim.workload.tpcc.new_order import NewOrder
from sim.workload.tpcc.orders import Orders
from sim.workload.tpcc.payment import Customer, Payment, namesakes
from sim.workload.tpcc.queries import OrderStatus, StockLevel
from sim.workload.tpcc.schema import CUSTOMERS, DISTRICTS, MOST_LINES, RECENT_LINES
from sim.workload.tpcc.segments import tables as tpcc_tables

DEFAULT_MIX: Final = {
    "new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4
}  # fmt: skip
"""Weights (pingcap/go-tpc cmd/go-tpc/tpcc.go)."""

ROLLBACKS: Final = 0.01
"""Of all NewOrders: an item that does not exist."""

BY_NAME: Final = 0.60
"""Of all Payments and OrderStatuses: the customer is given by last name."""

REMOTE: Final = 0.15
"""Of all Payments: the customer belongs to another warehouse."""

BAD_CREDIT: Final = 0.10
"""Of all customers (TPC-C 4.3.3.1)."""

CARDS: Final = 100
"""Of a deck: few enough for a tenth of a second to have the mix, enough for kinds to come in a row
as they do by chance."""


class TpccWorkload:
    """Draws TPC-C transactions for any number of clients."""

    def __init__(
        self, warehouses: int, streams: Streams, mix: Mapping[str, float] | None = None
    ) -> None:
        weights = [float((mix or DEFAULT_MIX).get(name, 0)) for name in DEFAULT_MIX]
        assert sum(weights) > 0, f"the mix has no weight: {mix}"
        self.warehouses = warehouses
        self._thresholds = tuple(part / sum(weights) for part in accumulate(weights))
        self._stream = streams.stream("workload/tpcc")
        self._deck = _Deck(streams.stream("workload/tpcc-deck"))
        self._draws = Draws(warehouses, streams.stream("workload/tpcc-constants"))
        self._item_keys = item_keys()
        self._orders = Orders()
        self._next_handle = warehouses * DISTRICTS * CUSTOMERS

    def tables(self) -> tuple[Table, ...]:
        """Returns the nine tables in key order."""
        return tpcc_tables(self.warehouses)

    def transaction(self, client_id: int) -> Transaction:
        """Draws the next transaction, whoever asks for it."""
        del client_id
        stream = self._stream
        chance = self._deck.chance()
        new_order, payment, order_status, delivery, _ = self._thresholds
        if chance < new_order:
            return self._new_order(stream)
        if chance < payment:
            return self._payment(stream)
        if chance < order_status:
            return self._order_status(stream)
        if chance < delivery:
            return Delivery(self._orders, self._draws.warehouse(stream))
        return self._stock_level(stream)

    def _new_order(self, stream: Stream) -> Transaction:
        draws = self._draws
        return NewOrder(
            self._orders,
            self._item_keys,
            draws.district(stream),
            draws.customer(stream),
            draws.items(stream, MOST_LINES),
            stream.random() < ROLLBACKS,
        )

    def _payment(self, stream: Stream) -> Transaction:
        district = self._draws.district(stream)
        w, d = district
        if stream.random() < REMOTE and self.warehouses > 1:
            w, d = self._draws.other_district(stream, w)
        customer = self._customer(stream, w, d)
        self._next_handle += 1
        return Payment(district, customer, stream.random() < BAD_CREDIT, self._next_handle)

    def _order_status(self, stream: Stream) -> Transaction:
        customer = self._customer(stream, *self._draws.district(stream))
        return OrderStatus(self._orders, customer, stream.randint(0, CUSTOMERS - 1))

    def _stock_level(self, stream: Stream) -> Transaction:
        district = self._draws.district(stream)
        items = self._draws.items(stream, RECENT_LINES)
        return StockLevel(self._orders, self._item_keys, district, items)

    def _customer(self, stream: Stream, w: int, d: int) -> Customer:
        """Draws a customer of a district, 60 % of them by last name.

        Which of the namesakes is in the middle is fixed by name and district, as it is in a
        database whose customers do not change their names.
        """
        if stream.random() >= BY_NAME:
            return Customer(w, d, self._draws.customer(stream), None)
        name = self._draws.name(stream)
        return Customer(w, d, namesakes(name)[(name + w + d) % 3], name)


class _Deck:
    """Uniform numbers in [0, 1), one in each ``CARDS``-th part of it before any has a second."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._cards: list[int] = []

    def chance(self) -> float:
        """Returns the next one."""
        if not self._cards:
            self._cards = self._shuffled()
        return (self._cards.pop() + self._stream.random()) / CARDS

    def _shuffled(self) -> list[int]:
        """Returns the cards in an order of which each is equally likely (Fisher and Yates)."""
        cards = list(range(CARDS))
        for last in range(CARDS - 1, 0, -1):
            other = self._stream.randint(0, last)
            cards[last], cards[other] = cards[other], cards[last]
        return cards
