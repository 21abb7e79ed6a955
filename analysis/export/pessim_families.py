"""Facts that no metric of TiKV or TiDB says as they are, as metrics with names of their own.

A class such as ``raft_log/commit`` is cut at its slash (``fallback:full`` at its colon), one label
a part.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from analysis.export.families import (
    CounterFamily,
    Family,
    HistogramFamily,
    Labels,
    exponential_bounds_s,
)

LATENCY_BOUNDS_S: Final = exponential_bounds_s(0.0001, 2**0.5, 34)
"""100 us to 9.3 s; a quantile read off it is within 41 % even without interpolation."""

WAIT_BOUNDS_S: Final = exponential_bounds_s(0.0001, 2.0, 21)
"""100 us to 105 s: beyond ``innodb_lock_wait_timeout``."""

NS_PER_S: Final = 10**9


def _cut(names: tuple[str, ...], _fact: str, class_: str) -> Labels:
    if not names:
        return {}
    if len(names) == 1:
        return {names[0]: class_}
    parts = re.split("[/:]", class_, maxsplit=len(names) - 1)
    return dict(zip(names, [*parts, *[""] * len(names)], strict=False))


def _path(_fact: str, class_: str) -> Labels:
    return {"path": class_}


def _way(_fact: str, class_: str) -> Labels:
    return {"way": class_}


def _all(_fact: str, _class: str) -> Labels:
    return {}


def _counter(fact: str, name: str, about: str, *labels: str) -> CounterFamily:
    """Returns a family; a fact in ns becomes seconds."""
    is_time = fact.endswith("_ns")
    return CounterFamily(
        name=f"pessim_{name}_total",
        about=about,
        job="pessim",
        facts=(fact,),
        labels_of=partial(_cut, labels),
        divisor=NS_PER_S if is_time else 1,
    )


PESSIM_FAMILIES: Final[tuple[Family, ...]] = (
    HistogramFamily(
        name="pessim_lock_latency_seconds",
        about="A granted lock request as TiDB sees it, without waits for other transactions.",
        job="pessim",
        fact="lock_latency",
        labels_of=_path,
        bounds_s=LATENCY_BOUNDS_S,
    ),
    HistogramFamily(
        name="pessim_lock_service_seconds",
        about="A granted lock request inside TiKV until its answer, without such waits.",
        job="pessim",
        fact="lock_service",
        labels_of=_path,
        bounds_s=WAIT_BOUNDS_S,
    ),
    HistogramFamily(
        name="pessim_lock_wait_seconds",
        about="Waits in a store for another transaction's lock that ended with a grant.",
        job="pessim",
        fact="lock_wait",
        labels_of=_all,
        bounds_s=WAIT_BOUNDS_S,
    ),
    HistogramFamily(
        name="pessim_leader_transfer_seconds",
        about="From PD's order to move a leader until PD hears from the new one.",
        job="pessim",
        fact="leader_transfer",
        labels_of=_way,
        bounds_s=WAIT_BOUNDS_S,
    ),
    HistogramFamily(
        name="pessim_own_latch_wait_seconds",
        about="Waits of prewrites for latches of their own transaction's lock requests.",
        job="pessim",
        fact="own_latch_wait",
        labels_of=_path,
        bounds_s=WAIT_BOUNDS_S,
    ),
    _counter("lock_station_ns", "lock_station_seconds",
             "Time of granted lock requests by station.", "path", "station"),
    _counter("locks_total", "locks_granted",
             "Granted lock requests by path, and why they fell back.", "path", "reason"),
    _counter("locked_keys", "locked_keys", "Keys asked to be locked."),
    _counter("lock_fates", "lock_fates", "What became of locks.", "fate", "cause"),
    _counter("locks_lost", "locks_lost", "Locks lost, by cause.", "cause"),
    _counter("mutual_exclusion_lost", "mutual_exclusion_lost",
             "Keys granted while their old holder believed to hold them.", "cause"),
    _counter("prewrites_amended", "prewrites_amended",
             "Keys prewritten without the lock that was lost, by cause of the loss.", "cause"),
    _counter("prewrites_aborted", "prewrites_aborted",
             "Prewrites refused for a lost lock, by cause of the loss.", "cause"),
    _counter("txns_started", "transactions_started", "Transactions begun."),
    _counter("txns", "transactions", "Transactions committed, by type.", "txn"),
    _counter("txn_aborts", "transaction_aborts", "Transactions ended otherwise.", "reason"),
    _counter("statement_retries", "statement_retries", "Statements tried again."),
    _counter("mutations", "mutations", "Keys prewritten."),
    _counter("backoff_ns", "backoff_seconds", "Time requests were held back.", "type"),
    _counter("disk_write_bytes", "disk_written_bytes",
             "Bytes the disks wrote, padding included.", "place", "cause"),
    _counter("raft_entry_bytes", "raft_entry_bytes",
             "Entries as proposed, on every replica that logs them.", "cause"),
    _counter("raft_entries", "raft_entries", "Entries appended, over replicas."),
    _counter("proposals", "proposals", "Commands proposed.", "cause"),
    _counter("fsyncs", "fsyncs", "Syncs of the raft log.", "log"),
    _counter("network_bytes", "network_bytes", "Bytes sent between stores, and else.", "link"),
    _counter("busy_ns", "station_busy_seconds", "Busy time over servers of a kind.", "station"),
    _counter("capacity_ns", "station_capacity_seconds", "What busy time could be.", "station"),
    _counter("operations", "operations", "What was done to the cluster.", "kind"),
    _counter("leader_transfers", "leader_transfers", "Leaders that have moved."),
    _counter("leader_transfers_failed", "leader_transfers_failed",
             "Orders to move a leader that failed.", "why"),
    _counter("own_latch_waits", "own_latch_waits",
             "Prewrites that waited for their own transaction's lock request.", "path"),
    _counter("early_prewrites", "early_prewrites",
             "Prewrites that came before their own lock was applied.", "then"),
    _counter("splits", "splits", "Regions split."),
    _counter("merges", "merges", "Regions merged."),
)  # fmt: skip

NOT_EXPORTED: Final = frozenset(("engine_events", "store_messages"))
"""Counters of the simulation's own cost."""
