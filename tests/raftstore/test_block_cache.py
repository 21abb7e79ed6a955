"""What a block cache keeps follows from how often each table is read, and from its room."""

from __future__ import annotations

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.distributions import Constant
from sim.engine import Cores
from sim.hardware import Disk, DiskSpec
from sim.storage.block_cache import BlockCache, Extent, miss_probabilities
from sim.streams import Streams
from sim.units import GIB, NS_PER_US

STOCK, CUSTOMER = b"t_stock__r", b"t_custom_r"
READ_NS = 90 * NS_PER_US


def disk(*, throttled: bool = False) -> Disk:
    spec = DiskSpec("constant", GIB, 1_000, Constant(READ_NS), throttled=throttled)
    streams = Streams(1, 0)
    return Disk(spec, streams.stream("disk"), streams.stream("fetches"))


def test_tables_that_fit_are_always_there() -> None:
    assert miss_probabilities([Extent(STOCK, 10, 1), Extent(CUSTOMER, 5, 1)], 15) == {}


def test_of_one_table_as_much_is_there_as_fits() -> None:
    misses = miss_probabilities([Extent(STOCK, 100, 3)], 25)
    assert misses == {STOCK: pytest.approx(0.75)}


def test_the_table_that_is_read_more_often_for_its_size_is_kept_longer() -> None:
    misses = miss_probabilities([Extent(STOCK, 100, 9), Extent(CUSTOMER, 100, 1)], 100)
    assert misses[STOCK] < 0.2
    assert misses[CUSTOMER] > 0.8
    # Equal times of keeping: the hit rates are 1 - exp(-rT/s) with one and the same T.
    assert misses[STOCK] == pytest.approx(misses[CUSTOMER] ** 9)
    assert exp(-9) < misses[STOCK]


@given(
    st.lists(st.tuples(st.floats(1, 1e12), st.floats(1e-3, 1e3)), min_size=1, max_size=6),
    st.floats(0.01, 0.99),
)
def test_what_is_kept_fills_the_cache(tables: list[tuple[float, float]], share: float) -> None:
    extents = [Extent(bytes([number]), size, reads) for number, (size, reads) in enumerate(tables)]
    room = share * sum(extent.size_bytes for extent in extents)
    misses = miss_probabilities(extents, room)
    kept = sum(extent.size_bytes * (1 - misses[extent.prefix]) for extent in extents)
    assert kept == pytest.approx(room, rel=1e-6)


def cache_of(miss: float, cores: Cores, block_ns: int = 0) -> BlockCache:
    stream = Streams(1, 0).stream("cache")
    return BlockCache(disk(), stream, {b"t12345678_r": miss}, cores, block_ns)


def test_blocks_are_fetched_one_after_the_other() -> None:
    keys = [b"t12345678_r\0a", b"t12345678_r\0b", b"t99999999_r\0c"]
    assert cache_of(1.0, Cores(1)).fetch_ns(0, keys) == 2 * READ_NS


def test_blocks_are_unpacked_on_cores_that_others_use() -> None:
    cores = Cores(1)
    cores.running = 1
    cache = cache_of(1.0, cores, block_ns=7 * NS_PER_US)
    assert cache.fetch_ns(0, [b"t12345678_r\0a"]) == READ_NS + 2 * 7 * NS_PER_US
    assert cores.busy_ns == 2 * 7 * NS_PER_US
    assert cache.fetch_ns(0, [b"t99999999_r\0c"]) == 0


def test_a_share_of_the_rows_is_fetched() -> None:
    fetched = cache_of(0.25, Cores(1)).fetch_ns(0, [b"t12345678_r\0a"] * 10_000) / READ_NS
    assert fetched == pytest.approx(2_500, rel=0.1)


def test_reads_count_against_a_clouds_ceiling() -> None:
    volume = disk(throttled=True)
    assert volume.fetch_ns(0, 1) == READ_NS
    # 1,000 I/Os a second, and 10 ms saved up.
    assert volume.fetch_ns(0, 100) > 80_000 * NS_PER_US
    assert volume.written_bytes == 0
