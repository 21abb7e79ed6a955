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
from typing import Final

from analysis.export.families import (
    CounterFamily,
    Family,
    GaugeFamily,
    HistogramFamily,
    Labels,
    LevelFamily,
    MeanFamily,
    exponential_bounds_s,
)

LOCK_COMMAND: Final = "acquire_pessimistic_lock"

SCHEDULER_BOUNDS_S: Final = exponential_bounds_s(0.0005, 2.0, 20)
TRANSACTION_BOUNDS_S: Final = exponential_bounds_s(0.001, 2.0, 28)

_COMMANDS: Final = {
    "lock_rpcs": LOCK_COMMAND,
    "prewrite_rpcs": "prewrite",
    "commit_rpcs": "commit",
}

_IN_MEMORY_RESULTS: Final = {"in_memory": "success", "fallback:full": "full"}

_ENDS_WITH_REPLY: Final = frozenset(("in_memory", "sync"))
"""Paths on which TiKV's command ends when it is answered; a pipelined one ends when applied."""


def _in_memory_result(_fact: str, class_: str) -> Labels | None:
    result = _IN_MEMORY_RESULTS.get(class_)
    return None if result is None else {"result": result}


def _pipelined_stage(_fact: str, class_: str) -> Labels | None:
    if class_ != "pipelined":
        return None
    return {"type": LOCK_COMMAND, "stage": "pipelined_write"}


def _command(fact: str, _class: str) -> Labels:
    return {"type": _COMMANDS[fact]}


def _lock_command(_fact: str, class_: str) -> Labels | None:
    return {"type": LOCK_COMMAND} if class_ in _ENDS_WITH_REPLY else None


def _latch_wait(_fact: str, class_: str) -> Labels | None:
    """Takes ``pipelined/latch`` of the sums, ``pipelined`` of the counts."""
    _path, _, station = class_.partition("/")
    return {"type": LOCK_COMMAND} if station in ("", "latch") else None


def _engine_flow(_fact: str, class_: str) -> Labels | None:
    kind = {"kv_wal": "wal_file_bytes", "flush": "flush_write_bytes"}.get(class_.partition("/")[0])
    return None if kind is None else {"db": "kv", "type": kind}


def _compaction_flow(_fact: str, class_: str) -> Labels | None:
    place = class_.partition("/")[0]
    return {"db": "kv", "type": "bytes_written"} if place == "compaction" else None


def _deadlock(_fact: str, class_: str) -> Labels | None:
    return {"type": "deadlock"} if class_ == "deadlock" else None


def _amended(_fact: str, _class: str) -> Labels:
    return {"type": "pipelined_acquire_pessimistic_lock_amend_success"}


def region_error_label(name: str) -> str | None:
    """Returns client-go's word for a region error: ``not_leader``; None for a failed connection."""
    if name == "RpcError":
        return None
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _region_error(_fact: str, class_: str) -> Labels | None:
    label = region_error_label(class_)
    return None if label is None else {"type": label}


def _committed(_fact: str, _class: str) -> Labels:
    return {"type": "commit", "scope": "general"}


def _store(_fact: str, class_: str) -> Labels:
    return {"instance": class_}


def _leader(_fact: str, class_: str) -> Labels:
    return {"instance": class_, "type": "leader"}


TIKV_FAMILIES: Final[tuple[Family, ...]] = (
    CounterFamily(
        name="tikv_in_memory_pessimistic_locking",
        about="Lock requests kept in memory, and those for which the table was full.",
        job="tikv",
        facts=("locks_total",),
        labels_of=_in_memory_result,
    ),
    GaugeFamily(
        name="tikv_pessimistic_lock_memory_size",
        about="Bytes of all in-memory locks of a store: mean of what each grant has seen.",
        job="tikv",
        fact="lock_table_bytes",
        labels_of=_store,
    ),
    CounterFamily(
        name="tikv_scheduler_stage_total",
        about="Lock requests answered when proposed.",
        job="tikv",
        facts=("locks_total",),
        labels_of=_pipelined_stage,
    ),
    CounterFamily(
        name="tikv_storage_command_total",
        about="Commands by type, counted as TiDB sends them.",
        job="tikv",
        facts=tuple(_COMMANDS),
        labels_of=_command,
    ),
    HistogramFamily(
        name="tikv_scheduler_command_duration_seconds",
        about="From arrival to the end of a granted lock command, in memory or sync.",
        job="tikv",
        fact="lock_service",
        labels_of=_lock_command,
        bounds_s=SCHEDULER_BOUNDS_S,
    ),
    MeanFamily(
        name="tikv_scheduler_latch_wait_duration_seconds",
        about="Wait for latches of granted lock commands; only sum and count are known.",
        job="tikv",
        sum_fact="lock_station_ns",
        counted_fact="lock_latency",
        labels_of=_latch_wait,
    ),
    CounterFamily(
        name="tikv_engine_flow_bytes",
        about="Bytes written by the KV engines' WAL and flushes.",
        job="tikv",
        facts=("disk_write_bytes",),
        labels_of=_engine_flow,
    ),
    CounterFamily(
        name="tikv_engine_compaction_flow_bytes",
        about="Bytes written by compactions of the KV engines.",
        job="tikv",
        facts=("disk_write_bytes",),
        labels_of=_compaction_flow,
    ),
    LevelFamily(
        name="tikv_raftstore_region_count",
        about="Regions that a store leads.",
        job="tikv",
        gained="leaders_gained",
        lost="leaders_lost",
        labels_of=_leader,
    ),
    CounterFamily(
        name="tikv_storage_mvcc_conflict_counter",
        about="Keys whose lost pessimistic lock prewrite could do without.",
        job="tikv",
        facts=("amended_prewrites",),
        labels_of=_amended,
    ),
    CounterFamily(
        name="tikv_lock_manager_error_counter",
        about="Deadlocks found, counted by the transactions that end for it.",
        job="tikv",
        facts=("txn_aborts",),
        labels_of=_deadlock,
    ),
    HistogramFamily(
        name="tidb_session_transaction_duration_seconds",
        about="Committed transactions, from the client's first statement to the commit.",
        job="tidb",
        fact="txn_latency",
        labels_of=_committed,
        bounds_s=TRANSACTION_BOUNDS_S,
    ),
    CounterFamily(
        name="tidb_tikvclient_region_err_total",
        about="Region errors that clients were told.",
        job="tidb",
        facts=("region_errors",),
        labels_of=_region_error,
    ),
)
