"""What finding a lock costs beside finding a version: ``hardware.cpu.tikv_load_lock``.

A real RocksDB has as many versions as fill several levels, and locks that come and go in a column
family of their own, with TiKV's options, all of it in the block cache; prints the CPU time of a get
from the lock CF and of a seek in the write CF with a new iterator, the binding's included, here and
on the machine for which costs are given. It needs a C++ compiler, and RocksDB's Python binding,
which is not among the requirements:

    .venv/bin/pip install --target /tmp/rocksdict rocksdict==0.3.29
    PYTHONPATH=/tmp/rocksdict .venv/bin/python -m benchmarks.lock_lookup
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from random import Random
from tempfile import TemporaryDirectory
from time import thread_time_ns
from typing import Any, Final

from benchmarks.clock import slowdown
from benchmarks.compaction_cost import options
from sim.units import GIB, NS_PER_US

_VERSIONS: Final = 2_000_000
_LOCKED: Final = 200_000
"""Keys that were locked last; one in twenty still is."""
_CACHE_BYTES: Final = 2 * GIB
_LOOKUPS: Final = 50_000
_ROUNDS: Final = 3


def key_of(number: int) -> bytes:
    """Returns a key as long as those of TPC-C, far from that of the next number."""
    return b"zt\x80" + (number * 2_654_435_761 % (1 << 64)).to_bytes(8) * 4


def fill(rocksdb: Any, database: Any, families: tuple[Any, Any], numbers: Sequence[int]) -> None:
    """Writes a version of each key, and locks and unlocks the last."""
    locks, versions = families
    batch = rocksdb.WriteBatch(raw_mode=True)
    for place, number in enumerate(numbers, 1):
        batch.put(key_of(number) + bytes(8), b"v" * 60, versions)
        if place > len(numbers) - _LOCKED:
            batch.put(key_of(number), b"l" * 100, locks)
            if place % 20:
                batch.delete(key_of(number), locks)
        if place % 1_000 == 0:
            database.write(batch)
            batch = rocksdb.WriteBatch(raw_mode=True)


def lookup_us(look_up: Callable[[bytes], object], keys: Sequence[bytes]) -> list[float]:
    """Returns the mean CPU time of a lookup, for some rounds."""
    times = []
    for _ in range(_ROUNDS):
        begun_ns = thread_time_ns()
        for key in keys:
            look_up(key)
        times.append((thread_time_ns() - begun_ns) / len(keys) / NS_PER_US)
    return times


def main() -> None:
    """Prints a line a kind of lookup."""
    rocksdb, random, slower = import_module("rocksdict"), Random(1), slowdown()
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # RocksDB may still write.
        kept = options(rocksdb, _CACHE_BYTES)
        database = rocksdb.Rdict(folder, kept)
        locks, versions = (database.create_column_family(name, kept) for name in ("lock", "write"))
        families = (
            database.get_column_family_handle("lock"),
            database.get_column_family_handle("write"),
        )
        numbers = random.sample(range(_VERSIONS), _VERSIONS)
        fill(rocksdb, database, families, numbers)

        def seek(key: bytes) -> object:
            iterator = versions.iter()
            iterator.seek(key)
            return iterator.value()

        anywhere = [key_of(random.randrange(_VERSIONS)) for _ in range(_LOOKUPS)]
        recent = [key_of(number) for number in numbers[-_LOOKUPS:]]
        for name, look_up, keys in (
            ("a lock, any key", locks.get, anywhere),
            ("a lock, keys locked last", locks.get, recent),
            ("a version, any key", seek, anywhere),
        ):
            times = lookup_us(look_up, keys)
            low, high = min(times), max(times)
            fitted = f"{low * slower:.1f} to {high * slower:.1f}"
            print(f"{name}: {low:.1f} to {high:.1f} us; {fitted}")
        for each in (locks, versions, database):
            each.close()


if __name__ == "__main__":
    main()
