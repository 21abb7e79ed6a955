"""What a record costs that is put into RocksDB: ``hardware.cpu.apply_key`` and ``raftdb_record``.

One thread writes batches of as many records as an apply round may have, of random keys, into the
lock and the write CF of a real RocksDB with TiKV's memtables and an unsynced WAL; prints its CPU
time over the records, as memtables fill. RocksDB's Python binding is not among the requirements:

    .venv/bin/pip install --target /tmp/rocksdict rocksdict==0.3.29
    PYTHONPATH=/tmp/rocksdict .venv/bin/python -m benchmarks.apply_cost
"""

from __future__ import annotations

from importlib import import_module
from random import Random
from statistics import fmean
from tempfile import TemporaryDirectory
from time import thread_time_ns
from typing import Any, Final

from sim.units import MIB, NS_PER_US

SIZES: Final = (1, 3, 9, 27, 81, 243)
"""Records in a batch: puts of a lock, puts of a commit record and deletes of a lock in turn."""

_RECORDS: Final = 20_000
_ROUNDS: Final = 6
_LOCK, _COMMIT = b"x" * 150, b"y" * 40


def options(rocksdb: Any) -> Any:
    """Returns TiKV's options of a column family as far as a put meets them."""
    chosen = rocksdb.Options(raw_mode=True)
    chosen.create_if_missing(True)  # noqa: FBT003 - the binding names nothing
    chosen.set_write_buffer_size(128 * MIB)
    chosen.set_max_write_buffer_number(5)
    return chosen


def batch_of(rocksdb: Any, families: tuple[Any, Any], random: Random, size: int) -> Any:
    """Returns a write batch of so many records."""
    locks, commits = families
    batch = rocksdb.WriteBatch(raw_mode=True)
    for number in range(size):
        key = b"zt\x80" + random.randbytes(34)
        if number % 3 == 0:
            batch.put(key + bytes(8), _COMMIT, commits)
        elif number % 3 == 1:
            batch.put(key, _LOCK, locks)
        else:
            batch.delete(key, locks)
    return batch


def write_ns(
    rocksdb: Any, database: Any, families: tuple[Any, Any], random: Random, size: int
) -> float:
    """Returns the mean CPU time of a write of so many records."""
    spent_ns = []
    for _ in range(max(20, _RECORDS // size)):
        batch = batch_of(rocksdb, families, random, size)
        begun_ns = thread_time_ns()
        database.write(batch)
        spent_ns.append(thread_time_ns() - begun_ns)
    return fmean(spent_ns)


def main() -> None:
    """Prints a line a size of a batch."""
    rocksdb, random = import_module("rocksdict"), Random(1)
    with TemporaryDirectory() as folder:
        database = rocksdb.Rdict(folder, options(rocksdb))
        made = [database.create_column_family(name, options(rocksdb)) for name in ("lock", "write")]
        families = (
            database.get_column_family_handle("lock"),
            database.get_column_family_handle("write"),
        )
        rounds = [
            [write_ns(rocksdb, database, families, random, size) / NS_PER_US for size in SIZES]
            for _ in range(_ROUNDS)
        ]
        for size, times_us in zip(SIZES, zip(*rounds, strict=True), strict=True):
            low, high = min(times_us), max(times_us)
            print(f"{size:3} records: {low:5.1f} to {high:5.1f} us, {high / size:4.1f} a record")
        for each in (*made, database):
            each.close()


if __name__ == "__main__":
    main()
