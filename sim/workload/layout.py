"""Tables as byte ranges, and the region boundaries that follow from their sizes.

Nothing is loaded: a segment knows how many rows it has, how long one is, and the key of its n-th
row, so that the key at any byte offset is computed. Regions are what TiKV's size check leaves of
a bulk load: a region is cut at multiples of ``region-split-size``, and a tail shorter than half
of it stays with its neighbour, because a region below ``region-max-size`` (1.5 times the split
size) is left alone (tikv components/raftstore/src/coprocessor/split_check/size.rs and
coprocessor/config.rs). TiDB also gives each table a region of its own (``split-table``).

At 96 MiB this gives about 1,190 regions for 1,000 TPC-C warehouses, the lower end of what
clusters show; older data, split again after growth, has regions half full.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from sim.protocol.encoding import SHORT_VALUE_MAX_BYTES
from sim.protocol.keys import encoded_len, record_prefix, row_key
from sim.protocol.region import RegionMap, lay_out_regions
from sim.scenario.resolved import Scenario

TS_BYTES = 8
"""The commit timestamp at the end of a key in the write and default column families."""

WRITE_RECORD_BYTES = 12
"""Type, start_ts varint and short-value header of a write record (tikv
components/txn_types/src/write.rs)."""


_ROW_KEY_BYTES = 19
"""Length of a row's key with an integer handle."""


def stored_bytes(raw_key_bytes: int, value_bytes: int) -> int:
    """Returns what one committed row adds to the size of its region, uncompressed."""
    return encoded_len(raw_key_bytes) + TS_BYTES + WRITE_RECORD_BYTES + value_bytes


@dataclass(frozen=True)
class Segment:
    """One index, or the rows, of one table; filled evenly."""

    name: str
    """Such as ``orders`` or ``orders.idx_order``."""
    start_key: bytes
    """Raw; no key of the segment is lower."""
    rows: int
    """How many entries it holds before the run."""
    row_bytes: int
    """What each adds to its region (``stored_bytes``)."""
    key_of_row: Callable[[int], bytes]
    """Row number, from 0 in key order, to raw key."""
    value_bytes: int = 0
    """What of ``row_bytes`` is the value."""

    @property
    def record_bytes(self) -> tuple[int, ...]:
        """Returns the lengths of an entry's records: the write CF's, and that of a long value."""
        if self.value_bytes <= SHORT_VALUE_MAX_BYTES:
            return (self.row_bytes,)
        return self.row_bytes - self.value_bytes, self.row_bytes - WRITE_RECORD_BYTES

    @property
    def size_bytes(self) -> int:
        """Returns the bytes of all its entries."""
        return self.rows * self.row_bytes

    def key_at(self, offset_bytes: int) -> bytes:
        """Returns the raw key of the row that holds the byte at ``offset_bytes``."""
        assert 0 <= offset_bytes < self.size_bytes, f"{offset_bytes} is outside {self.name}"
        return self.key_of_row(offset_bytes // self.row_bytes)


def rows_by_handle(name: str, table_id: int, rows: int, value_bytes: int) -> Segment:
    """Returns the rows of a table whose primary key is an integer handle, from 1 on."""
    prefix = record_prefix(table_id)
    row_bytes = stored_bytes(_ROW_KEY_BYTES, value_bytes)
    return Segment(
        name, prefix, rows, row_bytes, lambda row: row_key(table_id, row + 1), value_bytes
    )


class BlockPart(NamedTuple):
    """Some of a table's blocks, which are read alike; shares of the whole."""

    blocks: float
    reads: float


def read_evenly(rows: int) -> Sequence[BlockPart]:  # noqa: ARG001 - other tables' parts depend on it
    """Returns the parts of a table whose rows are all read as often."""
    return (BlockPart(1.0, 1.0),)


def parts_between(borders: Sequence[float], read_below: Sequence[float]) -> Sequence[BlockPart]:
    """Returns the parts of a table that meet at borders.

    Args:
        borders: shares of the table, ascending, from 0 to 1.
        read_below: for each of them, the share of the reads that falls below it.
    """
    ends = pairwise(zip(borders, read_below, strict=True))
    return [BlockPart(end[0] - begin[0], end[1] - begin[1]) for begin, end in ends]


@dataclass(frozen=True)
class Table:
    """Where one table lies in the key space, and how much of it there is."""

    name: str
    """As in the schema."""
    start_key: bytes
    """Raw prefix of all its keys; a region starts here."""
    segments: tuple[Segment, ...]
    """Its indexes, then its rows, in the order of their keys."""
    scattered_reads: float = 0.0
    """Rows read a transaction, chosen over the whole table; 0 where transactions read what has just
    been written, or go on where the last one ended."""
    read_parts: Callable[[int], Sequence[BlockPart]] = read_evenly
    """From how many neighbouring rows share a block to how the scattered reads are spread."""

    @property
    def size_bytes(self) -> int:
        """Returns the bytes of all its segments."""
        return sum(segment.size_bytes for segment in self.segments)


def region_start_keys(tables: Sequence[Table], region_bytes: int) -> list[bytes]:
    """Returns the start keys of all regions, ascending; the first is ``b""``.

    A region ends where the next one starts, the last one at the end of the key space; the first
    table shares its first region with everything below it.

    Args:
        tables: in the order of their keys.
        region_bytes: ``coprocessor.region-split-size``.
    """
    assert region_bytes > 0, f"region_bytes must be positive, is {region_bytes}"
    starts = [b""]
    for number, table in enumerate(tables):
        if number > 0:
            starts.append(table.start_key)
        regions = max(1, (2 * table.size_bytes + region_bytes) // (2 * region_bytes))
        starts.extend(
            _keys_at(table.segments, range(region_bytes, regions * region_bytes, region_bytes))
        )
    return starts


def even_start_keys(tables: Sequence[Table], regions: int) -> list[bytes]:
    """Returns start keys that cut the data into this many regions of equal size.

    Table borders are not kept: a scenario that names a number of regions means that number.

    Raises:
        ValueError: if two regions would start in one row; surely not with ``safe_regions``.
    """
    segments = [segment for table in tables for segment in table.segments]
    size_bytes = sum(segment.size_bytes for segment in segments)
    if sum(segment.rows for segment in segments) < regions:
        raise ValueError(f"{regions} regions need at least as many rows")
    cuts = [number * size_bytes // regions for number in range(1, regions)]
    starts = [b"", *_keys_at(segments, cuts)]
    if len(set(starts)) != regions:
        raise ValueError(f"{regions} regions cannot be told apart by their start keys")
    return starts


def safe_regions(tables: Sequence[Table]) -> int:
    """Returns how many regions of equal size are each as long as the longest row at least."""
    segments = [segment for table in tables for segment in table.segments]
    longest_bytes = max(segment.row_bytes for segment in segments)
    return max(1, sum(segment.size_bytes for segment in segments) // longest_bytes)


def _keys_at(segments: Sequence[Segment], offsets_bytes: Sequence[int]) -> Iterator[bytes]:
    """Yields the keys at ascending offsets into the concatenated segments."""
    ends = list(accumulate(segment.size_bytes for segment in segments))
    at = 0
    for offset_bytes in offsets_bytes:
        while offset_bytes >= ends[at]:
            at += 1
        segment = segments[at]
        yield segment.key_at(offset_bytes - ends[at] + segment.size_bytes)


def lay_out(scenario: Scenario, tables: Sequence[Table]) -> RegionMap:
    """Returns the regions that a unit of a scenario begins with."""
    cluster = scenario.cluster
    if cluster.regions is None:
        starts = region_start_keys(tables, scenario.tikv.region_split_size_bytes)
    else:
        starts = even_start_keys(tables, cluster.regions)
    return lay_out_regions(starts, cluster.stores, cluster.replicas)
