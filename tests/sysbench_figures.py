"""What a transaction of each of sysbench's scripts asks for, by arithmetic on its statements.

Figures are of 16 tables of 10 million rows, where a row and the entries of its index are in
different regions. Bytes are protobuf lengths of TiKV v6.0's records.

Source: akopytov/sysbench src/lua/oltp_*.lua; tikv/tikv components/txn_types/src/{lock,write}.rs;
kvproto raft_cmdpb; tikv/client-go txnkv/transaction/2pc.go (initKeysAndMutations).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ROW_KEY, ENTRY_KEY = 8 + 11, 8 + 11 + 9 + 9
"""``t`` table ``_r`` handle; ``t`` table ``_i`` index, then a flag and 8 bytes for k and handle."""
ROW = 6 + 3 + 6 + 4 + 119 + 59
"""Row format v2: header, column ids, offsets, k, c, pad."""
ENTRY = 1


def varint(value: int) -> int:
    return 1 if value < 128 else 2


def field(size: int) -> int:
    """A protobuf field of so many bytes: tag, length, content."""
    return 1 + varint(size) + size


def padded(key: int) -> int:
    """Memcomparable form: groups of 8 bytes with a marker each."""
    return (key // 8 + 1) * 9


def put(cf: str, key: int, value: int) -> int:
    """A Put in a RaftCmdRequest: the type of command, and names, key and value."""
    return field(2 + field(field(len(cf)) + field(key) + field(value)))


def delete(key: int) -> int:
    return field(2 + field(field(len("lock")) + field(key)))


def lock(key: int, value: int | None, primary: int, secondaries: tuple[int, ...] = ()) -> int:
    """The put of an optimistic async-commit lock."""
    size = 1 + (1 + primary) + 9 + 2  # type, primary, start_ts, ttl of 3,000
    size += 0 if value is None else 2 + value
    size += 9 + 9  # txn_size, min_commit_ts
    size += 2 + sum(1 + each for each in secondaries)
    return put("lock", padded(key), size)


def version(key: int, value: int | None) -> int:
    """The put of a write record: type, start_ts, short value."""
    return put("write", padded(key) + 8, 1 + 9 + (0 if value is None else 2 + value))


def committed(key: int, value: int | None) -> int:
    return version(key, value) + delete(padded(key))


COMMAND = 28 + 12
"""Header of a RaftCmdRequest, and the raft entry around it."""

PESSIMISTIC_LOCK = put("lock", padded(ROW_KEY), 1 + (1 + ROW_KEY) + 9 + 3 + 9 + 9) + COMMAND
"""Type, primary, start_ts, ttl of 20,000, for_update_ts, min_commit_ts."""


@dataclass(frozen=True)
class Expected:
    """Requests by kind, timestamps and bytes of raft entries by kind of command."""

    statements: int
    timestamps: int
    requests: Mapping[str, float]
    mutations: float = 0.0
    raft: Mapping[str, int] | None = None


ONE_TIMESTAMP_AND_THAT_OF_COMMIT = 2
"""``start_ts``, and one before an asynchronous commit, for linearizability."""

ENDS = (6.56, 24.3)
"""Regions of 96 MiB that a table's index and its rows fill: 10 million times 66 and 244 bytes."""
WRITTEN_REGIONS = 6 - 1 / ENDS[0] - 2 / 16 / ENDS[0] - 3 / 16 / ENDS[1]
"""Three rows, an index entry that moves by one, one that is deleted and one that is inserted,
less what falls into one region: the last two are of one table, the others are in one of 16."""

EXPECTED: dict[str, Expected] = {
    "oltp_point_select": Expected(1, 0, {"get": 1}),
    "oltp_read_only": Expected(1 + 10 + 4 + 1, 1, {"get": 10, "cop": 4}),
    "oltp_read_write": Expected(
        1 + 10 + 4 + 4 + 1,
        ONE_TIMESTAMP_AND_THAT_OF_COMMIT,
        {"get": 10, "cop": 4, "lock": 3, "prewrite": WRITTEN_REGIONS, "commit": WRITTEN_REGIONS},
        mutations=3 + 1 + 3,
        raft={"lock": 3 * PESSIMISTIC_LOCK},
    ),
    "oltp_write_only": Expected(
        1 + 4 + 1,
        ONE_TIMESTAMP_AND_THAT_OF_COMMIT,
        {"lock": 3, "prewrite": WRITTEN_REGIONS, "commit": WRITTEN_REGIONS},
        mutations=3 + 1 + 3,
        raft={"lock": 3 * PESSIMISTIC_LOCK},
    ),
    "oltp_update_non_index": Expected(
        1,
        1,
        {"get": 1, "prewrite": 1},
        mutations=1,
        raft={"prewrite": version(ROW_KEY, ROW) + COMMAND},
    ),
    # The smallest key is the primary: the old entry.
    "oltp_update_index": Expected(
        1,
        1,
        {"get": 1, "prewrite": 2, "commit": 2},
        mutations=3,
        raft={
            "prewrite": lock(ENTRY_KEY, None, ENTRY_KEY, (ROW_KEY, ENTRY_KEY))
            + lock(ENTRY_KEY, ENTRY, ENTRY_KEY)
            + lock(ROW_KEY, ROW, ENTRY_KEY)
            + 2 * COMMAND,
            "commit": committed(ENTRY_KEY, None)
            + committed(ENTRY_KEY, ENTRY)
            + committed(ROW_KEY, ROW)
            + 2 * COMMAND,
        },
    ),
    "oltp_insert": Expected(
        1,
        1,
        {"prewrite": 2, "commit": 2},
        mutations=2,
        raft={
            "prewrite": lock(ENTRY_KEY, ENTRY, ENTRY_KEY, (ROW_KEY,))
            + lock(ROW_KEY, ROW, ENTRY_KEY)
            + 2 * COMMAND,
            "commit": committed(ENTRY_KEY, ENTRY) + committed(ROW_KEY, ROW) + 2 * COMMAND,
        },
    ),
    "oltp_delete": Expected(
        1,
        1,
        {"get": 1, "prewrite": 2, "commit": 2},
        mutations=2,
        raft={
            "prewrite": lock(ENTRY_KEY, None, ENTRY_KEY, (ROW_KEY,))
            + lock(ROW_KEY, None, ENTRY_KEY)
            + 2 * COMMAND,
            "commit": committed(ENTRY_KEY, None) + committed(ROW_KEY, None) + 2 * COMMAND,
        },
    ),
}
