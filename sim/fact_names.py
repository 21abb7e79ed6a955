"""Names of the facts that units leave: which series and counters there are, and their classes."""

from __future__ import annotations

from typing import Final

from sim.protocol.write_batch import CAUSE_NAMES

SERIES: Final = frozenset({
    "leader_transfer", "lock_latency", "lock_service", "lock_table_bytes", "lock_wait",
    "own_latch_wait", "request_unfinished", "txn_latency", "txn_unfinished",
})  # fmt: skip

COUNTERS: Final = frozenset({
    "amended_prewrites", "backoff_ns", "busy_ns", "capacity_ns", "commit_rpcs",
    "disk_write_bytes", "early_prewrites", "engine_events", "fsyncs", "leader_transfers",
    "leader_transfers_failed", "leaders_gained", "lock_fates", "lock_rpcs", "lock_station_ns",
    "locked_keys", "locks_lost", "locks_total", "merges", "mutations", "mutual_exclusion_lost",
    "network_bytes", "operations", "own_latch_waits", "prewrite_rpcs", "prewrites_aborted",
    "prewrites_amended", "proposals", "raft_entries", "raft_entry_bytes", "region_errors",
    "splits", "statement_retries", "store_messages", "txn_aborts", "txns", "txns_started",
})  # fmt: skip

WRITE_CAUSES: Final = CAUSE_NAMES
"""Why bytes are written; classes of ``proposals`` and, after the place, ``disk_write_bytes``."""
