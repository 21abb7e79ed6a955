"""Whether several threads insert more into RocksDB than one: ``sim.raftstore.write_thread``.

Each writes batches of random keys, as apply threads do, with TiKV's memtables and an unsynced WAL;
prints microseconds of the clock a record for one thread and for two, and how many times as much two
insert. It needs a C++ compiler and RocksDB's headers (on Debian: ``apt-get install
librocksdb-dev``), or a folder with tikv/rocksdb's branch ``tikv-5.4``, built as a static library
without compression in ``build``, to write as TiKV v5.4 does:

    .venv/bin/python -m benchmarks.insert_threads
    .venv/bin/python -m benchmarks.insert_threads FOLDER
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.kernel_cpp import compiler

SIZES: Final = (9, 27, 81, 243)
"""Records in a write."""
_SOURCE: Final = Path(__file__).with_name("insert_threads.cpp")
_ROUNDS: Final = 5
_MULTI_BATCH: Final = {"multi_batch": "in pieces that waiting threads insert, as TiKV v5.4"}
_WRITES: Final = {
    "group": "a group inserts side by side",
    "pipelined": "pipelined",
    "unordered": "unordered, as TiKV's since v6.0 but for the order of their ends",
}


def main() -> int:
    """Prints a line a kind and size of a write; 2 without a compiler or RocksDB."""
    with TemporaryDirectory() as folder:
        program = Path(folder) / "insert_threads"
        words = [compiler() or "c++", "-O2", "-std=c++17", "-o", str(program), str(_SOURCE)]
        if sys.argv[1:]:
            tikv, kinds = sys.argv[1], _MULTI_BATCH
            linked = ["-DMULTI_BATCH", f"-I{tikv}/include", f"{tikv}/build/librocksdb.a", "-ldl"]
        else:
            kinds, linked = _WRITES, ["-lrocksdb"]
        try:
            subprocess.run([*words, *linked, "-lpthread"], check=True)
        except (OSError, subprocess.CalledProcessError):
            print("a C++ compiler and RocksDB are needed", file=sys.stderr)
            return 2
        for kind, name in kinds.items():
            for size in SIZES:
                # In turns, so that a slow minute meets both.
                pairs = [
                    [_record_us(program, threads, size, kind) for threads in (1, 2)]
                    for _ in range(_ROUNDS)
                ]
                one, two = (median(times) for times in zip(*pairs, strict=True))
                gain = median(alone / together for alone, together in pairs)
                said = f"one thread {one:.2f} us a record, two {two:.2f}: {gain:.2f} times as much"
                print(f"{name}, {size:3} records a write: {said}", flush=True)
    return 0


def _record_us(program: Path, threads: int, size: int, kind: str) -> float:
    with TemporaryDirectory() as folder:
        words = [str(program), folder, str(threads), str(size), kind]
        said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    wall_ns, records = map(int, said.split())
    return wall_ns / records / 1000


if __name__ == "__main__":
    sys.exit(main())
