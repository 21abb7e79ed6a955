"""TPC-C's random numbers as go-tpc draws them, one uniform draw each.

NURand(A, x, y) = ((random(0, A) | random(x, y)) + C) % (y - x + 1) + x makes some ids hot
(TPC-C 2.1.6). Both of its numbers are taken from one uniform: a double has 53 bits, and at most 30
are used. The constants C are drawn once a run, as go-tpc does when it starts.

Source: pingcap/go-tpc tpcc/rand.go; its ranges are kept, including 8190 where the
specification says 8191.
"""

from itertools import accumulate, pairwise
from math import floor
from typing import Final

from sim.streams import Stream
from sim.workload.layout import BlockPart
from sim.workload.tpcc.schema import CUSTOMERS, CUSTOMERS_BY_ID, DISTRICTS, ITEMS

_CUSTOMER_SPAN: Final = 1_024
_ITEM_SPAN: Final = 8_190
_NAME_SPAN: Final = 256
_NAMES: Final = 1_000

_LAID_OUT: Final = 1 << 17
"""Ids over which blocks are counted: they begin anywhere in a period of the ids' bits."""

_PARTS: Final = 16
"""Parts of a table's blocks that are told apart."""


def nurand_parts(span: int, rows: int) -> list[BlockPart]:
    """Returns how NURand's draws are spread over blocks of so many neighbouring ids, hottest first.

    Of random(0, A) | random(x, y) each bit of A is set three times out of four, higher bits as
    often as not: ids of one period of bits differ by powers of three, all periods are alike.

    Args:
        span: A + 1, rounded up to a power of two.
        rows: ids a block.
    """
    period = 1 << (span - 1).bit_length()
    below = [0, *accumulate(3 ** id_.bit_count() for id_ in range(period))]
    begins = [at // period * below[-1] + below[at % period] for at in range(0, _LAID_OUT + 1, rows)]
    blocks = sorted((end - begin for begin, end in pairwise(begins)), reverse=True)
    ends = [part * len(blocks) // _PARTS for part in range(_PARTS + 1)]
    total = sum(blocks)
    return [
        BlockPart((end - begin) / len(blocks), sum(blocks[begin:end]) / total)
        for begin, end in pairwise(ends)
        if end > begin
    ]


def stock_parts(rows: int) -> list[BlockPart]:
    """Returns how reads of stock rows are spread over blocks of so many."""
    return nurand_parts(_ITEM_SPAN, rows)


def customer_parts(rows: int) -> list[BlockPart]:
    """Returns how reads of customers are spread; those by name or for delivery are even."""
    return [
        BlockPart(blocks, CUSTOMERS_BY_ID * reads + (1 - CUSTOMERS_BY_ID) * blocks)
        for blocks, reads in nurand_parts(_CUSTOMER_SPAN, rows)
    ]


class Draws:
    """The run's constants, and the draws that depend on them."""

    def __init__(self, warehouses: int, constants: Stream) -> None:
        self._warehouses = warehouses
        self._c_name = constants.randint(0, 255)
        self._c_item = constants.randint(0, 1_023)
        self._c_customer = constants.randint(0, 8_191)

    def district(self, stream: Stream) -> tuple[int, int]:
        """Returns a warehouse and one of its districts, each uniform."""
        w, d = divmod(floor(stream.random() * (self._warehouses * DISTRICTS)), DISTRICTS)
        return w + 1, d + 1

    def warehouse(self, stream: Stream) -> int:
        """Returns a warehouse, uniform."""
        return floor(stream.random() * self._warehouses) + 1

    def other_district(self, stream: Stream, w: int) -> tuple[int, int]:
        """Returns a district of another warehouse, uniform; there must be one."""
        others = self._warehouses - 1
        other, d = divmod(floor(stream.random() * (others * DISTRICTS)), DISTRICTS)
        return other + 1 + (other + 1 >= w), d + 1

    def customer(self, stream: Stream) -> int:
        """Returns a customer id: NURand(1023, 1, 3000)."""
        a, b = divmod(floor(stream.random() * (_CUSTOMER_SPAN * CUSTOMERS)), CUSTOMERS)
        return ((a | b + 1) + self._c_customer) % CUSTOMERS + 1

    def name(self, stream: Stream) -> int:
        """Returns the number of a customer's last name: NURand(255, 0, 999)."""
        a, b = divmod(floor(stream.random() * (_NAME_SPAN * _NAMES)), _NAMES)
        return ((a | b) + self._c_name) % _NAMES

    def items(self, stream: Stream, count: int) -> list[int]:
        """Returns so many different item ids: NURand(8191, 1, 100000).

        An order asks for as many as the longest has, so that a client's later draws do not depend
        on what the cluster did (common random numbers).
        """
        constant = self._c_item
        random = stream.random
        items: dict[int, None] = {}
        while len(items) < count:
            a, b = divmod(floor(random() * (_ITEM_SPAN * ITEMS)), ITEMS)
            items[((a | b + 1) + constant) % ITEMS + 1] = None
        return list(items)
