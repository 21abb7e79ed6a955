"""Anchors published by TiDB's and TiKV's developers, as figures or as dashboards.

Bands: 15 % for throughput and latency of a whole cluster, 5 points for a gain between two versions,
10 % for counts read off a dashboard.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from analysis.metrics.catalogue import MetricKey
from analysis.validation.anchor import (
    Anchor,
    Band,
    Figure,
    InStudy,
    Origin,
    Quotient,
    Standing,
)
from analysis.validation.published import LOCKS, Locks, gains, published

_TPCC: Final = "tpcc_i3_4xlarge"
_BENCHMARK: Final = (
    "pingcap/docs-cn, benchmark/v5.4-, v6.0- and v6.1-performance-benchmarking-with-tpcc.md"
)
_MACHINES: Final = "TPC-C, 5,000 warehouses, 3 x i3.4xlarge, 3 x c5.4xlarge"
_NEW_ORDERS_PER_MIN: Final = 60 * 0.45
"""Of one transaction a second of all types."""


def _of_tpcc(variant: str, threads: int, metric: str) -> InStudy:
    point = {"workload.threads": threads}
    return InStudy(_TPCC, variant, MetricKey.parse(metric), point=point)


def _benchmark_rows() -> list[Anchor]:
    cases = [(locks, threads) for threads in (50, 400) for locks in LOCKS]
    tpmc = [
        _benchmark_row("tpmC", "1/min", "tpmc", case, published("tpcc", case[1], "tpmc", case[0]))
        for case in cases
    ]
    latency = [
        _benchmark_row("mean latency", "ms", "txn_latency_ms", case, _mean_latency_ms(*case))
        for case in cases
    ]
    return [*tpmc, *(replace(each, standing="derived") for each in latency)]


def _benchmark_row(
    what: str, unit: str, metric: str, case: tuple[Locks, int], theirs: Figure
) -> Anchor:
    locks, threads = case
    return Anchor(
        name=f"{what}, {LOCKS[locks]}, {threads} threads",
        kind="published",
        conditions=_MACHINES,
        source=_BENCHMARK,
        unit=unit,
        theirs=theirs,
        band=Band(share=0.15),
        origin=_of_tpcc(locks, threads, metric),
        standing="fitted",
        quick=threads == 50,
    )


def _mean_latency_ms(locks: Locks, threads: int) -> Figure:
    """Returns threads over transactions a second of all types: a closed loop's mean latency."""
    tpmc = published("tpcc", threads, "tpmc", locks)
    busy = 1_000 * threads * _NEW_ORDERS_PER_MIN
    return Figure(busy / tpmc.value, busy / tpmc.high, busy / tpmc.low)


def _gains() -> list[Anchor]:
    return [
        Anchor(
            name=f"tpmC, v6.0.0 over v5.4.0, {threads} threads",
            kind="published",
            conditions=f"{_MACHINES}; one document's pair; v6.0 carried other changes than locks",
            source="pingcap/docs-cn, benchmark/v6.0-performance-benchmarking-with-tpcc.md",
            unit="%",
            theirs=gains("tpcc", threads),
            band=Band(amount=5.0),
            origin=InStudy(
                _TPCC, "in_memory", MetricKey.parse("tpmc"), against="pipelined",
                point={"workload.threads": threads}, scale=100.0, change=True,
            ),
            standing="fitted",
            quick=threads == 50,
        )
        for threads in (50, 400)
    ]  # fmt: skip


def _counts() -> list[Anchor]:
    dashboards = "TiDB docs, performance-tuning-methods: Grafana and dashboard pictures"
    per_txn = "TPC-C, clustered primary keys, requests over transactions"
    locks = _of_tpcc("in_memory", 50, "lock_rpcs_per_txn")
    prewrites = _of_tpcc("in_memory", 50, "prewrite_rpcs_per_txn")
    rows: tuple[tuple[str, float, Origin, Standing], ...] = (
        ("lock requests per transaction", 5.13, locks, "predicted"),
        ("prewrite requests per transaction", 5.59, prewrites, "predicted"),
        ("lock requests over prewrite requests", 0.906, Quotient(locks, prewrites), "derived"),
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
            standing=standing,
        )
        for name, value, origin, standing in rows
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


_CHANGES: Final = (
    Anchor(
        name="write I/O, raft-engine over raftdb",
        kind="published",
        conditions="cluster and load not named",
        source="TiDB release notes 5.4.0 and 6.1.0 (Raft Engine)",
        unit="%",
        theirs=Figure(-32.5, -40.0, -25.0),
        band=Band(amount=7.5),
        origin=InStudy(
            "raft_engine", "raft_engine", MetricKey.parse("disk_write_bytes_per_txn"),
            against="raftdb", scale=100.0, change=True,
        ),
        standing="fitted",
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


PUBLISHED: Final = (*_benchmark_rows(), *_gains(), *_counts(), _rocksdb(), *_CHANGES)
