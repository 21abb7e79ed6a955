"""How many bytes a record takes in the raft log, in the KV WAL and in a memtable.

A size depends on lengths only (of the key, the lock, the value), so it is computed once for each
combination and then looked up. A lock carries the sizes of all records that its key will need: lock
put, prewrite, commit, delete.

Sources: tikv/tikv components/txn_types/src/{lock,write}.rs (record formats, values up to 255 B
inside the lock), kvproto raft_cmdpb (``Request``), components/raftstore/src/store/{peer_storage.rs,
fsm/apply.rs}; tikv/raft-engine src/log_batch.rs; RocksDB's write batch format.
"""

from functools import cache
from typing import Final

from sim.protocol.keys import encoded_len

SHORT_VALUE_MAX_BYTES: Final = 255
"""Up to this length a value travels inside lock and write record (``SHORT_VALUE_MAX_LEN``)."""

NO_VALUE: Final = -1
"""Value length of a delete or of a lock-only mutation."""

ENTRY_OVERHEAD_BYTES: Final = 40
"""Header of a RaftCmdRequest (28 B) and raft entry (12 B), once a proposal."""

RAFTDB_ITEM_BYTES: Final = 62
"""raftdb: entry key, raft_state record and RocksDB's tags, once a proposal."""

RAFTDB_BATCH_BYTES: Final = 19
RAFT_ENGINE_ITEM_BYTES: Final = 38
RAFT_ENGINE_BATCH_BYTES: Final = 24

KV_APPLY_BYTES: Final = 41
"""The ``apply_state`` record in the raft CF, once a region in an apply batch."""

KV_BATCH_BYTES: Final = 19

_TS_BYTES: Final = 8
_TS_VARINT_BYTES: Final = 9
_TTL_VARINT_BYTES: Final = 3
_LOCK_FIXED_BYTES: Final = 1 + _TS_VARINT_BYTES + _TTL_VARINT_BYTES + 9 + 9
"""Type, start_ts, ttl, for_update_ts and min_commit_ts (tag and 8 bytes each)."""

_OPTIMISTIC_SAVES_BYTES: Final = 9 + 1
"""An optimistic transaction's lock has no for_update_ts, and a ttl of 3 s is a byte shorter."""

_TXN_SIZE_BYTES: Final = 9
_LAST_CHANGE_BYTES: Final = 10
_EMPTY_SECONDARIES_BYTES: Final = 2
_DATA_PREFIX_BYTES: Final = 1
_SEQUENCE_BYTES: Final = 8
_CF_NAME_BYTES: Final = {"default": 0, "lock": 4, "write": 5}


class RecordSizes:
    """Bytes of one key's records, from the lock put to the delete of the lock.

    ``raft`` counts the request inside a raft entry (not ``ENTRY_OVERHEAD_BYTES``), ``wal`` the
    record inside a KV write batch, the others what enters a memtable.
    """

    def __init__(self, key_len: int, lock_value_bytes: int, value_bytes: int) -> None:
        key_bytes = encoded_len(key_len)
        self.lock_value_bytes = lock_value_bytes
        self.put_raft_bytes = put_request_bytes("lock", key_bytes, lock_value_bytes)
        self.put_wal_bytes = wal_put_bytes(key_bytes, lock_value_bytes)
        default_raft, default_wal, self.default_cf_bytes = value_sizes(key_len, value_bytes)
        self.prewrite_raft_bytes = self.put_raft_bytes + default_raft
        self.prewrite_wal_bytes = self.put_wal_bytes + default_wal
        self.delete_raft_bytes, self.delete_wal_bytes, self.tombstone_bytes = delete_sizes(key_len)
        write_raft, write_wal, self.write_cf_bytes = write_sizes(key_len, value_bytes)
        self.commit_raft_bytes = write_raft + self.delete_raft_bytes
        self.commit_wal_bytes = write_wal + self.delete_wal_bytes
        self.memory_bytes = 0
        """Accounted size in the in-memory lock table; pessimistic locks only."""


class LockFormat:
    """Lock records of one TiKV version, with the sizes seen so far."""

    def __init__(self, *, last_change: bool, struct_bytes: int) -> None:
        self.last_change = last_change
        self.struct_bytes = struct_bytes
        self._pessimistic: dict[int, RecordSizes] = {}
        self._prewrite: dict[int, RecordSizes] = {}

    def pessimistic(self, key_len: int, primary_len: int) -> RecordSizes:
        """Returns the sizes of a pessimistic lock, in the table and when it is proposed."""
        shape = key_len << 16 | primary_len
        sizes = self._pessimistic.get(shape)
        if sizes is None:
            lock_bytes = _LOCK_FIXED_BYTES + varint_len(primary_len) + primary_len
            lock_bytes += _LAST_CHANGE_BYTES if self.last_change else 0
            sizes = RecordSizes(key_len, lock_bytes, NO_VALUE)
            sizes.memory_bytes = encoded_len(key_len) + primary_len + self.struct_bytes
            self._pessimistic[shape] = sizes
        return sizes

    def prewrite(self, base_bytes: int, key_len: int, value_bytes: int) -> RecordSizes:
        """Returns the sizes of a 2PC lock whose record takes ``base_bytes`` without the value."""
        shape = (value_bytes << 16 | base_bytes) << 16 | key_len
        sizes = self._prewrite.get(shape)
        if sizes is None:
            sizes = RecordSizes(key_len, base_bytes + _short_value_bytes(value_bytes), value_bytes)
            self._prewrite[shape] = sizes
        return sizes


@cache
def lock_format(version: tuple[int, int, int]) -> LockFormat:
    """Returns the lock records of a version of TiKV.

    Source: tikv/tikv components/txn_types/src/lock.rs: ``last_change`` came with v6.5,
    ``is_locked_with_conflict``, which only makes the struct longer, with v7.2.
    """
    if version < (6, 5, 0):
        return LockFormat(last_change=False, struct_bytes=48)
    return LockFormat(last_change=True, struct_bytes=64 if version < (7, 2, 0) else 80)


@cache
def prewrite_base_bytes(
    primary_len: int,
    async_commit: bool,  # noqa: FBT001 - hot
    pessimistic: bool,  # noqa: FBT001 - hot
) -> int:
    """Returns the length of a 2PC lock record without value and without the list of secondaries."""
    base = _LOCK_FIXED_BYTES + varint_len(primary_len) + primary_len + _TXN_SIZE_BYTES
    base -= 0 if pessimistic else _OPTIMISTIC_SAVES_BYTES
    return base + (_EMPTY_SECONDARIES_BYTES if async_commit else 0)


def secondaries_bytes(secondaries: tuple[bytes, ...]) -> int:
    """Returns how much longer the list of secondaries makes the primary's async-commit lock."""
    total = varint_len(len(secondaries)) - 1
    for key in secondaries:
        key_len = len(key)
        total += key_len + (1 if key_len < 64 else varint_len(2 * key_len))
    return total


@cache
def value_sizes(key_len: int, value_bytes: int) -> tuple[int, int, int]:
    """Returns (raft, WAL, memtable) bytes of a value's own record; zeros when it fits the lock."""
    if value_bytes <= SHORT_VALUE_MAX_BYTES:
        return 0, 0, 0
    key_bytes = encoded_len(key_len) + _TS_BYTES
    return (
        put_request_bytes("default", key_bytes, value_bytes),
        wal_put_bytes(key_bytes, value_bytes),
        key_bytes + _DATA_PREFIX_BYTES + _SEQUENCE_BYTES + value_bytes,
    )


@cache
def write_sizes(key_len: int, value_bytes: int) -> tuple[int, int, int]:
    """Returns (raft, WAL, memtable) bytes of a write record (commit or rollback)."""
    key_bytes = encoded_len(key_len) + _TS_BYTES
    record_bytes = 1 + _TS_VARINT_BYTES + _short_value_bytes(value_bytes)
    return (
        put_request_bytes("write", key_bytes, record_bytes),
        wal_put_bytes(key_bytes, record_bytes),
        key_bytes + _DATA_PREFIX_BYTES + _SEQUENCE_BYTES + record_bytes,
    )


@cache
def delete_sizes(key_len: int) -> tuple[int, int, int]:
    """Returns (raft, WAL, tombstone) bytes of the delete of a lock."""
    key_bytes = encoded_len(key_len)
    wal_key_bytes = key_bytes + _DATA_PREFIX_BYTES
    return (
        _request_bytes(field_len(_CF_NAME_BYTES["lock"]) + field_len(key_bytes)),
        2 + varint_len(wal_key_bytes) + wal_key_bytes,
        wal_key_bytes + _SEQUENCE_BYTES,
    )


@cache
def value_delete_sizes(key_len: int) -> tuple[int, int, int]:
    """Returns (raft, WAL, tombstone) bytes of the delete of a value in the default CF."""
    key_bytes = encoded_len(key_len) + _TS_BYTES
    wal_key_bytes = key_bytes + _DATA_PREFIX_BYTES
    return (
        _request_bytes(field_len(key_bytes)),
        2 + varint_len(wal_key_bytes) + wal_key_bytes,
        wal_key_bytes + _SEQUENCE_BYTES,
    )


def put_request_bytes(cf: str, key_bytes: int, value_bytes: int) -> int:
    """Returns the length of one ``Put`` inside a RaftCmdRequest; the default CF has no name."""
    cf_bytes = _CF_NAME_BYTES[cf]
    name = field_len(cf_bytes) if cf_bytes else 0
    return _request_bytes(name + field_len(key_bytes) + field_len(value_bytes))


def wal_put_bytes(key_bytes: int, value_bytes: int) -> int:
    """Returns the length of one put record inside a RocksDB write batch (key with its 'z')."""
    wal_key_bytes = key_bytes + _DATA_PREFIX_BYTES
    lengths = varint_len(wal_key_bytes) + varint_len(value_bytes)
    return 2 + lengths + wal_key_bytes + value_bytes


def field_len(payload_bytes: int) -> int:
    """Returns the length of a length-delimited protobuf field with a one-byte tag."""
    return 1 + varint_len(payload_bytes) + payload_bytes


def varint_len(value: int) -> int:
    """Returns the length of a LEB128 varint."""
    return max(1, (value.bit_length() + 6) // 7)


def _request_bytes(body_bytes: int) -> int:
    return field_len(2 + field_len(body_bytes))


def _short_value_bytes(value_bytes: int) -> int:
    return 2 + value_bytes if 0 <= value_bytes <= SHORT_VALUE_MAX_BYTES else 0
