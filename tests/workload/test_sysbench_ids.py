"""sysbench's distributions of ids: what is drawn against what the distributions say."""

from bisect import bisect_left
from collections import Counter
from itertools import accumulate, pairwise

import pytest

from sim.scenario.schema.arrival import RandType
from sim.streams import Streams
from sim.workload.sysbench_ids import ID_LAWS

ROWS = 50_000
DRAWS = 20_000
EVERY = sorted(ID_LAWS)


def drawn(law: RandType, rows: int = ROWS, draws: int = DRAWS) -> list[int]:
    """Returns drawn ids in ascending order."""
    stream = Streams(1, 0).stream(law)
    return sorted(ID_LAWS[law].draw(stream, rows) for _ in range(draws))


@pytest.mark.parametrize("law", EVERY)
@pytest.mark.parametrize("rows", [1, 2, 7])
def test_ids_are_rows_of_the_table(law: RandType, rows: int) -> None:
    found = set(drawn(law, rows, 2_000))
    assert found <= set(range(1, rows + 1))
    assert 1 in found or law in {"gaussian", "special"}


@pytest.mark.parametrize("law", EVERY)
@pytest.mark.parametrize("share", [0.001, 0.05, 0.2, 0.495, 0.5, 0.505, 0.6, 0.9])
def test_draws_follow_the_share_below(law: RandType, share: float) -> None:
    below = bisect_left(drawn(law), share * ROWS + 1) / DRAWS
    # Four standard deviations; what is said of a bell is that of the normal distribution.
    assert below == pytest.approx(ID_LAWS[law].share_below(share, ROWS), abs=0.015)


def test_a_fifth_of_the_ids_gets_four_fifths_of_paretos_draws() -> None:
    ids = drawn("pareto")
    assert bisect_left(ids, 0.2 * ROWS) / DRAWS == pytest.approx(0.8, abs=0.012)
    assert bisect_left(ids, 0.04 * ROWS) / DRAWS == pytest.approx(0.64, abs=0.014)


def test_zipfs_law() -> None:
    rows, draws = 40, 200_000
    counts = Counter(drawn("zipfian", rows, draws))
    whole = sum(n**-0.8 for n in range(1, rows + 1))
    squares = 0.0
    for n in range(1, rows + 1):
        expected = draws * n**-0.8 / whole
        squares += (counts[n] - expected) ** 2 / expected
    # Chi square with 39 degrees of freedom: 73 once in a thousand.
    assert squares < 73


@pytest.mark.parametrize("law", EVERY)
@pytest.mark.parametrize("rows_of_block", [1, 270, 2 * ROWS])
def test_parts_make_a_whole(law: RandType, rows_of_block: int) -> None:
    parts = ID_LAWS[law].read_parts(ROWS, rows_of_block)
    assert sum(part.blocks for part in parts) == pytest.approx(1)
    assert sum(part.reads for part in parts) == pytest.approx(1)
    assert all(part.blocks > 0 and part.reads > 0 for part in parts)


@pytest.mark.parametrize("law", EVERY)
def test_parts_are_read_as_often_as_they_are_drawn(law: RandType) -> None:
    ids = drawn(law)
    parts = ID_LAWS[law].read_parts(ROWS, 270)
    borders = [0.0, *accumulate(part.blocks for part in parts)]
    for part, (begin, end) in zip(parts, pairwise(borders), strict=True):
        inside = bisect_left(ids, end * ROWS + 1) - bisect_left(ids, begin * ROWS + 1)
        assert inside / DRAWS == pytest.approx(part.reads, abs=0.015)
