"""How much data a key range holds, and where its middle is, computed from how tables are laid out.

What is inserted during a run is not counted: TiKV too learns sizes late, from the properties of its
SST files, and minutes of inserts are small beside a region.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from sim.workload.layout import Segment, Table


class KeyRanges:
    """The data of all tables by key."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = {table.name: table for table in tables}
        self._segments = [segment for table in tables for segment in table.segments]
        self._starts = [segment.start_key for segment in self._segments]
        self._sizes: dict[tuple[bytes, bytes], int] = {}

    def key_of(self, table: str, row: int) -> bytes:
        """Returns the key of a table's row, counted from 1; the last row's if there are fewer.

        Raises:
            KeyError: if there is no such table.
        """
        rows = self._tables[table].segments[-1]
        return rows.key_of_row(min(row, rows.rows) - 1)

    def size_bytes(self, start_key: bytes, end_key: bytes) -> int:
        """Returns the bytes of all entries in ``[start_key, end_key)``; empty: unbounded."""
        size_bytes = self._sizes.get((start_key, end_key))
        if size_bytes is None:
            found = self._within(start_key, end_key)
            size_bytes = sum((hi - lo) * segment.row_bytes for segment, lo, hi in found)
            self._sizes[start_key, end_key] = size_bytes
        return size_bytes

    def key_at(self, start_key: bytes, end_key: bytes, offset_bytes: int) -> bytes | None:
        """Returns the key that many bytes into a range, or None if no key divides it there."""
        for segment, lo, hi in self._within(start_key, end_key):
            size_bytes = (hi - lo) * segment.row_bytes
            if offset_bytes < size_bytes:
                key = segment.key_of_row(lo + offset_bytes // segment.row_bytes)
                return key if key > start_key else None
            offset_bytes -= size_bytes
        return None

    def middle(self, start_key: bytes, end_key: bytes) -> bytes | None:
        """Returns the key that halves the data of a range, or None if it has too little."""
        return self.key_at(start_key, end_key, self.size_bytes(start_key, end_key) // 2)

    def _within(self, start_key: bytes, end_key: bytes) -> list[tuple[Segment, int, int]]:
        """Returns the segments that a range touches, each with its first row and the one after."""
        found = []
        first = max(0, bisect_right(self._starts, start_key) - 1)
        last = bisect_left(self._starts, end_key) if end_key else len(self._starts)
        for segment in self._segments[first:last]:
            rows = range(segment.rows)
            lo = bisect_left(rows, start_key, key=segment.key_of_row)
            hi = bisect_left(rows, end_key, key=segment.key_of_row) if end_key else segment.rows
            if lo < hi:
                found.append((segment, lo, hi))
        return found
