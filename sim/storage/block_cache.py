"""The block cache of one store: which rows have to be fetched from the disk before a command runs.

Law: blocks of tables whose rows are chosen at random compete for the cache. A least-recently-used
cache keeps a block for a characteristic time T after each use, so a table read at rate r over s
bytes hits with probability 1 - exp(-r T / s), and T is where the kept bytes fill the cache. Tables
that are small, or read where they have just been written, are always in it.

A scheduler thread that misses waits for its blocks one after the other. Inserts fetch nothing:
bloom filters know that the row is new.

Source: Che, Tung, Wang, Hierarchical Web Caching Systems, 2002; TiKV docs, storage.block-cache
(45 % of memory); tikv/tikv src/config (block-size 64 KiB, bloom filters).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Final, NamedTuple

from sim.engine import Cores
from sim.hardware.disk import Disk
from sim.scenario.resolved import Scenario
from sim.streams import Stream
from sim.workload.layout import Table

PREFIX_LEN: Final = 11
"""A table's record prefix: ``t``, eight bytes of its id, ``_r``."""

_BISECTIONS: Final = 60


class Extent(NamedTuple):
    """The rows of one table that a store serves, and how often one of them is read at random."""

    prefix: bytes
    size_bytes: float
    reads: float


def miss_probabilities(extents: Sequence[Extent], cache_bytes: float) -> dict[bytes, float]:
    """Returns by prefix how likely a random row's block is not in the cache, where it can be so.

    Args:
        extents: tables read at random; ``reads`` need only be right relative to each other.
        cache_bytes: what they compete for.
    """
    read = [extent for extent in extents if extent.reads > 0 and extent.size_bytes > 0]
    if sum(extent.size_bytes for extent in read) <= cache_bytes:
        return {}
    low, high = 0.0, max(extent.size_bytes / extent.reads for extent in read) * 64
    for _ in range(_BISECTIONS):
        kept_for = (low + high) / 2
        if sum(e.size_bytes * (1 - exp(-e.reads * kept_for / e.size_bytes)) for e in read) > (
            cache_bytes
        ):
            high = kept_for
        else:
            low = kept_for
    return {e.prefix: exp(-e.reads * low / e.size_bytes) for e in read}


def misses_by_table(scenario: Scenario, tables: Sequence[Table]) -> dict[bytes, float]:
    """Returns by record prefix how likely a row is not in the cache of the store that leads it."""
    stores = scenario.cluster.stores
    extents = [
        Extent(table.start_key + b"_r", table.segments[-1].size_bytes / stores, reads)
        for table in tables
        if (reads := table.scattered_reads)
    ]
    return miss_probabilities(extents, scenario.hardware.block_cache_bytes)


class BlockCache:
    """The cache of one store, over its KV disk."""

    def __init__(
        self, disk: Disk, stream: Stream, misses: Mapping[bytes, float], cores: Cores, block_ns: int
    ) -> None:
        """Args: ``block_ns`` is the CPU of a block that is fetched: checksum, decompression."""
        self._cores = cores
        self._block_ns = block_ns
        self._disk = disk
        self._stream = stream
        self._misses = misses

    def fetch_ns(self, now_ns: int, keys: Sequence[bytes]) -> int:
        """Returns how long fetching the rows of ``keys`` from the disk takes: 0 if all are here."""
        misses = self._misses
        if not misses:
            return 0
        blocks = 0
        for key in keys:
            miss = misses.get(key[:PREFIX_LEN])
            if miss is not None and self._stream.random() < miss:
                blocks += 1
        if not blocks:
            return 0
        unpacked_ns = self._cores.stretched(blocks * self._block_ns)
        self._cores.busy_ns += unpacked_ns
        return self._disk.fetch_ns(now_ns, blocks) + unpacked_ns
