"""What a byte that RocksDB flushes or compacts costs a thread: ``hardware.cpu.compaction_byte``.

Loads a column family of a real RocksDB in the order of its keys, then overwrites rows at random
and lets it compact, with TiKV's block size, bloom filters and compression by level; prints
RocksDB's own CPU seconds of flushes and compactions over the bytes that they wrote, here and on the
machine for which costs are given. Rows are those that ``block_compression`` makes. It needs a C++
compiler, and RocksDB's Python binding, which is not among the requirements:

    .venv/bin/pip install --target /tmp/rocksdict rocksdict==0.3.29
    PYTHONPATH=/tmp/rocksdict .venv/bin/python -m benchmarks.compaction_cost
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any, Final

from benchmarks.block_compression import BLOCK_BYTES, RECORDS, stored
from benchmarks.clock import slowdown
from sim.units import KIB, MIB

LOADED_BYTES: Final = 1_000_000_000
_VALUES: Final = 3_000
"""Different values; a block of 64 KiB has 200."""
_BATCH: Final = 500
_KEY_BYTES: Final = 37


def options(rocksdb: Any, cache_bytes: int = 8 * MIB) -> Any:
    """Returns TiKV's options of a data column family (src/config), with a smaller memtable.

    The block cache is RocksDB's default, unless ``cache_bytes`` says otherwise.
    """
    chosen = rocksdb.Options(raw_mode=True)
    chosen.create_if_missing(True)  # noqa: FBT003 - the binding names nothing
    chosen.set_write_buffer_size(64 * MIB)
    chosen.set_target_file_size_base(8 * MIB)
    chosen.set_max_bytes_for_level_base(512 * MIB)
    chosen.set_level_compaction_dynamic_level_bytes(True)
    kinds = rocksdb.DBCompressionType
    by_level = [kinds.none()] * 2 + [kinds.lz4()] * 3 + [kinds.zstd()] * 2
    chosen.set_compression_per_level(by_level)
    blocks = rocksdb.BlockBasedOptions()
    blocks.set_block_size(BLOCK_BYTES)
    blocks.set_block_cache(rocksdb.Cache(cache_bytes))
    blocks.set_bloom_filter(10, False)  # noqa: FBT003 - likewise
    chosen.set_block_based_table_factory(blocks)
    return chosen


def write(rocksdb: Any, database: Any, some: list[bytes], rows: list[int], at: int) -> None:
    """Puts one record for each row number, as its version ``at``."""
    for begin in range(0, len(rows), _BATCH):
        batch = rocksdb.WriteBatch(raw_mode=True)
        for number in rows[begin : begin + _BATCH]:
            key = b"zt" + number.to_bytes(_KEY_BYTES - 10, "big") + at.to_bytes(8, "big")
            batch.put(key, some[number * 7_919 % len(some)])
        database.write(batch)
    database.flush()


def measure(rocksdb: Any, some: list[bytes], folder: Path) -> tuple[float, float]:
    """Returns CPU seconds, and bytes written, of all flushes and compactions of some values."""
    database = rocksdb.Rdict(str(folder), options(rocksdb))
    random = Random(2)
    rows = LOADED_BYTES // (_KEY_BYTES + len(some[0]))
    write(rocksdb, database, some, list(range(rows)), at=2)
    database.compact_range(None, None)
    write(rocksdb, database, some, [random.randrange(rows) for _ in range(rows * 2 // 3)], at=1)
    while any(
        int(database.property_value(f"rocksdb.{name}"))
        for name in ("num-running-flushes", "num-running-compactions", "compaction-pending")
    ):
        sleep(0.2)
    table = database.property_value("rocksdb.cfstats-no-file-histogram").splitlines()
    names = next(line for line in table if line.startswith("Level")).split()
    total = next(line for line in table if line.startswith(" Sum")).split()
    # A size is one column in the heading and two in the line.
    cpu_s = float(total[names.index("CompMergeCPU(sec)") + 1])
    written = next(line for line in table if line.startswith("Cumulative compaction")).split()[2]
    database.close()
    return cpu_s, float(written) * KIB * MIB


def main() -> None:
    """Prints a line a kind of record."""
    rocksdb, slower = import_module("rocksdict"), slowdown()
    for name, make, cf in RECORDS:
        random = Random(1)
        some = [stored(make(random, number)[1], cf) for number in range(_VALUES)]
        with TemporaryDirectory() as folder:
            cpu_s, written = measure(rocksdb, some, Path(folder))
        byte_ns = 1e9 * cpu_s / written
        fitted = f"{byte_ns * slower:4.1f} on the machine for which costs are given"
        print(f"{name:22} {byte_ns:4.1f} ns a byte, of {written / MIB:,.0f} MiB; {fitted}")


if __name__ == "__main__":
    main()
