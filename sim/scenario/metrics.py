"""What a study reports: names, units, and which statistics each metric has.

A metric's key in a file is its name, then its class unless that is ``all``, then its statistic
unless that is ``mean``: ``txn_latency_ms.new_order.p95``.
"""

from __future__ import annotations

from typing import Final

METRICS: Final[dict[str, str]] = {
    "lock_latency_ms": "ms",
    "lock_service_ms": "ms",
    "lock_wait_ms": "ms",
    "lock_station_ms": "ms",
    "txn_latency_ms": "ms",
    "txn_per_s": "1/s",
    "tpmc": "1/min",
    "disk_write_bytes_per_s": "B/s",
    "disk_write_bytes_per_txn": "B",
    "fsync_per_s": "1/s",
    "network_bytes_per_s": "B/s",
    "proposals_per_txn": "",
    "raft_entries_per_txn": "",
    "lock_rpcs_per_txn": "",
    "locked_keys_per_txn": "",
    "mutations_per_txn": "",
    "prewrite_rpcs_per_txn": "",
    "commit_rpcs_per_txn": "",
    "statement_retries": "",
    "cpu_busy": "",
    "disk_busy": "",
    "locks_total": "",
    "locks_lost": "",
    "mutual_exclusion_lost": "",
    "lock_fates": "",
    "txn_aborts": "",
    "txn_aborts_per_txn": "",
    "prewrites_amended": "",
    "prewrites_aborted": "",
    "prewrites_aborted_per_txn": "",
    "region_errors": "",
    "lock_table_bytes": "B",
    "own_latch_wait_ms": "ms",
    "own_latch_waits_per_txn": "",
    "early_prewrites_waited": "",
    "leader_transfers": "",
    "leader_transfer_ms": "ms",
    "leader_transfers_failed": "",
    "splits": "",
    "merges": "",
    "operations": "",
}
"""What a study reports, and its unit."""

STATS: Final = ("mean", "p50", "p90", "p95", "p99", "p999", "max")

_DISTRIBUTIONS: Final = (
    "lock_latency_ms", "lock_service_ms", "lock_wait_ms", "txn_latency_ms", "own_latch_wait_ms",
    "leader_transfer_ms",
)  # fmt: skip

STATS_OF: Final[dict[str, tuple[str, ...]]] = (
    dict.fromkeys(METRICS, ("mean",))
    | dict.fromkeys(_DISTRIBUTIONS, STATS)
    | {"lock_table_bytes": ("max", "p99")}
)
"""Which statistics a metric has; the first is the one to propose."""

SHARES: Final = frozenset({
    "cpu_busy", "disk_busy", "early_prewrites_waited", "txn_aborts_per_txn",
    "prewrites_aborted_per_txn",
})  # fmt: skip
"""Metrics that are a part of something, which a file may write in percent."""
