"""What each metric of a study means, and into which classes it is divided, in words.

Law: every metric of ``METRICS`` has its words here, for the reference and for reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a metric counts, and its classes besides ``all``; empty if it has none."""

    text: str
    classes: str = ""


_PATH = "`in_memory`, `pipelined`, `sync`, `fallback`: how the lock was taken"
_CAUSE = "cause: `lock`, `prewrite`, `commit`, `rollback`, `heartbeat`, `migration`, `admin`"
_BYTES = (
    "place: `raft_log`, `kv_wal`, `flush`, `compaction`; " + _CAUSE + "; `place/cause`"
)  # fmt: skip
_TRANSACTION = "the transaction type, such as `new_order`"
_LOSS = "why: `crash`, `step_down`, `stale_leader`, `proposal_dropped` …"
_ABORT = "why: `rollback` (asked for by TPC-C), `Deadlock`, `lock_wait_timeout`, `retry_limit` …"
_STATION = "the station: `store_cpu`, `store_poller`, `apply`, `scheduler`, `read_pool`, `tidb_cpu`"

MEANINGS: Final[dict[str, Meaning]] = {
    "lock_latency_ms": Meaning(
        "A granted lock request from TiDB and back, without waiting for other transactions.", _PATH
    ),
    "lock_service_ms": Meaning("The part of it inside the store, from arrival to reply.", _PATH),
    "lock_wait_ms": Meaning(
        "Waiting for other transactions' locks, of the granted requests that waited at all."
    ),
    "lock_station_ms": Meaning(
        "Mean time of a lock request at each station of its way; they add up to lock_latency_ms.",
        "`request`, `latch`, `scheduler`, `propose`, `replicate`, `apply`, `reply`; `path/station`",
    ),
    "txn_latency_ms": Meaning(
        "A committed transaction from its start (open loop: the intended one) to the commit's "
        "answer.",
        _TRANSACTION,
    ),
    "txn_per_s": Meaning("Committed transactions a second.", _TRANSACTION),
    "tpmc": Meaning("Committed new-order transactions a minute; TPC-C only."),
    "disk_write_bytes_per_s": Meaning("Bytes written to the disks of all stores.", _BYTES),
    "disk_write_bytes_per_txn": Meaning("The same per committed transaction.", _BYTES),
    "fsync_per_s": Meaning("Syncs of the raft logs of all stores.", "`raft`"),
    "network_bytes_per_s": Meaning(
        "Bytes sent by all nodes.", "`raft`: between stores; `kv`: everything else"
    ),
    "proposals_per_txn": Meaning("Commands proposed to Raft, per committed transaction.", _CAUSE),
    "raft_entries_per_txn": Meaning(
        "Raft log entries written by all replicas, per committed transaction."
    ),
    "lock_rpcs_per_txn": Meaning("Lock requests sent, per committed transaction."),
    "locked_keys_per_txn": Meaning("Keys asked to be locked, per committed transaction."),
    "mutations_per_txn": Meaning("Keys prewritten, per committed transaction."),
    "prewrite_rpcs_per_txn": Meaning("Prewrite requests sent, per committed transaction."),
    "commit_rpcs_per_txn": Meaning("Commit requests sent, per committed transaction."),
    "statement_retries": Meaning("Statements tried again after a write conflict."),
    "cpu_busy": Meaning(
        "Busy time of a pool's threads or of the cores, as a part of their capacity.", _STATION
    ),
    "disk_busy": Meaning(
        "Time in which a device is writing, or a log's writer is at work, as a part of the time.",
        "`raft_disk`, `kv_disk` if there is one, `raft_log`: the one writer of the log",
    ),
    "locks_total": Meaning(
        "Granted lock requests.", _PATH + ", `fallback:full`, `fallback:status` …"
    ),
    "locks_lost": Meaning("Granted locks that ended without their transaction's doing.", _LOSS),
    "mutual_exclusion_lost": Meaning(
        "Keys granted to another transaction while a running one still believed to hold them.",
        _LOSS,
    ),
    "lock_fates": Meaning(
        "How granted locks ended.",
        "`committed`, `rolled_back`, `expired`, `migrated:transfer`, `migrated:split` …, `lost:…`",
    ),
    "txn_aborts": Meaning("Transactions that ended without a commit.", _ABORT),
    "txn_aborts_per_txn": Meaning("The same per committed transaction.", _ABORT),
    "prewrites_amended": Meaning(
        "Keys whose lock prewrite did not find, and wrote all the same: nobody had been there.",
        _LOSS,
    ),
    "prewrites_aborted": Meaning(
        "Prewrites that failed because a pessimistic lock was gone.", _LOSS
    ),
    "prewrites_aborted_per_txn": Meaning("The same per committed transaction.", _LOSS),
    "region_errors": Meaning(
        "Requests refused with a region error.", "TiKV's name, such as `NotLeader`"
    ),
    "lock_table_bytes": Meaning(
        "Memory of a store's in-memory locks, looked at whenever one is granted.", "`store-1` …"
    ),
    "own_latch_wait_ms": Meaning(
        "How long a prewrite waited for latches, the last of which a lock request of its own "
        "transaction held.",
        _PATH,
    ),
    "own_latch_waits_per_txn": Meaning(
        "Prewrites that waited so, per committed transaction.", _PATH
    ),
    "early_prewrites_waited": Meaning(
        "Of the prewrites that came before a lock of their transaction, on one of their keys, was "
        "applied, the part that ran after it was."
    ),
    "leader_transfers": Meaning("How often a region's leader was on another store than before."),
    "leader_transfer_ms": Meaning(
        "From PD's order to move a leader until PD hears from the new one; PD's log calls it "
        "`takes`.",
        "`command`: the old leader first proposed a TransferLeader command, as it does with locks "
        "in memory; `direct`: it did not",
    ),
    "leader_transfers_failed": Meaning(
        "Orders to move a leader that came to nothing.",
        "`timeout`: not done within 10 s; `replaced`: by another for the same region",
    ),
    "splits": Meaning("Regions split."),
    "merges": Meaning("Regions merged into a neighbour."),
    "operations": Meaning("Operations begun.", "the kind, such as `transfer_leader`"),
}
