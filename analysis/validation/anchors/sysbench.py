"""Anchors of sysbench and of an idle cluster, on the machines of the TPC-C anchors.

Point selects and autocommit updates ask for no locks, so all versions' publications count as one
figure. Bands: 15 % for throughput, 25 % for p95, 20 % for what was worked out from pictures.
"""

from __future__ import annotations

from typing import Final

from analysis.metrics.catalogue import MetricKey
from analysis.validation.anchor import Anchor, Band, Figure, InStudy
from analysis.validation.published import Column, published

_DOCUMENTS: Final = "pingcap/docs-cn, benchmark/benchmark-sysbench-v5.3.0- to v6.1.0-vs-*.md"
_MACHINES: Final = "16 tables of 10 M rows, uniform, 3 x i3.4xlarge, 3 x c5.4xlarge; v5.3 to v6.0"
_FIGURES: Final[tuple[tuple[str, str, str, Column, Band], ...]] = (
    ("transactions per second", "1/s", "txn_per_s", "txn_per_s", Band(share=0.15)),
    ("p95", "ms", "txn_latency_ms.p95", "p95_ms", Band(share=0.25)),
)


def _levels() -> list[Anchor]:
    return [
        Anchor(
            name=f"{workload} {what}, {threads} threads",
            kind="published",
            conditions=_MACHINES,
            source=_DOCUMENTS,
            unit=unit,
            theirs=published(workload, threads, column),
            band=band,
            origin=InStudy(
                workload.replace("oltp", "sysbench"), "in_memory", MetricKey.parse(metric),
                point={"workload.threads": threads},
            ),
            standing="fitted",
        )
        for workload in ("oltp_point_select", "oltp_update_non_index")
        for what, unit, metric, column, band in _FIGURES
        for threads in (300, 600, 900)
    ]  # fmt: skip


_STATEMENT_MS: Final = 0.477
_PAUSE_MS: Final = 0.171
_STATEMENTS: Final = 14.6
"""Of an average transaction: 12.6 executed, and BEGIN and COMMIT."""

_IDLE: Final = (
    Anchor(
        name="lock request, idle cluster",
        kind="published",
        conditions="OLTP at low load, locks in memory; here oltp_write_only, one thread",
        source="TiDB docs, performance-tuning-methods: oltp_kv_tso.png",
        unit="ms",
        theirs=Figure.exactly(0.303),
        band=Band(share=0.15),
        origin=InStudy("sysbench_idle", "in_memory", MetricKey.parse("lock_latency_ms")),
        standing="fitted",
    ),
    Anchor(
        name="TPC-C transaction, one client",
        kind="published",
        conditions="14.6 statements of 0.477 ms, 0.171 ms between them, at light load",
        source="TiDB docs, performance-tuning-methods: tpcc_duration_idle.png, tpcc_qps.png",
        unit="ms",
        theirs=Figure.exactly(_STATEMENTS * (_STATEMENT_MS + _PAUSE_MS)),
        band=Band(share=0.20),
        origin=InStudy("tpcc_idle", "in_memory", MetricKey.parse("txn_latency_ms")),
        standing="fitted",
    ),
)

SYSBENCH: Final = (*_levels(), *_IDLE)
