"""The caches of one store: which rows have to be unpacked or fetched before a command runs.

Law: blocks of tables whose rows are chosen at random compete for the block cache. A
least-recently-used cache keeps a block for a characteristic time T after each use, so blocks of s
bytes that are read at rate r miss with probability exp(-r T / s), and T is where the kept bytes
fill the cache. Some blocks of a table may be read more often than others (TPC-C's NURand). Tables
that are small, or read where they have just been written, are always in it.

What the block cache misses is read from files, and the operating system keeps those as they are
stored, compressed, in the memory that TiKV leaves. That cache sees the misses only, and two misses
of one block are at least T apart: what has just been missed is kept above. A page cache that keeps
a block for less than T is of no use, however often the block is read. Misses are the counts of a
counter that each arrival, counted or not, closes for T (type II), so the time from one to the next
has a distribution in closed form; the page cache's own characteristic time follows from it.

A row whose value is longer than 255 bytes has two records: a short one in the write CF, whose
blocks hold many rows, and the value in the default CF. Reading it takes a block of each.

A scheduler thread that misses waits for its blocks one after the other. Inserts fetch nothing:
bloom filters of the write CF know that the row is new. They also spare a read the levels that its
record is not in, but for one file in a hundred (10 bits a key): with five such files a twentieth
of a block more, of the upper levels, which hold a tenth of the data; that is left out.

Source: Che, Tung, Wang, Hierarchical Web Caching Systems, 2002; Feller, An Introduction to
Probability Theory and Its Applications, vol. 2, XIV (counters); TiKV docs, storage.block-cache
(45 % of memory), memory-usage-limit (25 % of it are left to the page cache); tikv/tikv src/config
(block-size, compression-per-level, bloom-filter-bits-per-key,
optimize-filters-for-hits: of the default CF only); components/txn_types/src/lib.rs (short values).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import exp, factorial
from typing import Final, NamedTuple

from sim.engine import Cores, Sleep
from sim.hardware.disk import Disk
from sim.scenario.resolved import Scenario
from sim.streams import Stream
from sim.workload.layout import Table

PREFIX_LEN: Final = 11
"""A table's record prefix: ``t``, eight bytes of its id, ``_r``."""

_BISECTIONS: Final = 60

_NEVER: Final = 1e-6
"""A block that is missed more rarely is taken to be never missed."""

_EXACT_TERMS: Final = 20
"""Times T for which the time between misses is summed; from there on it decays evenly."""


class Extent(NamedTuple):
    """Blocks that a store serves, and how often one of them is read at random."""

    size_bytes: float
    """In the block cache, uncompressed."""
    reads: float


class Miss(NamedTuple):
    """How likely a block is not at hand when it is read."""

    block: float
    """Not in the block cache: it is unpacked."""
    disk: float
    """In neither cache: it is fetched from the disk and unpacked."""


_AT_HAND: Final = Miss(0.0, 0.0)


def miss_probabilities(
    extents: Sequence[Extent], cache_bytes: float, page_cache_bytes: float
) -> list[Miss]:
    """Returns for each extent how likely one of its blocks is in neither cache.

    Args:
        extents: blocks read at random; ``reads`` need only be right relative to each other.
        cache_bytes: what they compete for.
        page_cache_bytes: uncompressed bytes of the blocks that the page cache has room for.
    """
    read = [extent for extent in extents if extent.reads > 0 and extent.size_bytes > 0]
    if sum(extent.size_bytes for extent in read) <= cache_bytes:
        return [_AT_HAND] * len(extents)
    kept_for = _time_to_fill(
        cache_bytes,
        lambda time: sum(e.size_bytes * (1 - exp(-e.reads * time / e.size_bytes)) for e in read),
        max(e.size_bytes / e.reads for e in read) * 64,
    )
    missed = [e for e in read if exp(-e.reads * kept_for / e.size_bytes) > _NEVER]
    if not missed:
        return [_AT_HAND] * len(extents)
    paged_for = _time_to_fill(
        page_cache_bytes,
        lambda time: sum(
            e.size_bytes * (1 - _not_missed_again(e, kept_for, kept_for + time)) for e in missed
        ),
        max(e.size_bytes / e.reads * exp(e.reads * kept_for / e.size_bytes) for e in missed) * 64,
    )
    misses = []
    for extent in extents:
        if extent in missed:
            block = exp(-extent.reads * kept_for / extent.size_bytes)
            misses.append(Miss(block, block * _not_missed_again(extent, kept_for, paged_for)))
        else:
            misses.append(_AT_HAND)
    return misses


def _time_to_fill(room_bytes: float, kept_bytes: Callable[[float], float], longest: float) -> float:
    """Returns the characteristic time at which a cache is full; ``kept_bytes`` grows with it."""
    low, high = 0.0, longest
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if kept_bytes(middle) > room_bytes:
            high = middle
        else:
            low = middle
    return low


def _not_missed_again(extent: Extent, kept_for: float, time: float) -> float:
    """Returns how likely a block is not missed for so long after a miss.

    With m misses a time, it is the sum over k of (-m (time - k T)) ** k / k!, for k T up to
    ``time``. A page cache that keeps a block for t after each miss misses it with this probability
    at t, and has it at hand for 1 less that at t + T of the time.
    """
    if time <= kept_for:
        return 1.0
    rate = extent.reads / extent.size_bytes
    per_time = rate * kept_for * exp(-rate * kept_for)
    times = time / kept_for
    if times <= _EXACT_TERMS:
        return _alternating(per_time, times)
    before, last = _alternating(per_time, _EXACT_TERMS - 1), _alternating(per_time, _EXACT_TERMS)
    return float(last * (last / before) ** (times - _EXACT_TERMS))


def _alternating(per_time: float, times: float) -> float:
    return sum((-per_time * (times - k)) ** k / factorial(k) for k in range(int(times) + 1))


RowMisses = Mapping[bytes, Sequence[Miss]]
"""By a table's record prefix, the misses of each block that a row is read from; those that are
always at hand are left out."""


def misses_by_table(scenario: Scenario, tables: Sequence[Table]) -> RowMisses:
    """Returns how likely rows are not in the caches of the store that leads them."""
    hardware, read = scenario.hardware, [table for table in tables if table.scattered_reads]
    records = [(table, size) for table in read for size in table.segments[-1].record_bytes]
    parts = [table.read_parts(scenario.tikv.block_bytes // size) for table, size in records]
    misses = iter(
        miss_probabilities(
            [
                Extent(
                    part.blocks * table.segments[-1].rows * size / scenario.cluster.stores,
                    part.reads * table.scattered_reads,
                )
                for (table, size), of_record in zip(records, parts, strict=True)
                for part in of_record
            ],
            hardware.block_cache_bytes,
            hardware.page_cache_bytes / hardware.lsm.block_compression,
        )
    )
    of_rows: defaultdict[bytes, list[Miss]] = defaultdict(list)
    for (table, _), of_record in zip(records, parts, strict=True):
        block = disk = 0.0
        for part in of_record:
            miss = next(misses)
            block += part.reads * miss.block
            disk += part.reads * miss.disk
        if block:
            of_rows[table.start_key + b"_r"].append(Miss(block, disk))
    return dict(of_rows)


class BlockCache:
    """The caches of one store, over its KV disk."""

    def __init__(
        self,
        disk: Disk,
        stream: Stream,
        misses: RowMisses,
        cores: Cores,
        *,
        block_bytes: int,
        block_ns: int,
    ) -> None:
        """Begins with caches that have long been in use.

        Args:
            disk: where the tables are.
            stream: decides what is missed.
            misses: of the rows of tables that do not fit.
            cores: what blocks are unpacked on.
            block_bytes: of a stored block.
            block_ns: CPU of a block that is not in the block cache: checksum, decompression.
        """
        self._cores = cores
        self._block_bytes = block_bytes
        self._block_ns = block_ns
        self._disk = disk
        self._stream = stream
        self._misses = misses

    def fetch(self, keys: Sequence[bytes]) -> Sleep | None:
        """Returns how a thread fetches and unpacks the rows of ``keys``; None if all are here."""
        misses = self._misses
        if not misses:
            return None
        unpacked = fetched = 0
        for key in keys:
            for block, disk in misses.get(key[:PREFIX_LEN], ()):
                drawn = self._stream.random()
                if drawn < block:
                    unpacked += 1
                    if drawn < disk:  # Which is rarer.
                        fetched += 1
        return partial(self._fetch_ns, unpacked, fetched) if unpacked else None

    def _fetch_ns(self, unpacked: int, fetched: int, now_ns: int) -> int:
        """Returns how long that takes from now on."""
        unpacked_ns = self._cores.hold(unpacked * self._block_ns, self._cores.slowness())
        if not fetched:
            return unpacked_ns
        return self._disk.fetch_ns(now_ns, fetched, self._block_bytes) + unpacked_ns
