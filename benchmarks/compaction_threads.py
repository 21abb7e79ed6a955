"""How many of a store's threads flush and compact at once, by RocksDB's rules for its levels.

Uniform updates of a table that is there, as sysbench's: every compaction meets its share of the
level below. The fullest level is compacted first (``VersionStorageInfo::ComputeCompactionScore``),
one compaction at a time until eight files wait in level 0, and then as many as there are jobs
(``DBImpl::GetBGJobLimits``, ``GetL0ThresholdSpeedupCompaction``); level 0 goes as a whole, in parts
(``max-sub-compactions``), while no file of the level below is at work. A thread takes
``hardware.cpu.compaction_byte`` for each byte that it writes. Levels are stored as they are, so
what compression saves in bytes is left out, which makes more work than there is.

Source: facebook/rocksdb, db/version_set.cc, db/column_family.cc, db/db_impl; options of TiKV's
write CF, tikv/tikv src/config.

Run it with ``python -m benchmarks.compaction_threads``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Final

MB: Final = 1_000_000
TABLE_BYTES: Final = 36_000 * MB
"""160 million rows of 190 bytes, with their keys."""
BYTE_NS: Final = (3, 5, 8)
"""What a byte of rows of 300 bytes, of the model, and of records of 50 bytes costs."""
BYTES_PER_S: Final = (9 * MB, 18 * MB)
"""What enters a store's write CF with 30,000 and 60,000 updates a second, as it is written."""

_MEMTABLE: Final = 128 * MB
_FILE: Final = 8 * MB
_LEVEL_BASE: Final = 512 * MB
"""``max-bytes-for-level-base``: level 0 is merged into the first level that is no larger."""
_LEVEL_MULTIPLIER: Final = 10
_L0_TRIGGER, _L0_SPEEDUP = 4, 8
_SUB_COMPACTIONS: Final = 3
"""``max-sub-compactions``, of a compaction of level 0."""
_MANY: Final = 3
"""Threads at once of which the output tells."""
_MOST_COMPACTIONS: Final = 6
"""Three quarters of ``max-background-jobs: 8``; the rest flush."""
_OVERLAP: Final = 0.7
"""Of a file picked for its little overlap (``kMinOverlappingRatio``), over any other's. ASSUMED."""
_SETTLED_S, _END_S = 1_200.0, 7_200.0


@dataclass
class Level:
    """One sorted level: its size, the size it should have, what is being moved out of it."""

    target: float
    size: float
    leaving: float = 0.0

    @property
    def score(self) -> float:
        """Returns how full it is; compacted above 1."""
        return (self.size - self.leaving) / self.target


@dataclass
class Tree:
    """The write CF of one store, flushed and compacted."""

    bytes_per_s: float
    byte_s: float
    levels: list[Level]
    now_s: float = 0.0
    threads: int = 0
    l0_files: int = 0
    l0_merging: bool = False
    from_base: int = 0
    """Compactions out of the level that level 0 is merged into."""
    compactions: int = 0
    written: float = 0.0
    flushed: float = 0.0
    seconds: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    """By the number of threads at work, once settled."""
    _events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _order: count[int] = field(default_factory=count)

    def run(self) -> None:
        """Runs to the end."""
        self._flush()
        while self.now_s < _END_S:
            at_s, _, then = heappop(self._events)
            if self.now_s >= _SETTLED_S:
                self.seconds[self.threads] += at_s - self.now_s
            self.now_s = at_s
            then()

    def _work(self, size: float, threads: int, done: Callable[[], None]) -> None:
        def end() -> None:
            self.threads -= threads
            done()
            self._compact()

        self.threads += threads
        if self.now_s >= _SETTLED_S:
            self.written += size
        self._at(self.now_s + size * self.byte_s / threads, end)

    def _at(self, at_s: float, then: Callable[[], None]) -> None:
        heappush(self._events, (at_s, next(self._order), then))

    def _flush(self) -> None:
        def done() -> None:
            self.l0_files += 1

        if self.now_s >= _SETTLED_S:
            self.flushed += _MEMTABLE
        self._work(_MEMTABLE, 1, done)
        self._at(self.now_s + _MEMTABLE / self.bytes_per_s, self._flush)

    def _compact(self) -> None:
        """Starts as many compactions as may run, of the fullest levels first."""
        most = _MOST_COMPACTIONS if self.l0_files >= _L0_SPEEDUP else 1
        while self.compactions < most:
            full = [(each.score, at) for at, each in enumerate(self.levels[:-1]) if each.score > 1]
            if self.l0_files >= _L0_TRIGGER and not self.l0_merging:
                full.append((self.l0_files / _L0_TRIGGER, -1))
            started = any(
                self._merge_level_0() if at < 0 else self._move_down(at)
                for _, at in sorted(full, reverse=True)
            )
            if not started:
                return

    def _merge_level_0(self) -> bool:
        if self.from_base:
            return False
        files, base = self.l0_files, self.levels[0]

        def done() -> None:
            self.l0_files -= files
            base.size += files * _MEMTABLE
            self.l0_merging = False
            self.compactions -= 1

        self.l0_merging = True
        self.compactions += 1
        self._work(files * _MEMTABLE + base.size, _SUB_COMPACTIONS, done)
        return True

    def _move_down(self, at: int) -> bool:
        if at == 0 and self.l0_merging:
            return False
        level, below = self.levels[at], self.levels[at + 1]

        def done() -> None:
            level.size -= _FILE
            level.leaving -= _FILE
            if below is not self.levels[-1]:  # The table grows by so little that it may stay.
                below.size += _FILE
            self.from_base -= at == 0
            self.compactions -= 1

        level.leaving += _FILE
        self.from_base += at == 0
        self.compactions += 1
        self._work(_FILE + _OVERLAP * _FILE * below.size / level.size, 1, done)
        return True


def tree_of(bytes_per_s: float, byte_ns: float) -> Tree:
    """Returns a tree whose levels have their targets' sizes (``level_compaction_dynamic``)."""
    sizes = [float(TABLE_BYTES)]
    while sizes[0] > _LEVEL_BASE:
        sizes.insert(0, sizes[0] / _LEVEL_MULTIPLIER)
    return Tree(bytes_per_s, byte_ns / 1e9, [Level(size, size) for size in sizes])


def main() -> None:
    """Prints a line for each rate and cost."""
    print("MB/s  ns a byte  times written  threads on average  three or more at once")
    for bytes_per_s in BYTES_PER_S:
        for byte_ns in BYTE_NS:
            tree = tree_of(bytes_per_s, byte_ns)
            tree.run()
            whole = sum(tree.seconds.values())
            threads = sum(number * spent for number, spent in tree.seconds.items()) / whole
            many = sum(spent for number, spent in tree.seconds.items() if number >= _MANY) / whole
            print(
                f"{bytes_per_s / MB:4.0f}  {byte_ns:9}  {tree.written / tree.flushed:13.1f}"
                f"  {threads:18.2f}  {many:20.1%}"
            )


if __name__ == "__main__":
    main()
