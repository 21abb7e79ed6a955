"""What the workload remembers of orders: per district the next id and the oldest undelivered one.

Everything else about an order follows from its identity: its number of lines and its customer are
a hash of (warehouse, district, order), so that Delivery finds the lines NewOrder wrote without a
record per order, and memory grows with the districts touched, not with the transactions. The
price: the customer an order is delivered to has the right distribution but is not the one who
placed it; only contention on customer rows could tell.
"""

from typing import Final

from sim.workload.tpcc.schema import (
    CUSTOMERS,
    DISTRICTS,
    FEWEST_LINES,
    FIRST_NEW_ORDER,
    FIRST_UNDELIVERED,
    MOST_LINES,
)

_GOLDEN: Final = 0x9E3779B97F4A7C15
"""2**64 divided by the golden ratio: multiplicative hashing (Knuth, TAOCP 3, section 6.4)."""

_MASK: Final = (1 << 64) - 1


def _mixed(w: int, d: int, o: int) -> int:
    """Returns 40 well mixed bits of an order's identity."""
    x = (((w << 4 | d) << 32 | o) * _GOLDEN) & _MASK
    return ((x ^ x >> 29) * _GOLDEN & _MASK) >> 24


def lines_of(w: int, d: int, o: int) -> int:
    """Returns how many lines an order has: between 5 and 15, each equally often."""
    return FEWEST_LINES + _mixed(w, d, o) % (MOST_LINES - FEWEST_LINES + 1)


def customer_of(w: int, d: int, o: int) -> int:
    """Returns an order's customer, distributed as NewOrder draws them (NURand 1023)."""
    bits = _mixed(w, d, ~o & 0xFFFFFFFF)
    return (bits & 1023 | (bits >> 10) % CUSTOMERS + 1) % CUSTOMERS + 1


class Orders:
    """The committed orders of all districts, as far as later transactions depend on them."""

    def __init__(self) -> None:
        self._next: dict[int, int] = {}
        self._oldest: dict[int, int] = {}

    def next_of(self, w: int, d: int) -> int:
        """Returns ``d_next_o_id`` as last committed."""
        return self._next.get(w * DISTRICTS + d, FIRST_NEW_ORDER)

    def oldest_undelivered(self, w: int, d: int) -> int | None:
        """Returns the smallest order with a row in ``new_order``, or None."""
        district = w * DISTRICTS + d
        oldest = self._oldest.get(district, FIRST_UNDELIVERED)
        return oldest if oldest < self._next.get(district, FIRST_NEW_ORDER) else None

    def placed(self, w: int, d: int, o: int) -> None:
        """Notes that order ``o`` is committed."""
        district = w * DISTRICTS + d
        if o >= self._next.get(district, FIRST_NEW_ORDER):
            self._next[district] = o + 1

    def delivered(self, w: int, d: int, o: int) -> None:
        """Notes that order ``o`` is delivered, and with it all before it."""
        district = w * DISTRICTS + d
        if o >= self._oldest.get(district, FIRST_UNDELIVERED):
            self._oldest[district] = o + 1
