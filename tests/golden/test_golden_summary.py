"""Small fixed studies as tables, so that a change of the model shows what it moves, and whither.

The digest says whether any fact at all has moved; the figures above it say whether that is the
change that was meant. ``pytest tests/golden --rewrite`` takes the new ones: read the difference
before committing it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from analysis.study.load import load_study
from sim.record.facts import COUNTER, MOMENTS, TABLES, MemorySink
from sim.scenario import Scenario
from sim.simulation import UnitResult, run_unit

FOLDER = Path(__file__).parent
NS_PER_MS = 1e6
KIB = 1024
LOCKS = ("in_memory", "pipelined", "sync", "fallback")
PLACES = ("raft_log", "kv_wal", "flush", "compaction")
CAUSES = ("lock", "prewrite", "commit", "rollback")

Totals = Counter[tuple[str, str]]


class Golden:
    """One variant's facts, summed up over windows."""

    def __init__(self, scenario: Scenario) -> None:
        sink = MemorySink()
        self.result: UnitResult = run_unit(scenario, 0, sink)
        self.digest = facts_digest(sink)
        self.counts: Totals = Counter()
        self.sums: Totals = Counter()
        for _, metric, class_, count, total, _ in sink.rows(MOMENTS):
            self.counts[str(metric), str(class_)] += int(count)
            self.sums[str(metric), str(class_)] += int(total)
        for _, metric, class_, value in sink.rows(COUNTER):
            self.sums[str(metric), str(class_)] += int(value)
        self.written = self._disk_writes()

    def _disk_writes(self) -> Counter[str]:
        """Returns the bytes that disks wrote, by place and by cause."""
        written: Counter[str] = Counter()
        for (metric, class_), size in self.sums.items():
            if metric == "disk_write_bytes":
                place, cause = class_.split("/")
                written[place] += size
                written[cause] += size
        return written

    def per_txn(self, value: float) -> float:
        """Returns a total divided by the transactions committed."""
        return value / self.result.transactions

    def mean_ms(self, metric: str, class_: str) -> float | None:
        """Returns the mean of a series in ms, or None if it has no values."""
        count = self.counts[metric, class_]
        return self.sums[metric, class_] / count / NS_PER_MS if count else None


def facts_digest(sink: MemorySink) -> str:
    """Returns the SHA-256 of every row of every table, in order."""
    digest = hashlib.sha256()
    for table in TABLES:
        for row in sink.rows(table):
            digest.update(f"{table} {row}\n".encode())
    return digest.hexdigest()


def figures(of: Golden) -> dict[str, float | str | None]:
    """Returns what one column of the table says, by row."""
    result, sums = of.result, of.sums
    return {
        "transactions": result.transactions,
        "events per txn": of.per_txn(result.events),
        "lock requests per txn": of.per_txn(sums["lock_rpcs", "all"]),
        **{f"lock latency, {path} (ms)": of.mean_ms("lock_latency", path) for path in LOCKS},
        "fsyncs per txn": of.per_txn(sums["fsyncs", "raft"]),
        **{f"written to {place} (KiB per txn)": of.per_txn(of.written[place]) / KIB
           for place in PLACES},
        **{f"written for {cause} (KiB per txn)": of.per_txn(of.written[cause]) / KIB
           for cause in CAUSES},
        "violations": len(result.violations),
        "digest of all facts": of.digest[:16],
    }  # fmt: skip


def cell(value: float | str | None) -> str:
    """Returns a value with four decimals at most, a dash for none."""
    match value:
        case None:
            return "-"
        case float():
            return f"{value:.4f}"
        case _:
            return str(value)


def golden_table(file: Path) -> str:
    """Runs a study and returns its table."""
    study = load_study(file)
    columns = {name: figures(Golden(variant)) for name, variant in study.variants.items()}
    labels = next(iter(columns.values()))
    rows = [[label, *(cell(column[label]) for column in columns.values())] for label in labels]
    rows.insert(0, ["", *columns])
    return "".join(f"{row[0]:38}{''.join(f'{text:>18}' for text in row[1:])}\n" for row in rows)


@pytest.mark.parametrize("name", ["tpcc_small", "regions_small", "crowded_small", "cold_small"])
def test_a_small_study_gives_what_it_gave(name: str, rewrite: bool) -> None:
    golden = FOLDER / f"{name}.txt"
    table = golden_table(FOLDER / f"{name}.yaml")
    if rewrite:
        golden.write_text(table)
    assert table == golden.read_text(), "the facts moved; if meant: pytest tests/golden --rewrite"
