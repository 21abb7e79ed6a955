"""Metrics of TiKV and TiDB that the facts truly support, under their own names and labels.

What differs from the real metric, if anything, is said in ``about`` and in ``docs/EXPORTS.md``.
Nodes of a kind are counted together; only lock tables and leaders are known by store.

Source: names, labels, bounds: tikv/tikv src/storage/metrics.rs, src/storage/mvcc/metrics.rs,
src/server/lock_manager/metrics.rs, components/raftstore/src/store/worker (txn_ext),
components/engine_rocks/src/rocks_metrics.rs; pingcap/tidb pkg/metrics/session.go;
tikv/client-go metrics/metrics.go, internal/locate/region_request.go (regionErrorToLabel).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from analysis.export.families import (
    Buckets,
    Difference,
    Family,
    Labels,
    LabelsOf,
    Level,
    SumAndCount,
    Total,
    exponential_bounds_s,
)

LOCK_COMMAND: Final = "acquire_pessimistic_lock"

SCHEDULER_BOUNDS_S: Final = exponential_bounds_s(0.0005, 2.0, 20)
TRANSACTION_BOUNDS_S: Final = exponential_bounds_s(0.001, 2.0, 28)

_COMMANDS: Final = {
    "lock_rpcs": LOCK_COMMAND, "prewrite_rpcs": "prewrite", "commit_rpcs": "commit",
}  # fmt: skip
_OF_LOCKS: Final = {"type": LOCK_COMMAND}


def _always(**labels: str) -> LabelsOf:
    return lambda _fact, _class: labels


def _of(labels: Mapping[str, Labels]) -> LabelsOf:
    """Takes the classes that are named, by what stands before their slash."""
    return lambda _fact, class_: labels.get(class_.partition("/")[0])


def _latch_wait(_fact: str, class_: str) -> Labels | None:
    """Takes ``pipelined/latch`` of the sums, ``pipelined`` of the counts."""
    return _OF_LOCKS if class_.partition("/")[2] in {"", "latch"} else None


def region_error_label(name: str) -> str | None:
    """Returns client-go's word for a region error: ``not_leader``; None for a failed connection."""
    if name == "RpcError":
        return None
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _region_error(_fact: str, class_: str) -> Labels | None:
    label = region_error_label(class_)
    return None if label is None else {"type": label}


TIKV_FAMILIES: Final = (
    Family(
        "tikv_in_memory_pessimistic_locking",
        "Lock requests kept in memory, and those for which the table was full.",
        "tikv", Total(("locks_total",)),
        _of({"in_memory": {"result": "success"}, "fallback:full": {"result": "full"}}),
    ),
    Family(
        "tikv_pessimistic_lock_memory_size",
        "Bytes of all in-memory locks of a store: mean of what each grant has seen.",
        "tikv", Level(series=("lock_table_bytes",)), lambda _, class_: {"instance": class_},
    ),
    Family(
        "tikv_scheduler_stage_total",
        "Lock requests answered when proposed.",
        "tikv", Total(("locks_total",)),
        _of({"pipelined": _OF_LOCKS | {"stage": "pipelined_write"}}),
    ),
    Family(
        "tikv_storage_command_total",
        "Commands by type, counted as TiDB sends them.",
        "tikv", Total(tuple(_COMMANDS)), lambda fact, _: {"type": _COMMANDS[fact]},
    ),
    Family(
        "tikv_scheduler_command_duration_seconds",
        "From arrival to the end of a granted lock command, in memory or sync.",
        "tikv", Buckets.of("lock_service", SCHEDULER_BOUNDS_S),
        _of({"in_memory": _OF_LOCKS, "sync": _OF_LOCKS}),  # a pipelined one ends when it is applied
    ),
    Family(
        "tikv_scheduler_latch_wait_duration_seconds",
        "Wait for latches of granted lock commands; only sum and count are known.",
        "tikv", SumAndCount(("lock_station_ns",), ("lock_latency",)), _latch_wait,
    ),
    Family(
        "tikv_engine_flow_bytes",
        "Bytes written by the KV engines' WAL and flushes.",
        "tikv", Total(("disk_write_bytes",)),
        _of({"kv_wal": {"db": "kv", "type": "wal_file_bytes"},
             "flush": {"db": "kv", "type": "flush_write_bytes"}}),
    ),
    Family(
        "tikv_engine_compaction_flow_bytes",
        "Bytes written by compactions of the KV engines.",
        "tikv", Total(("disk_write_bytes",)),
        _of({"compaction": {"db": "kv", "type": "bytes_written"}}),
    ),
    Family(
        "tikv_raftstore_region_count",
        "Regions that a store leads.",
        "tikv", Difference(("leaders_gained", "leaders_lost")),
        lambda _, class_: {"instance": class_, "type": "leader"},
    ),
    Family(
        "tikv_storage_mvcc_conflict_counter",
        "Keys whose lost pessimistic lock prewrite could do without.",
        "tikv", Total(("amended_prewrites",)),
        _always(type="pipelined_acquire_pessimistic_lock_amend_success"),
    ),
    Family(
        "tikv_lock_manager_error_counter",
        "Deadlocks found, counted by the transactions that end for it.",
        "tikv", Total(("txn_aborts",)), _of({"deadlock": {"type": "deadlock"}}),
    ),
    Family(
        "tidb_session_transaction_duration_seconds",
        "Committed transactions, from the client's first statement to the commit.",
        "tidb", Buckets.of("txn_latency", TRANSACTION_BOUNDS_S),
        _always(type="commit", scope="general"),
    ),
    Family(
        "tidb_tikvclient_region_err_total",
        "Region errors that clients were told.",
        "tidb", Total(("region_errors",)), _region_error,
    ),
)  # fmt: skip
