"""What a scanned row costs RocksDB, beside one that is looked up: ``SCANNED_ROW``.

Rows as sysbench's, compacted and in the block cache: CPU time of a step of an iterator, of reading
what it is at, and of a get; the binding's own call is taken off. RocksDB's Python binding is not
among the requirements:

    .venv/bin/pip install --target /tmp/rocksdict rocksdict==0.3.29
    PYTHONPATH=/tmp/rocksdict .venv/bin/python -m benchmarks.scan_cost
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from random import Random
from tempfile import TemporaryDirectory
from time import thread_time_ns
from typing import Any, Final

from sim.units import GIB, KIB, MIB

_ROWS: Final = 1_000_000
_ROW_BYTES: Final = 210
_SCANNED: Final = 100
_LOOKUPS: Final = 20_000
_SCANS: Final = 2_000
_IN_A_BATCH: Final = 1_000


def key_of(row: int) -> bytes:
    """Returns a row's key in the write CF: table prefix, handle, commit timestamp."""
    return (
        b"zt\x80\0\0\0\0\0\0\x01\xff_r\x80\0\0\0"
        + row.to_bytes(4, "big")
        + b"\xff\0\0\0"
        + bytes(8)
    )


def options(rocksdb: Any) -> Any:
    """Returns TiKV's options as far as a read meets them; the cache holds everything."""
    table = rocksdb.BlockBasedOptions()
    table.set_block_cache(rocksdb.Cache(GIB))
    table.set_block_size(64 * KIB)
    table.set_bloom_filter(10, False)  # noqa: FBT003 - the binding names nothing
    chosen = rocksdb.Options(raw_mode=True)
    chosen.create_if_missing(True)  # noqa: FBT003
    chosen.set_write_buffer_size(128 * MIB)
    chosen.set_block_based_table_factory(table)
    return chosen


def fill(rocksdb: Any, database: Any) -> None:
    """Writes all rows, compacts them, and reads them once."""
    for first in range(0, _ROWS, _IN_A_BATCH):
        batch = rocksdb.WriteBatch(raw_mode=True)
        for row in range(first, first + _IN_A_BATCH):
            batch.put(key_of(row), bytes(_ROW_BYTES))
        database.write(batch)
    database.flush()
    database.compact_range(None, None)
    at = database.iter(rocksdb.ReadOptions())
    at.seek_to_first()
    while at.valid():
        at.next()


def each_ns(calls: Callable[[], object], times: int) -> float:
    """Returns the CPU time of a call, the mean of so many."""
    begun_ns = thread_time_ns()
    for _ in range(times):
        calls()
    return (thread_time_ns() - begun_ns) / times


def scan_ns(at: Any, random: Random, *reading: Callable[[], object]) -> float:
    """Returns the CPU time of a row in scans of a hundred: a step, and what is read there."""
    spent_ns = 0
    for _ in range(_SCANS):
        at.seek(key_of(random.randrange(_ROWS - _SCANNED)))
        begun_ns = thread_time_ns()
        for _ in range(_SCANNED):
            at.next()
            for read in reading:
                read()
        spent_ns += thread_time_ns() - begun_ns
    return spent_ns / _SCANS / _SCANNED


def main() -> None:
    """Prints the CPU times and the ratio."""
    rocksdb, random = import_module("rocksdict"), Random(1)
    with TemporaryDirectory() as folder:
        database = rocksdb.Rdict(folder, options(rocksdb))
        fill(rocksdb, database)
        at = database.iter(rocksdb.ReadOptions())
        at.seek_to_first()
        call_ns = each_ns(at.valid, _LOOKUPS)
        get_ns = each_ns(lambda: database.get(key_of(random.randrange(_ROWS))), _LOOKUPS)
        get_ns -= each_ns(lambda: key_of(random.randrange(_ROWS)), _LOOKUPS) + call_ns
        step_ns = scan_ns(at, random) - call_ns
        row_ns = scan_ns(at, random, at.key, at.value) - 3 * call_ns
        print(f"get {get_ns:.0f} ns, step {step_ns:.0f}, with key and value {row_ns:.0f}")
        print(f"a scanned row is {row_ns / get_ns:.3f} of a get")
        database.close()


if __name__ == "__main__":
    main()
