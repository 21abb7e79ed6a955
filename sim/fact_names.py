"""The facts that units leave: every series and every counter, what it says, and what splits it.

Names are those of the fact tables. A series of times is in ns; a name that ends in ``_ns`` or
``_bytes`` says its unit, any other counter counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sim.protocol.write_batch import CAUSE_NAMES


@dataclass(frozen=True, slots=True)
class Fact:
    """A series or a counter.

    Attributes:
        meaning: one sentence.
        parts: what its classes say. Those of several parts have a slash or a colon between them
            (``raft_log/commit``, ``fallback:full``); the last ones may be absent.
    """

    meaning: str
    parts: tuple[str, ...] = ()


LOG_WRITER: Final = "raft_log"
"""The station that takes all who wait in one group: it is busy as soon as there is something to
write, and more load makes its groups larger before it makes waits longer. Its busy share does not
say how much is left."""

SERIES: Final = {
    "lock_latency": Fact(
        "A granted lock request as TiDB sees it, without waits for other transactions.", ("path",)
    ),
    "lock_service": Fact(
        "A granted lock request inside TiKV until its answer, without such waits.", ("path",)
    ),
    "lock_wait": Fact(
        "Waits in a store for other transactions' locks, of each request that was answered."
    ),
    "leader_transfer": Fact(
        "From PD's order to move a leader until PD hears from the new one.", ("way",)
    ),
    "own_latch_wait": Fact(
        "Waits of prewrites for latches of their own transaction's lock requests.", ("path",)
    ),
    "txn_latency": Fact("Committed transactions, from begin to the commit's answer.", ("txn",)),
    "txn_unfinished": Fact("Ages of transactions that had not ended with the run.", ("txn",)),
    "request_unfinished": Fact("Ages of requests without an answer then.", ("kind",)),
    "lock_table_bytes": Fact("In-memory locks of a store, at every grant.", ("store",)),
}

COUNTERS: Final = {
    "lock_station_ns": Fact("Time of granted lock requests by station.", ("path", "station")),
    "locks_total": Fact("Granted lock requests by path, and why they fell back.",
                        ("path", "reason")),
    "locked_keys": Fact("Keys asked to be locked."),
    "lock_fates": Fact("What became of locks.", ("fate", "cause")),
    "locks_lost": Fact("Locks lost, by cause.", ("cause",)),
    "mutual_exclusion_lost": Fact("Keys granted while their old holder believed to hold them.",
                                  ("cause",)),
    "prewrites_amended": Fact("Keys prewritten without the lock that was lost, by cause of the "
                              "loss.", ("cause",)),
    "prewrites_aborted": Fact("Prewrites refused for a lost lock, by cause of the loss.",
                              ("cause",)),
    "txns_started": Fact("Transactions begun."),
    "txns": Fact("Transactions committed, by type.", ("txn",)),
    "txn_aborts": Fact("Transactions ended otherwise.", ("reason",)),
    "txn_aborted_ns": Fact("How long those took in sum.", ("reason",)),
    "statement_retries": Fact("Statements tried again."),
    "mutations": Fact("Keys prewritten."),
    "backoff_ns": Fact("Time requests were held back.", ("type",)),
    "disk_write_bytes": Fact("Bytes the disks wrote, padding included.", ("place", "cause")),
    "raft_entry_bytes": Fact("Entries as proposed, on every replica that logs them.", ("cause",)),
    "raft_entries": Fact("Entries appended, over replicas."),
    "proposals": Fact("Commands proposed.", ("cause",)),
    "fsyncs": Fact("Syncs of the raft log.", ("log",)),
    "network_bytes": Fact("Bytes sent between stores, and else.", ("link",)),
    "busy_ns": Fact("Busy time over servers of a kind.", ("station",)),
    "capacity_ns": Fact("What busy time could be.", ("station",)),
    "operations": Fact("What was done to the cluster.", ("kind",)),
    "operations_skipped": Fact("What could not be done when it was due, and why.",
                               ("operation", "why")),
    "leader_transfers": Fact("Leaders that have moved."),
    "leader_transfers_failed": Fact("Orders to move a leader that failed.", ("why",)),
    "own_latch_waits": Fact("Prewrites that waited for their own transaction's lock request.",
                            ("path",)),
    "early_prewrites": Fact("Prewrites that came before their own lock was applied.", ("then",)),
    "splits": Fact("Regions split."),
    "merges": Fact("Regions merged."),
    "amended_prewrites": Fact("Keys prewritten without their lock, as clients hear of them."),
    "lock_rpcs": Fact("Lock requests sent."),
    "prewrite_rpcs": Fact("Prewrite requests sent."),
    "commit_rpcs": Fact("Commit requests sent."),
    "requests_answered": Fact("Requests of TiDB that were answered for good.", ("kind",)),
    "request_ns": Fact("Their time from being first sent, without waits for other transactions.",
                       ("kind",)),
    "request_service_ns": Fact("Of that, from arrival at a store, at the last try, to the reply.",
                               ("kind",)),
    "region_errors": Fact("Requests refused with a region error.", ("error",)),
    "leaders_gained": Fact("Regions that a store has begun to lead.", ("store",)),
    "leaders_lost": Fact("Regions that a store has ceased to lead.", ("store",)),
    "engine_events": Fact("Events that the simulation took."),
    "store_messages": Fact("Messages to peers that pollers took out of mailboxes."),
}  # fmt: skip

WRITE_CAUSES: Final = CAUSE_NAMES
"""Why bytes are written; classes of ``proposals`` and, after the place, ``disk_write_bytes``."""

SKIPPED: Final = {
    "no_region": "there is no such region",
    "no_store": "there is no such store",
    "none_up": "no store that could be meant is up",
    "none_down": "no store is down",
    "is_down": "the store is down",
    "is_up": "the store is up",
    "is_leader": "the store leads the region already",
    "no_replica": "the store has no replica of the region",
    "has_replica": "the store has a replica of the region already",
    "all_have_one": "every store that is up has a replica of the region",
    "no_follower": "the region has no follower",
    "no_split_key": "the region begins at that key, or has too few rows to be split",
    "no_neighbour": "the region has no neighbour on that side",
    "other_stores": "the neighbour is on other stores",
}
"""Why an operation is skipped; classes of ``operations_skipped`` after the operation's name."""
