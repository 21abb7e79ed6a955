"""Payment (TPC-C 2.5), 7.7 statements on average; 43 % of the mix.

The district row is the primary, then the warehouse row, the hottest of all: every Payment of a
warehouse holds it from the third statement to its commit. 15 % pay for a customer of another
warehouse, 60 % name the customer, 10 % of the customers have bad credit and their data is read.

Source: pingcap/go-tpc tpcc/payment.go.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

from sim.protocol.keys import encoded_ints, row_key
from sim.protocol.mvcc import PUT
from sim.protocol.percolator import Mutation
from sim.workload.statement import Payloads, Read, ReadKind, Statement, Transaction
from sim.workload.tpcc import keys
from sim.workload.tpcc.schema import (
    CUSTOMER_BYTES,
    CUSTOMERS,
    DISTRICT_BYTES,
    HISTORY,
    HISTORY_BYTES,
    IDX_HISTORY_BYTES,
    LAST_NAMES,
    WAREHOUSE,
    WAREHOUSE_BYTES,
)


def namesakes(name: int) -> tuple[int, ...]:
    """Returns the ids of a district's three customers (on average: TPC-C 4.3.3.1) of one name.

    The first thousand customers bear the names in turn; the others are taken to do so as well.
    """
    return tuple(range(name + 1, CUSTOMERS + 1, len(LAST_NAMES)))


class Customer(NamedTuple):
    """Who pays, or asks: a customer, perhaps known by last name only."""

    w: int
    """Warehouse."""
    d: int
    """District."""
    c: int
    """Customer id; for a name, the middle one of those who bear it."""
    name: int | None
    """Number of the last name, or None where the id is known."""

    def key(self) -> bytes:
        """Returns the key of the row."""
        return keys.CUSTOMER + encoded_ints((self.w, self.d, self.c))

    def of_name(self) -> Read:
        """Returns the lookup of all who bear the name."""
        assert self.name is not None, "a customer known by id is not looked up by name"
        w, d = self.w, self.d
        rows = [keys.CUSTOMER + encoded_ints((w, d, c)) for c in namesakes(self.name)]
        return Read(ReadKind.LOOKUP, tuple(rows), len(rows))

    def name_range(self) -> Read:
        """Returns the scan of ``idx_customer`` for all who bear the name."""
        assert self.name is not None, "a customer known by id is not looked up by name"
        first = keys.IDX_CUSTOMER + encoded_ints((self.w, self.d)) + LAST_NAMES[self.name]
        return Read(ReadKind.COP, (first, first + keys.AFTER), len(namesakes(self.name)))


@dataclass(eq=False)
class Payment(Transaction):
    """One payment through a district, for a customer who may live elsewhere."""

    district: tuple[int, int]
    customer: Customer
    bad_credit: bool
    handle: int
    name: str = "payment"

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Yields the statements; the district keeps the payload its row has."""
        district = keys.DISTRICT + encoded_ints(self.district)
        (next_order,) = yield Statement("UPDATE district", (), (district,), returns_values=True)
        # The new row depends on the old one, which has only now arrived: it joins the buffer with
        # this statement, which reads it there. Nobody can look into the buffer in between.
        paid = Mutation(district, PUT, DISTRICT_BYTES, next_order)
        yield Statement("SELECT district", (), (), (paid,))
        warehouse = row_key(WAREHOUSE, self.district[0])
        yield Statement(
            "UPDATE warehouse",
            (),
            (warehouse,),
            (Mutation(warehouse, PUT, WAREHOUSE_BYTES),),
            returns_values=True,
        )
        yield Statement("SELECT warehouse")
        yield from self._pay()
        yield self._insert_history()

    def _pay(self) -> Generator[Statement, Payloads, None]:
        customer = self.customer
        if customer.name is not None:
            yield Statement("SELECT customer BY NAME", (customer.name_range(),))
        key = customer.key()
        yield Statement("SELECT customer FOR UPDATE", (), (key,), returns_values=True)
        if self.bad_credit:
            yield Statement("SELECT customer", (Read(ReadKind.GET, (key,), 1),))
        paid = Mutation(key, PUT, CUSTOMER_BYTES)
        yield Statement("UPDATE customer", (), (), (paid,))

    def _insert_history(self) -> Statement:
        handle = self.handle
        row = row_key(HISTORY, handle)
        of_warehouse = keys.IDX_H_W_ID + encoded_ints((self.district[0], handle))
        of_customer = keys.IDX_H_C_W_ID + encoded_ints((self.customer.w, handle))
        return Statement(
            "INSERT history",
            (),
            (row,),
            (
                Mutation(row, PUT, HISTORY_BYTES),
                Mutation(of_warehouse, PUT, IDX_HISTORY_BYTES, pessimistic_check=False),
                Mutation(of_customer, PUT, IDX_HISTORY_BYTES, pessimistic_check=False),
            ),
            insert=True,
        )
