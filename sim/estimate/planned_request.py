"""A request of a planned transaction: what it asks for, what it writes, how long it is.

Source: as ``sim.client``, whose requests these are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sim.client.region_groups import RegionGroup
from sim.estimate.records import Records
from sim.protocol.region import Region
from sim.storage.message_sizes import (
    REPLY_BYTES,
    REQUEST_BYTES,
    keys_bytes,
    lock_bytes,
    other_keys_bytes,
    prewrite_bytes,
    read_bytes,
    rows_bytes,
)
from sim.workload.statement import ReadKind, Statement

RequestKind = Literal["lock", "get", "batch_get", "cop", "prewrite", "commit", "rollback"]

READS: Final[dict[ReadKind, RequestKind]] = {
    ReadKind.GET: "get",
    ReadKind.BATCH_GET: "batch_get",
    ReadKind.COP: "cop",
    ReadKind.LOOKUP: "batch_get",
}


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """One request to one region."""

    kind: RequestKind
    region: Region
    keys: tuple[bytes, ...]
    rows: int = 0
    insert: bool = False
    records: Records | None = None
    """None: it only reads."""
    is_optimistic: bool = False
    """A prewrite of keys that nobody has locked."""
    request_bytes: int = REQUEST_BYTES
    """On the network, as those of the answer."""
    reply_bytes: int = REPLY_BYTES

    @property
    def seeks_versions(self) -> bool:
        """Whether it looks for the versions of its keys, not only for their locks."""
        return self.records is None or self.kind == "lock" or self.is_optimistic


def planned_read(
    kind: RequestKind, region: Region, keys: Sequence[bytes], rows: int, row_bytes: int
) -> PlannedRequest:
    """Returns a read of keys, or of so many rows in ranges."""
    return PlannedRequest(
        kind,
        region,
        tuple(keys),
        rows,
        request_bytes=REQUEST_BYTES + read_bytes(keys),
        reply_bytes=REPLY_BYTES + rows_bytes(row_bytes, len(keys), rows),
    )


def planned_lock(
    region: Region, primary: bytes, keys: Sequence[bytes], statement: Statement, records: Records
) -> PlannedRequest:
    """Returns the lock request of a statement."""
    rows = len(keys) if statement.returns_values else 0
    return PlannedRequest(
        "lock",
        region,
        tuple(keys),
        insert=statement.insert,
        records=records,
        request_bytes=REQUEST_BYTES + lock_bytes(primary, keys),
        reply_bytes=REPLY_BYTES + rows_bytes(statement.row_bytes, rows, 0),
    )


def planned_prewrite(
    group: RegionGroup,
    primary: bytes,
    secondaries: Sequence[bytes],
    records: Records,
    *,
    is_optimistic: bool,
) -> PlannedRequest:
    """Returns a prewrite, which names all other keys if it is that of an async commit's primary."""
    size_bytes = prewrite_bytes(primary, len(group.keys), group.size_bytes)
    return PlannedRequest(
        "prewrite",
        group.route.region,
        tuple(group.keys),
        records=records,
        is_optimistic=is_optimistic,
        request_bytes=REQUEST_BYTES + size_bytes + other_keys_bytes(secondaries),
    )


def planned_end(
    kind: RequestKind, region: Region, keys: Sequence[bytes], records: Records
) -> PlannedRequest:
    """Returns a commit or a rollback."""
    size_bytes = REQUEST_BYTES + keys_bytes(keys)
    return PlannedRequest(kind, region, tuple(keys), records=records, request_bytes=size_bytes)
