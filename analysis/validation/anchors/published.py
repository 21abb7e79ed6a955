"""Anchors published by TiDB's and TiKV's developers, as figures or as dashboards.

Two publications of one figure give its spread. Bands: 15 % for throughput and latency of a whole
cluster, 5 points for a gain between two versions, 10 % for counts read off a dashboard.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from analysis.metrics.catalogue import MetricKey
from analysis.validation.anchor import Anchor, Band, Figure, InStudy, Quotient

_TPCC: Final = "tpcc_i3_4xlarge"
_BENCHMARK: Final = (
    "pingcap/docs-cn, benchmark/v5.4-, v6.0- and v6.1-performance-benchmarking-with-tpcc.md"
)
_MACHINES: Final = "TPC-C, 5,000 warehouses, 3 x i3.4xlarge, 3 x c5.4xlarge"
_VERSIONS: Final = {"pipelined": "v5.4.0", "in_memory": "v6.0.0"}
_TPMC: Final = {
    ("pipelined", 50): (44_204.4, 44_822.8),
    ("in_memory", 50): (54_956.6, 59_059.2),
    ("pipelined", 400): (58_034.6, 58_675.0),
    ("in_memory", 400): (71_254.8, 72_694.3),
}
_MEAN_LATENCY_MS: Final = {
    ("pipelined", 50): (30.1, 30.5),
    ("in_memory", 50): (22.9, 24.6),
    ("pipelined", 400): (184.1, 186.1),
    ("in_memory", 400): (148.6, 151.6),
}
"""Threads over transactions a second of all types: Little's law on the published rates."""


def _between(low: float, high: float) -> Figure:
    return Figure((low + high) / 2, low, high)


def _of_tpcc(variant: str, threads: int, metric: str) -> InStudy:
    point = {"workload.threads": threads}
    return InStudy(_TPCC, variant, MetricKey.parse(metric), point=point)


def _benchmark_rows() -> list[Anchor]:
    return [
        Anchor(
            name=f"{what}, {_VERSIONS[variant]}, {threads} threads",
            kind="published",
            conditions=_MACHINES,
            source=_BENCHMARK,
            unit=unit,
            theirs=_between(*spread),
            band=Band(share=0.15),
            origin=_of_tpcc(variant, threads, metric),
            fitted=True,
            quick=threads == 50,
        )
        for what, unit, metric, table in (
            ("tpmC", "1/min", "tpmc", _TPMC),
            ("mean latency", "ms", "txn_latency_ms", _MEAN_LATENCY_MS),
        )
        for (variant, threads), spread in table.items()
    ]


def _gains() -> list[Anchor]:
    gains = []
    for threads in (50, 400):
        old, new = _TPMC["pipelined", threads], _TPMC["in_memory", threads]
        spread = (100 * (new[0] / old[1] - 1), 100 * (new[1] / old[0] - 1))
        gains.append(
            Anchor(
                name=f"tpmC, v6.0.0 over v5.4.0, {threads} threads",
                kind="published",
                conditions=_MACHINES,
                source=_BENCHMARK,
                unit="%",
                theirs=_between(*spread),
                band=Band(amount=5.0),
                origin=InStudy(
                    _TPCC, "in_memory", MetricKey.parse("tpmc"), against="pipelined",
                    point={"workload.threads": threads}, scale=100.0, change=True,
                ),
                fitted=True,
                quick=threads == 50,
            )
        )  # fmt: skip
    return gains


def _counts() -> list[Anchor]:
    dashboards = "TiDB docs, performance-tuning-methods: Grafana and dashboard pictures"
    per_txn = "TPC-C, clustered primary keys, requests over transactions"
    locks = _of_tpcc("in_memory", 50, "lock_rpcs_per_txn")
    prewrites = _of_tpcc("in_memory", 50, "prewrite_rpcs_per_txn")
    rows = (
        ("lock requests per transaction", 5.13, locks),
        ("prewrite requests per transaction", 5.59, prewrites),
        ("lock requests over prewrite requests", 0.906, Quotient(locks, prewrites)),
    )
    return [
        Anchor(
            name=name,
            kind="published",
            conditions=per_txn,
            source=dashboards,
            unit="",
            theirs=Figure.exactly(value),
            band=Band(share=0.10),
            origin=origin,
        )
        for name, value, origin in rows
    ]


_ROW_BYTES: Final = 3_468
"""What an average TPC-C transaction writes into rows, from its schema and mix."""


def _rocksdb() -> Anchor:
    written = _of_tpcc("in_memory", 50, "disk_write_bytes_per_txn.kv_wal")
    return Anchor(
        name="RocksDB's bytes over row bytes",
        kind="published",
        conditions="TPC-C, locks in memory: WAL of three replicas over 3,468 B a transaction",
        source="TiDB docs, performance-tuning-methods: 109 over 13.1 MB/s",
        unit="",
        theirs=Figure.exactly(8.3),
        band=Band(share=0.10),
        origin=replace(written, scale=1 / _ROW_BYTES),
    )


def _autocommit() -> list[Anchor]:
    return [
        Anchor(
            name=f"autocommit updates, {what}",
            kind="published",
            conditions="in memory over pipelined, oltp_update_non_index: no lock requests",
            source="TiDB docs: single-statement autocommit transactions are tried optimistically",
            unit="",
            theirs=Figure.exactly(1.0),
            band=Band(amount=0.02),
            origin=InStudy(
                "sysbench_update_non_index", "in_memory", MetricKey.parse(metric),
                against="pipelined",
            ),
        )
        for what, metric in (
            ("throughput", "txn_per_s"),
            ("latency", "txn_latency_ms"),
            ("disk bytes", "disk_write_bytes_per_txn"),
        )
    ]  # fmt: skip


_CHANGES: Final = (
    Anchor(
        name="write I/O, raft-engine over raftdb",
        kind="published",
        conditions="cluster and load not named",
        source="TiDB release notes 5.4.0 and 6.1.0 (Raft Engine)",
        unit="%",
        theirs=_between(-40.0, -25.0),
        band=Band(amount=2.0),
        origin=InStudy(
            "raft_engine", "raft_engine", MetricKey.parse("disk_write_bytes_per_txn"),
            against="raftdb", scale=100.0, change=True,
        ),
    ),
    Anchor(
        name="TPC-C throughput, pipelined over sync",
        kind="published",
        conditions="v4.0.0-rc, hardware and load not named",
        source="tikv/tikv#6984, release notes 4.0.0-rc",
        unit="%",
        theirs=Figure.exactly(20.0),
        band=Band(amount=5.0),
        quick=False,
        origin=InStudy(
            "pipelined_over_sync", "pipelined", MetricKey.parse("txn_per_s"), against="sync",
            scale=100.0, change=True,
        ),
    ),
)  # fmt: skip


def _own_latches() -> list[Anchor]:
    """Prewrites behind the latches of their own transaction's locks.

    In percent, so that exact figures do not make the mean errors of the others look small.
    """
    waited = _of_tpcc("pipelined", 50, "early_prewrites_waited")
    synced = InStudy("pipelined_over_sync", "sync", MetricKey.parse("own_latch_waits_per_txn"))
    kept = _of_tpcc("in_memory", 50, "own_latch_waits_per_txn")
    rows: tuple[tuple[str, str, float, InStudy, bool], ...] = (
        ("of prewrites before their own lock is applied, those that wait", "pipelined", 100.0,
         replace(waited, scale=100.0), True),
        ("prewrites behind their own lock, in memory", "in memory, per transaction", 0.0,
         replace(kept, scale=100.0), True),
        ("prewrites behind their own lock, sync", "answered once applied, per transaction", 0.0,
         replace(synced, scale=100.0), False),
    )  # fmt: skip
    return [
        Anchor(
            name=name,
            kind="published",
            conditions=f"TPC-C, 50 threads, {conditions}",
            source="tikv/tikv#8045; src/storage/txn/scheduler.rs (when latches are freed)",
            unit="%",
            theirs=Figure.exactly(theirs),
            band=Band(),
            origin=origin,
            quick=quick,
        )
        for name, conditions, theirs, origin, quick in rows
    ]


PUBLISHED: Final = (
    *_benchmark_rows(),
    *_gains(),
    *_counts(),
    _rocksdb(),
    *_autocommit(),
    *_CHANGES,
    *_own_latches(),
)
