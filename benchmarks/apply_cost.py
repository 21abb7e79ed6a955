"""What a record costs that is put into RocksDB: ``hardware.cpu.kvdb_record`` and ``raftdb_record``.

One thread writes batches of as many records as an apply round may have, of random keys, into the
lock and the write CF of a real RocksDB with TiKV's memtables and an unsynced WAL, until the write
CF's memtable is full; prints the CPU time of a record by how full it is, here and at the clock for
which costs are given. It needs a C++ compiler, and RocksDB's Python binding, which is not among the
requirements:

    .venv/bin/pip install --target /tmp/rocksdict rocksdict==0.3.29
    PYTHONPATH=/tmp/rocksdict .venv/bin/python -m benchmarks.apply_cost
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from importlib import import_module
from itertools import cycle
from random import Random
from tempfile import TemporaryDirectory
from time import thread_time_ns
from typing import Any, Final

from benchmarks.clock import slowdown
from sim.units import MIB, NS_PER_US

SIZES: Final = (1, 9, 27, 243)
"""Records in a batch: puts of a lock, puts of a commit record and deletes of a lock in turn."""

_MEMTABLE_BYTES: Final = {"lock": 32 * MIB, "write": 128 * MIB}
"""TiKV's (src/config)."""
_PARTS: Final = 4
_FULL: Final = 0.97
"""Nearer to its limit a memtable may be switched."""
_LOCK, _COMMIT = b"x" * 150, b"y" * 40
_TURN: Final = 972
"""Records of a size until the next size has its turn."""


def options(rocksdb: Any, memtable_bytes: int) -> Any:
    """Returns TiKV's options of a column family as far as a put meets them."""
    chosen = rocksdb.Options(raw_mode=True)
    chosen.create_if_missing(True)  # noqa: FBT003 - the binding names nothing
    chosen.set_write_buffer_size(memtable_bytes)
    chosen.set_max_write_buffer_number(5)
    return chosen


def batch_of(rocksdb: Any, families: tuple[Any, Any], random: Random, size: int) -> Any:
    """Returns a write batch of so many records."""
    locks, commits = families
    batch = rocksdb.WriteBatch(raw_mode=True)
    for number in range(size):
        key = b"zt\x80" + random.randbytes(34)
        kind = number % 3 if size > 1 else random.randrange(3)
        if kind == 0:
            batch.put(key + bytes(8), _COMMIT, commits)
        elif kind == 1:
            batch.put(key, _LOCK, locks)
        else:
            batch.delete(key, locks)
    return batch


def record_us(rocksdb: Any, folder: str) -> Mapping[tuple[int, int], float]:
    """Returns the mean CPU time of a record by (size of its batch, part of the memtable)."""
    random = Random(1)
    database = rocksdb.Rdict(folder, options(rocksdb, MIB))
    made = {
        name: database.create_column_family(name, options(rocksdb, most))
        for name, most in _MEMTABLE_BYTES.items()
    }
    families = tuple(database.get_column_family_handle(name) for name in made)
    spent_ns: dict[tuple[int, int], int] = defaultdict(int)
    records: dict[tuple[int, int], int] = defaultdict(int)
    for size in cycle(SIZES):
        filled = made["write"].property_int_value("rocksdb.cur-size-active-mem-table")
        if filled > _FULL * _MEMTABLE_BYTES["write"]:
            break
        of = size, _PARTS * filled // _MEMTABLE_BYTES["write"]
        for _ in range(_TURN // size):
            batch = batch_of(rocksdb, families, random, size)
            begun_ns = thread_time_ns()
            database.write(batch)
            spent_ns[of] += thread_time_ns() - begun_ns
            records[of] += size
    for each in (*made.values(), database):
        each.close()
    return {of: spent_ns[of] / records[of] / NS_PER_US for of in records}


def main() -> None:
    """Prints a line a size of a batch."""
    rocksdb, slower = import_module("rocksdict"), slowdown()
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # RocksDB may still write.
        times_us = record_us(rocksdb, folder)
    for size in SIZES:
        of_size = [times_us[size, part] for part in range(_PARTS)]
        here = ", ".join(f"{us:.1f}" for us in of_size)
        fitted = ", ".join(f"{us * slower:.1f}" for us in of_size)
        print(f"{size:3} records, by quarter of the memtable: {here} us a record; {fitted}")
    print(f"behind the semicolon: {slower:.2f} times as long, the clock for which costs are given")


if __name__ == "__main__":
    main()
