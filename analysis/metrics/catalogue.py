"""From facts' names to the names of ``summary.json``, as tables.

A series becomes its statistics in a reader's unit, a counter a rate, an amount per committed
transaction, or a total. A metric that is not listed here is not published; the facts still hold it.
Units and statistics are those of ``sim.scenario.metrics``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

QUANTILES: Final = frozenset({"p50", "p90", "p95", "p99", "p999"})
MS_PER_NS: Final = 1e-6


@dataclass(frozen=True, slots=True)
class SeriesMetric:
    """Statistics of a series, scaled to the published unit."""

    fact: str
    metric: str
    scale: float


@dataclass(frozen=True, slots=True)
class CounterMetric:
    """A counter, published as ``per``: ``second``, ``transaction``, ``minute`` or ``run``."""

    fact: str
    metric: str
    per: str
    always: bool = False
    """Published as 0 even if no unit ever counted it: its absence would leave a doubt."""


SERIES: Final = (
    SeriesMetric("lock_latency", "lock_latency_ms", MS_PER_NS),
    SeriesMetric("lock_service", "lock_service_ms", MS_PER_NS),
    SeriesMetric("lock_wait", "lock_wait_ms", MS_PER_NS),
    SeriesMetric("txn_latency", "txn_latency_ms", MS_PER_NS),
    SeriesMetric("own_latch_wait", "own_latch_wait_ms", MS_PER_NS),
    SeriesMetric("leader_transfer", "leader_transfer_ms", MS_PER_NS),
    SeriesMetric("lock_table_bytes", "lock_table_bytes", 1.0),
)

COUNTERS: Final = (
    CounterMetric("txns", "txn_per_s", "second"),
    CounterMetric("disk_write_bytes", "disk_write_bytes_per_s", "second"),
    CounterMetric("disk_write_bytes", "disk_write_bytes_per_txn", "transaction"),
    CounterMetric("fsyncs", "fsync_per_s", "second"),
    CounterMetric("network_bytes", "network_bytes_per_s", "second"),
    CounterMetric("proposals", "proposals_per_txn", "transaction"),
    CounterMetric("raft_entries", "raft_entries_per_txn", "transaction"),
    CounterMetric("lock_rpcs", "lock_rpcs_per_txn", "transaction"),
    CounterMetric("locked_keys", "locked_keys_per_txn", "transaction"),
    CounterMetric("mutations", "mutations_per_txn", "transaction"),
    CounterMetric("prewrite_rpcs", "prewrite_rpcs_per_txn", "transaction"),
    CounterMetric("commit_rpcs", "commit_rpcs_per_txn", "transaction"),
    CounterMetric("statement_retries", "statement_retries", "run"),
    CounterMetric("locks_total", "locks_total", "run"),
    CounterMetric("txn_aborts", "txn_aborts", "run", always=True),
    CounterMetric("txn_aborts", "txn_aborts_per_txn", "transaction", always=True),
    CounterMetric("prewrites_amended", "prewrites_amended", "run", always=True),
    CounterMetric("prewrites_aborted", "prewrites_aborted", "run", always=True),
    CounterMetric("prewrites_aborted", "prewrites_aborted_per_txn", "transaction", always=True),
    CounterMetric("region_errors", "region_errors", "run"),
    CounterMetric("operations", "operations", "run"),
    CounterMetric("lock_fates", "lock_fates", "run"),
    CounterMetric("locks_lost", "locks_lost", "run", always=True),
    CounterMetric("mutual_exclusion_lost", "mutual_exclusion_lost", "run", always=True),
    CounterMetric("leader_transfers", "leader_transfers", "run", always=True),
    CounterMetric("leader_transfers_failed", "leader_transfers_failed", "run"),
    CounterMetric("own_latch_waits", "own_latch_waits_per_txn", "transaction"),
    CounterMetric("splits", "splits", "run", always=True),
    CounterMetric("merges", "merges", "run", always=True),
)
