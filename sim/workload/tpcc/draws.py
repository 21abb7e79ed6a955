"""TPC-C's random numbers as go-tpc draws them, one uniform draw each.

NURand(A, x, y) = ((random(0, A) | random(x, y)) + C) % (y - x + 1) + x makes some ids hot
(TPC-C 2.1.6). Both of its numbers are taken from one uniform: a double has 53 bits, and at most 30
are used. The constants C are drawn once a run, as go-tpc does when it starts.

Source: pingcap/go-tpc tpcc/rand.go; its ranges are kept, including 8190 where the
specification says 8191.
"""

from typing import Final

from sim.streams import Stream
from sim.workload.tpcc.schema import CUSTOMERS, DISTRICTS, ITEMS, MOST_LINES

_CUSTOMER_SPAN: Final = 1_024
_ITEM_SPAN: Final = 8_190
_NAME_SPAN: Final = 256
_NAMES: Final = 1_000


class Draws:
    """The run's constants, and the draws that depend on them."""

    def __init__(self, warehouses: int, constants: Stream) -> None:
        self._warehouses = warehouses
        self._c_name = constants.randint(0, 255)
        self._c_item = constants.randint(0, 1_023)
        self._c_customer = constants.randint(0, 8_191)

    def district(self, stream: Stream) -> tuple[int, int]:
        """Returns a warehouse and one of its districts, each uniform."""
        w, d = divmod(int(stream.random() * (self._warehouses * DISTRICTS)), DISTRICTS)
        return w + 1, d + 1

    def warehouse(self, stream: Stream) -> int:
        """Returns a warehouse, uniform."""
        return int(stream.random() * self._warehouses) + 1

    def other_district(self, stream: Stream, w: int) -> tuple[int, int]:
        """Returns a district of another warehouse, uniform; there must be one."""
        others = self._warehouses - 1
        other, d = divmod(int(stream.random() * (others * DISTRICTS)), DISTRICTS)
        return other + 1 + (other + 1 >= w), d + 1

    def customer(self, stream: Stream) -> int:
        """Returns a customer id: NURand(1023, 1, 3000)."""
        a, b = divmod(int(stream.random() * (_CUSTOMER_SPAN * CUSTOMERS)), CUSTOMERS)
        return ((a | b + 1) + self._c_customer) % CUSTOMERS + 1

    def name(self, stream: Stream) -> int:
        """Returns the number of a customer's last name: NURand(255, 0, 999)."""
        a, b = divmod(int(stream.random() * (_NAME_SPAN * _NAMES)), _NAMES)
        return ((a | b) + self._c_name) % _NAMES

    def items(self, stream: Stream) -> list[int]:
        """Returns 15 different item ids: NURand(8191, 1, 100000).

        Always as many as the longest order has, so that a client's later draws do not depend on
        what the cluster did (common random numbers).
        """
        constant = self._c_item
        random = stream.random
        items: list[int] = []
        while len(items) < MOST_LINES:
            a, b = divmod(int(random() * (_ITEM_SPAN * ITEMS)), ITEMS)
            item = ((a | b + 1) + constant) % ITEMS + 1
            if item not in items:
                items.append(item)
        return items
