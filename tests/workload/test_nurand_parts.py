"""NURand makes some blocks of stock and customer hot: what is worked out against what is drawn."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from sim.streams import Streams
from sim.workload.layout import BlockPart
from sim.workload.tpcc import schema
from sim.workload.tpcc.draws import Draws, customer_parts, nurand_parts, stock_parts

ROWS = 170
_DISTRICTS = 10


def items() -> Iterator[int]:
    """Yields drawn rows of one warehouse's stock."""
    draws, stream = Draws(1, Streams(1, 0).stream("constants")), Streams(1, 0).stream("draws")
    for _ in range(10_000):
        yield from draws.items(stream, schema.MOST_LINES)


def customers() -> Iterator[int]:
    """Yields drawn rows of some districts' customers, who follow each other."""
    draws, stream = Draws(1, Streams(1, 0).stream("constants")), Streams(1, 0).stream("draws")
    for number in range(150_000):
        yield number % _DISTRICTS * schema.CUSTOMERS + draws.customer(stream)


def hottest(parts: Sequence[BlockPart], share: float) -> float:
    """Returns the share of the reads that the hottest blocks get."""
    reads = left = 0.0
    for part in parts:
        taken = min(part.blocks, share - left)
        reads, left = reads + part.reads * taken / part.blocks, left + taken
    return reads


@pytest.mark.parametrize(
    ("parts", "rows", "drawn"),
    [
        (nurand_parts(8_190, ROWS), schema.ITEMS, items()),
        (nurand_parts(1_024, ROWS), _DISTRICTS * schema.CUSTOMERS, customers()),
    ],
    ids=["stock", "customer"],
)
def test_blocks_are_as_hot_as_they_are_drawn(
    parts: Sequence[BlockPart], rows: int, drawn: Iterator[int]
) -> None:
    counts = Counter(row // ROWS for row in drawn)
    for share in (0.125, 0.25, 0.5):
        number = round(share * rows / ROWS)
        most = sum(count for _, count in counts.most_common(number)) / counts.total()
        assert hottest(parts, number * ROWS / rows) == pytest.approx(most, abs=0.04)


@pytest.mark.parametrize("rows", [1, 99, 169, 1_000, 1_400])
def test_parts_make_a_whole(rows: int) -> None:
    for parts in (stock_parts(rows), customer_parts(rows)):
        assert sum(part.blocks for part in parts) == pytest.approx(1)
        assert sum(part.reads for part in parts) == pytest.approx(1)
        assert hottest(parts, 0.25) > 0.25
