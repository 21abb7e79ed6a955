"""What two caches keep follows from how often each table is read, and from their room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.distributions import Constant
from sim.engine import Cores
from sim.hardware import Disk, DiskSpec
from sim.storage.block_cache import (
    BlockCache,
    Extent,
    Miss,
    miss_probabilities,
    misses_by_table,
)
from sim.streams import Streams
from sim.units import GIB, KIB, NS_PER_US
from sim.workload.tpcc import keys
from sim.workload.tpcc.segments import tables as tpcc_tables
from tests.scenes import scenario

PREFIX = b"t12345678_r"
READ_NS = 90 * NS_PER_US
_READS = 120_000


def disk(*, throttled: bool = False) -> Disk:
    spec = DiskSpec("constant", GIB, 1_000, Constant(READ_NS), throttled=throttled)
    streams = Streams(1, 0)
    return Disk(spec, streams.stream("disk"), streams.stream("fetches"))


def block_misses(extents: list[Extent], cache_bytes: float) -> list[float]:
    return [miss.block for miss in miss_probabilities(extents, cache_bytes, 0)]


def test_tables_that_fit_are_always_there() -> None:
    assert block_misses([Extent(10, 1), Extent(5, 1)], 15) == [0, 0]


def test_of_one_table_as_much_is_there_as_fits() -> None:
    assert block_misses([Extent(100, 3)], 25) == [pytest.approx(0.75)]


def test_the_table_that_is_read_more_often_for_its_size_is_kept_longer() -> None:
    stock, customer = block_misses([Extent(100, 9), Extent(100, 1)], 100)
    assert stock < 0.2
    assert customer > 0.8
    # Equal times of keeping: the hit rates are 1 - exp(-rT/s) with one and the same T.
    assert stock == pytest.approx(customer**9)
    assert exp(-9) < stock


@given(
    st.lists(st.tuples(st.floats(1, 1e12), st.floats(1e-3, 1e3)), min_size=1, max_size=6),
    st.floats(0.01, 0.99),
)
def test_what_is_kept_fills_the_cache(tables: list[tuple[float, float]], share: float) -> None:
    extents = [Extent(size, reads) for size, reads in tables]
    room = share * sum(extent.size_bytes for extent in extents)
    misses = block_misses(extents, room)
    kept = sum(e.size_bytes * (1 - miss) for e, miss in zip(extents, misses, strict=True))
    assert kept == pytest.approx(room, rel=1e-5)


@given(
    st.lists(st.tuples(st.floats(1, 1e12), st.floats(1e-3, 1e3)), min_size=1, max_size=6),
    st.floats(0.01, 0.99),
    st.floats(0, 2),
    st.floats(0, 2),
)
def test_more_page_cache_never_leaves_more_to_the_disk(
    tables: list[tuple[float, float]], share: float, pages: float, more: float
) -> None:
    extents = [Extent(size, reads) for size, reads in tables]
    total = sum(extent.size_bytes for extent in extents)
    before = miss_probabilities(extents, share * total, pages * total)
    after = miss_probabilities(extents, share * total, (pages + more) * total)
    for less, miss in zip(after, before, strict=True):
        assert -1e-9 <= less.disk <= miss.disk + 1e-6
        assert miss.disk <= miss.block == less.block


def test_a_page_cache_that_holds_all_leaves_nothing_to_the_disk() -> None:
    (miss,) = miss_probabilities([Extent(100, 1)], 25, 100)
    assert miss.block == pytest.approx(0.75)
    assert miss.disk == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("sizes", "reads", "rooms"),
    [
        ([2_000], [1.0], (1_200, 1_100)),
        ([2_000], [1.0], (200, 1_600)),
        ([1_400, 700], [4.5, 1.3], (600, 1_200)),
        ([1_400, 700], [4.5, 1.3], (60, 1_800)),
    ],
)
def test_two_caches_miss_as_lists_of_the_last_used_do(
    sizes: list[int], reads: list[float], rooms: tuple[int, int]
) -> None:
    """Blocks of one byte in two real lists; what the first has, the second does not see."""
    stream, lists = (
        Streams(1, 0).stream("reads"),
        [OrderedDict[tuple[int, int], None]() for _ in rooms],
    )
    counts = [[0, 0, 0] for _ in sizes]
    for number in range(_READS):
        table = int(stream.random() * sum(reads) >= reads[0])
        block, missed = (table, int(stream.random() * sizes[table])), 0
        for kept, room in zip(lists, rooms, strict=True):
            if block in kept:
                kept.move_to_end(block)
                break
            missed += 1
            kept[block] = None
            if len(kept) > room:
                kept.popitem(last=False)
        if number >= _READS // 3:
            for level in range(missed + 1):
                counts[table][level] += 1
    extents = [Extent(size, often) for size, often in zip(sizes, reads, strict=True)]
    for (asked, first, second), miss in zip(
        counts, miss_probabilities(extents, *rooms), strict=True
    ):
        assert first / asked == pytest.approx(miss.block, abs=0.01)
        assert second / asked == pytest.approx(miss.disk, abs=0.01)


def cache_of(miss: Miss, cores: Cores, block_ns: int = 0) -> BlockCache:
    stream = Streams(1, 0).stream("cache")
    return BlockCache(
        disk(), stream, {PREFIX: [miss]}, cores, block_bytes=32 * KIB, block_ns=block_ns
    )


def fetch_ns(cache: BlockCache, keys: Sequence[bytes]) -> int:
    fetch = cache.fetch(keys)
    return fetch(0) if fetch else 0


def test_blocks_are_fetched_one_after_the_other() -> None:
    rows = [PREFIX + b"\0a", PREFIX + b"\0b", b"t99999999_r\0c"]
    assert fetch_ns(cache_of(Miss(1, 1), Cores(1)), rows) == 2 * READ_NS


def test_blocks_are_unpacked_on_cores_that_others_use() -> None:
    cores = Cores(1)
    cores.occupy(1, 0)
    cache = cache_of(Miss(1, 1), cores, block_ns=7 * NS_PER_US)
    assert fetch_ns(cache, [PREFIX + b"\0a"]) == READ_NS + 2 * 7 * NS_PER_US
    assert cores.busy_ns == 7 * NS_PER_US, "two share one core: each has half of it"
    assert fetch_ns(cache, [b"t99999999_r\0c"]) == 0


def test_a_block_in_the_page_cache_is_unpacked_and_not_fetched() -> None:
    cache = cache_of(Miss(1, 0), Cores(1), block_ns=7 * NS_PER_US)
    assert fetch_ns(cache, [PREFIX + b"\0a"]) == 7 * NS_PER_US


def test_a_long_row_takes_a_block_of_both_column_families() -> None:
    stream = Streams(1, 0).stream("cache")
    both = {PREFIX: [Miss(1, 0), Miss(1, 1)]}
    cache = BlockCache(disk(), stream, both, Cores(1), block_bytes=32 * KIB, block_ns=7)
    assert fetch_ns(cache, [PREFIX + b"\0a"]) == READ_NS + 2 * 7


def test_of_stock_and_customer_rows_the_short_record_is_mostly_at_hand() -> None:
    misses = misses_by_table(scenario("rfc77_nvme"), tpcc_tables(5_000))
    assert set(misses) == {keys.STOCK, keys.CUSTOMER}
    for short, long in misses.values():
        assert 10 * short.block < long.block


def test_a_share_of_the_rows_is_fetched() -> None:
    cache = cache_of(Miss(0.5, 0.25), Cores(1), block_ns=1)
    fetched, unpacked = divmod(fetch_ns(cache, [PREFIX + b"\0a"] * 10_000), READ_NS)
    assert fetched == pytest.approx(2_500, rel=0.1)
    assert unpacked == pytest.approx(5_000, rel=0.1)


def test_reads_count_against_a_clouds_ceiling() -> None:
    volume = disk(throttled=True)
    assert volume.fetch_ns(0, 1, 32 * KIB) == READ_NS
    # 1,000 I/Os a second, and 10 ms saved up.
    assert volume.fetch_ns(0, 100, 32 * KIB) > 80_000 * NS_PER_US
    assert volume.written_bytes == 0
