"""What a record costs that RocksDB takes, and whether two threads insert more of them than one.

It stands behind ``hardware.cpu.kvdb_record``, ``hardware.cpu.raftdb_record`` and
``sim.raftstore.write_thread``. One thread fills memtables, with batches of as many records as an
apply round or a store poller may have, alone and beside another process that does the same, as a
loaded store's threads are beside others, with whom they share a cache. Printed are microseconds of
CPU a record by quarter of the memtable, here and on the machine of the fit: what a record takes
alone in a new memtable waits for the clock, what it takes more waits for memory, which is as far
there as here. Then threads insert at once.

It needs a C++ compiler and RocksDB's headers (on Debian: ``apt-get install librocksdb-dev``), or a
folder with tikv/rocksdb, built as a static library in ``build`` without compression
(``-DFORCE_SSE42=ON``, as TiKV does): its branch ``tikv-5.4`` for v5.4, its commit 21712fe42 for
v6.0. Then memtables and writes are that version's:

    .venv/bin/python -m benchmarks.rocksdb_records
    .venv/bin/python -m benchmarks.rocksdb_records v5.4 FOLDER
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.clock import slowdown
from benchmarks.kernel_cpp import compiler

SIZES: Final = (9, 27, 81, 243)
"""Records in a write of threads that insert at once."""
_SOURCE: Final = Path(__file__).with_suffix(".cpp")
_ROUNDS: Final = 5
_TIKV: Final = {"v5.4": "MULTI_BATCH", "v6.0": "PIPELINED_COMMIT"}
_DEBIAN: Final = ("group", "pipelined", "unordered")

_Times = dict[str, list[float]]
"""Microseconds a record in each quarter of a memtable, by what is written."""


def main() -> int:
    """Prints a line a kind and size of a write; 2 without a compiler or RocksDB."""
    match sys.argv[1:]:
        case []:
            version, folder = "", ""
        case [version, folder] if version in _TIKV:
            pass
        case _:
            print(f"give {' or '.join(_TIKV)} and a folder, or nothing", file=sys.stderr)
            return 2
    with TemporaryDirectory() as place:
        program = Path(place) / "rocksdb_records"
        try:
            _build(program, version, folder)
        except (OSError, subprocess.CalledProcessError):
            print("a C++ compiler and RocksDB are needed", file=sys.stderr)
            return 2
        for engine in ("kvdb", "raftdb"):
            _print_costs(program, engine)
        for kind in (version,) if version else _DEBIAN:
            _print_threads(program, kind)
    return 0


def _build(program: Path, version: str, folder: str) -> None:
    words = [compiler() or "c++", "-O2", "-std=c++17", "-include", "cstdint", "-o", str(program)]
    linked = ["-lrocksdb"]
    if version:
        words += [f"-D{_TIKV[version]}", f"-I{folder}/include"]
        linked = [f"{folder}/build/librocksdb.a", "-ldl"]
    subprocess.run([*words, str(_SOURCE), *linked, "-lpthread"], check=True)


def _print_costs(program: Path, engine: str) -> None:
    """Prints what a record of an engine costs one thread."""
    alone, beside = _costs(program, engine, 1), _costs(program, engine, 2)
    slower = slowdown()
    for what, in_new in ((what, times[0]) for what, times in alone.items()):
        for where, times in (("alone", alone[what]), ("beside another", beside[what])):
            here = ", ".join(f"{us:.1f}" for us in times)
            there = ", ".join(f"{us + (slower - 1) * min(us, in_new):.1f}" for us in times)
            print(f"{engine}, {what} records a write, {where}: {here} us; {there}", flush=True)
    print(f"behind the semicolon: where what waits for the clock takes {slower:.2f} times as long")


def _costs(program: Path, engine: str, processes: int) -> _Times:
    """Returns the medians of some rounds, of so many processes at once."""
    found: dict[tuple[str, int], list[float]] = defaultdict(list)
    for _ in range(_ROUNDS):
        for said in _said(program, [engine], processes):
            for line in said.splitlines():
                what, part, nanoseconds = line.rsplit(maxsplit=2)
                found[what, int(part)].append(float(nanoseconds) / 1_000)
    times: _Times = defaultdict(list)
    for (what, _), each in sorted(found.items()):
        times[what].append(median(each))
    return times


def _print_threads(program: Path, kind: str) -> None:
    """Prints how many times as much two threads insert, in turns: a slow minute meets both."""
    for size in SIZES:
        pairs = [
            [_record_us(program, threads, size, kind) for threads in (1, 2)] for _ in range(_ROUNDS)
        ]
        one, two = (median(times) for times in zip(*pairs, strict=True))
        gain = median(alone / together for alone, together in pairs)
        said = f"one thread {one:.2f} us a record, two {two:.2f}: {gain:.2f} times as much"
        print(f"{kind}, {size:3} records a write: {said}", flush=True)


def _record_us(program: Path, threads: int, size: int, kind: str) -> float:
    (said,) = _said(program, [str(threads), str(size), kind], 1)
    wall_ns, records = map(int, said.split())
    return wall_ns / records / 1_000


def _said(program: Path, words: Sequence[str], processes: int) -> list[str]:
    """Returns what so many processes print that run at once, each in a folder of its own."""
    with TemporaryDirectory() as folder:
        running = [
            subprocess.Popen(
                [str(program), f"{folder}/{number}", *words], stdout=subprocess.PIPE, text=True
            )
            for number in range(processes)
        ]
        said = [each.communicate()[0] for each in running]
    if any(each.returncode for each in running):
        raise subprocess.CalledProcessError(1, words)
    return said


if __name__ == "__main__":
    sys.exit(main())
