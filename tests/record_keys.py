"""Keys of rows with a clustered handle, whole; workloads put them together from prefixes."""

from __future__ import annotations

from sim.protocol.keys import encoded_ints, record_prefix


def record_key(table_id: int, *handle: int) -> bytes:
    """Returns the key of a row: 11 bytes, and 9 for each int of its handle."""
    return record_prefix(table_id) + encoded_ints(handle)
