"""TiKV's keys that the model does not have: what each means for an answer.

Law: the first row whose pattern matches a key speaks for it. Whether a value is TiKV's default is
said beside the key: then only the model departs from a usual cluster, not this cluster as well.

Source: TiDB docs, TiKV configuration file, v8.5 (defaults); docs/MODEL.md (what is simplified).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from sim.scenario.tikv_toml import same_value

NO_EFFECT: Final = "No part in locks, writes or their latency."
UNKNOWN: Final = "Not among the keys known to matter; look it up if you changed it on purpose."

_FLOW: Final = (
    "Compaction never falls behind in the model, so writes are neither slowed nor refused for "
    "it; days of heavy writing may carry less than the answer says."
)
_STALLS: Final = (
    "Memtables and levels never fill up in the model, so there are no write stalls; latency "
    "tails under heavy writing are too short."
)
_AMPLIFICATION: Final = (
    "Compaction is one factor in the model; put what your dashboards show into "
    "hardware.lsm.write_amplification."
)
_COMPACTION_THREADS: Final = (
    "Compaction has no threads of its own in the model; its CPU is part of "
    "hardware.cpu.tikv_background and its bytes part of hardware.lsm.write_amplification."
)
_READS: Final = (
    "Blocks have 64 KiB and filters let nothing through in the model; others change how long "
    "locks and point reads wait for the disk."
)
_RATE: Final = (
    "No limit on bytes is simulated; if this one is below what the disk can do, write it as "
    "hardware.disk.kv.write_bandwidth."
)
_PLACE: Final = (
    "Log and data share one disk unless the scenario says otherwise; if this is another disk, "
    "write hardware.disk.raft and hardware.disk.kv."
)
_LOG_GC: Final = (
    "Log entries stay in memory until every replica has them; a store that was away for long "
    "catches up sooner than yours would."
)
_SPLITS: Final = (
    "Regions split and merge only where the scenario's operations say so; their size is "
    "coprocessor.region-split-size."
)
_LIVENESS: Final = "How a silent replica is found and replaced is not simulated beyond elections."
_SNAPSHOTS: Final = (
    "A snapshot holds only what the run wrote; moving replicas takes less time than in your "
    "cluster."
)
_CUT_OFF: Final = "A store that is cut off is noticed after 13 s in the model, whatever is set."
_POOL: Final = (
    "All reads share one pool in the model, of 80 % of the cores and at least 4 threads; a "
    "smaller one would let point reads wait longer."
)
_QUOTA: Final = (
    "No quota is simulated; a cluster that reaches this one is slower than the answer says."
)
_GARBAGE: Final = (
    "Old versions vanish at no cost in the model; reading and writing for garbage collection "
    "comes on top."
)
_OTHER_LOAD: Final = (
    "This load is not simulated; what it takes from CPU and disk is missing from the answer."
)
_MAILBOX: Final = (
    "A poller's loop takes all mail of a region in the model; it differs only for one very hot "
    "region."
)
_MEMORY: Final = (
    "Memory never runs short in the model; nothing is evicted or refused because of it."
)
_PURGE: Final = (
    "Purging the raft log rewrites nothing in the model; with thousands of idle regions that is"
    " 0.3 % of the bytes."
)


@dataclass(frozen=True, slots=True)
class Unmodelled:
    """Keys that the model does not have, and what that means.

    Attributes:
        pattern: the keys, with ``*`` for any part.
        effect: what the model does instead, and what an answer lacks for it.
        default: TiKV's, as its documentation writes it; None: it depends on machine or version.
    """

    pattern: str
    effect: str
    default: str | int | bool | None = None


_ROWS: Final = (
    Unmodelled(
        "server.grpc-raft-conn-num",
        "One connection between two stores is simulated; with more, regions wait less for each "
        "other's messages.",
        default=1,
    ),
    Unmodelled(
        "server.grpc-compression-type",
        "Messages travel uncompressed in the model; compression takes CPU and spares the network.",
        default="none",
    ),
    Unmodelled(
        "server.grpc-concurrent-stream",
        "Requests never wait for a free stream in the model.",
        default=1024,
    ),
    Unmodelled(
        "server.grpc-memory-pool-quota",
        "gRPC's memory has no limit in the model; one that is reached stalls requests.",
    ),
    Unmodelled("server.grpc-keepalive-time", _CUT_OFF, default="10s"),
    Unmodelled("server.grpc-keepalive-timeout", _CUT_OFF, default="3s"),
    Unmodelled("server.concurrent-*-snap-limit", _SNAPSHOTS, default=32),
    Unmodelled("server.snap-*", _SNAPSHOTS),
    Unmodelled("storage.block-cache.*", _READS),
    Unmodelled("storage.flow-control.enable", _FLOW, default=True),
    Unmodelled("storage.flow-control.memtables-threshold", _FLOW, default=5),
    Unmodelled("storage.flow-control.l0-files-threshold", _FLOW, default=20),
    Unmodelled("storage.flow-control.soft-pending-compaction-bytes-limit", _FLOW, default="192GB"),
    Unmodelled("storage.flow-control.hard-pending-compaction-bytes-limit", _FLOW, default="1024GB"),
    Unmodelled(
        "storage.enable-async-apply-prewrite",
        "A prewrite is answered after it was applied; with true, async commits are a little "
        "quicker than the answer says.",
        default=False,
    ),
    Unmodelled("storage.io-rate-limit.max-bytes-per-sec", _RATE, default="0KB"),
    Unmodelled("storage.io-rate-limit.*", _RATE),
    Unmodelled(
        "storage.engine",
        "Only raft-kv is simulated; with another engine the answer does not hold.",
        default="raft-kv",
    ),
    Unmodelled(
        "storage.memory-quota",
        "The scheduler's memory has no limit in the model; waiting writes that reach this one "
        "are answered ServerIsBusy.",
        default="256MB",
    ),
    Unmodelled(
        "raftstore.raft-write-size-limit",
        "A write worker takes all that has come in the model; it differs only for batches above"
        " this size.",
        default="1MB",
    ),
    Unmodelled(
        "raftstore.raft-msg-flush-interval",
        "Messages of one round leave together and at once in the model; up to this long is "
        "missing from an append's way to a follower.",
        default="250us",
    ),
    Unmodelled(
        "raftstore.raft-max-size-per-msg",
        "An append carries all entries that are due in the model; it differs only when a "
        "follower catches up.",
        default="1MB",
    ),
    Unmodelled(
        "raftstore.apply-yield-write-size",
        "An apply thread finishes a region's entries before the next region in the model; "
        "beside a very hot region others wait a little longer.",
        default="32KB",
    ),
    Unmodelled("raftstore.messages-per-tick", _MAILBOX, default=4096),
    Unmodelled("raftstore.notify-capacity", _MAILBOX, default=40960),
    Unmodelled(
        "raftstore.io-reschedule-*",
        "A region stays with its write worker in the model; with several workers the busiest "
        "one is a little busier than yours.",
    ),
    Unmodelled("raftstore.raft-log-*", _LOG_GC),
    Unmodelled("raftstore.raft-entry-cache-life-time", _LOG_GC, default="30s"),
    Unmodelled("raftstore.raft-engine-purge-interval", _PURGE, default="10s"),
    Unmodelled("raftstore.lock-cf-compact-interval", _AMPLIFICATION, default="10m"),
    Unmodelled("raftstore.lock-cf-compact-bytes-threshold", _AMPLIFICATION, default="256MB"),
    Unmodelled("raftstore.region-compact-*", _AMPLIFICATION),
    Unmodelled("raftstore.periodic-full-compact-*", _AMPLIFICATION),
    Unmodelled("raftstore.split-region-check-tick-interval", _SPLITS, default="10s"),
    Unmodelled("raftstore.region-split-check-diff", _SPLITS),
    Unmodelled("raftstore.right-derive-when-split", _SPLITS, default=True),
    Unmodelled(
        "raftstore.inspect-interval",
        "Slow stores are neither found nor relieved of their leaders unless operations do it.",
    ),
    Unmodelled(
        "raftstore.prevote",
        "Pre-vote is always on in the model.",
        default=True,
    ),
    Unmodelled(
        "raftstore.raft-*-election-timeout-ticks",
        "An election begins after one to two times raftstore.raft-election-timeout-ticks in the"
        " model.",
        default=0,
    ),
    Unmodelled("raftstore.peer-stale-state-check-interval", _LIVENESS, default="5m"),
    Unmodelled("raftstore.*-duration", _LIVENESS),
    Unmodelled("raftstore.snap-*", _SNAPSHOTS),
    Unmodelled("raftstore.raftdb-path", _PLACE, default=""),
    Unmodelled("raft-engine.dir", _PLACE, default=""),
    Unmodelled("raftdb.wal-dir", _PLACE, default=""),
    Unmodelled("rocksdb.wal-dir", _PLACE, default=""),
    Unmodelled(
        "raft-engine.batch-compression-threshold",
        "The model compresses batches from 8 KiB on (from 4 KiB with write workers, as v8.5 "
        "does); another threshold changes how many bytes the log writes.",
        default="8KB",
    ),
    Unmodelled("raft-engine.purge-threshold", _PURGE, default="10GB"),
    Unmodelled("raft-engine.target-file-size", _PURGE, default="128MB"),
    Unmodelled("raft-engine.memory-limit", _MEMORY),
    Unmodelled(
        "raft-engine.prefill-for-recycle",
        "Recycled files are there from the start in the model, as after hours of writing.",
        default=False,
    ),
    Unmodelled(
        "raft-engine.recovery-*",
        "Restarting a store takes no time for reading its log.",
    ),
    Unmodelled("rocksdb.lockcf.write-buffer-size", _STALLS, default="32MB"),
    Unmodelled("rocksdb.*cf.write-buffer-size", _STALLS, default="128MB"),
    Unmodelled("rocksdb.*cf.max-write-buffer-number", _STALLS, default=5),
    Unmodelled("rocksdb.*cf.level0-slowdown-writes-trigger", _STALLS, default=20),
    Unmodelled("rocksdb.*cf.level0-stop-writes-trigger", _STALLS),
    Unmodelled("rocksdb.*cf.*-pending-compaction-bytes-limit", _STALLS),
    Unmodelled("rocksdb.*cf.*block*", _READS),
    Unmodelled("rocksdb.*cf.*filter*", _READS),
    Unmodelled(
        "rocksdb.*titan.*",
        "Large values stay in the LSM tree in the model; with Titan they are compacted less often.",
    ),
    Unmodelled("rocksdb.*cf.*", _AMPLIFICATION),
    Unmodelled("rocksdb.max-background-*", _COMPACTION_THREADS),
    Unmodelled("rocksdb.max-sub-compactions", _COMPACTION_THREADS, default=3),
    Unmodelled("rocksdb.rate-bytes-per-sec", _RATE, default="10GB"),
    Unmodelled("rocksdb.rate-limiter-*", _RATE),
    Unmodelled(
        "rocksdb.*bytes-per-sync",
        "Data reaches the disk evenly in the model; bursts of writing back are missing.",
    ),
    Unmodelled("rocksdb.max-total-wal-size", _STALLS, default="4GB"),
    Unmodelled("rocksdb.write-buffer-*", _STALLS),
    Unmodelled(
        "rocksdb.*",
        "The KV engine is a WAL, memtables and one factor for compaction in the model.",
    ),
    Unmodelled(
        "raftdb.*",
        "The raftdb is a WAL and one factor for its flushes in the model, "
        "hardware.lsm.raftdb_rewrite.",
    ),
    Unmodelled("readpool.*", _POOL),
    Unmodelled("quota.*-cpu-time", _QUOTA, default=0),
    Unmodelled("quota.*-bandwidth", _QUOTA, default="0KB"),
    Unmodelled("quota.*", _QUOTA),
    Unmodelled("memory-usage-*", _MEMORY),
    Unmodelled("gc.*", _GARBAGE),
    Unmodelled("resolved-ts.*", _OTHER_LOAD),
    Unmodelled("cdc.*", _OTHER_LOAD),
    Unmodelled("backup*", _OTHER_LOAD),
    Unmodelled("log-backup.*", _OTHER_LOAD),
    Unmodelled("import.*", _OTHER_LOAD),
    Unmodelled(
        "in-memory-engine.*",
        "Range reads have no cache of their own in the model; locks do not use it.",
    ),
    Unmodelled("resource-control.*", _QUOTA),
    Unmodelled("split.*", _SPLITS),
    Unmodelled("coprocessor.*", _SPLITS),
    Unmodelled(
        "security.encryption.*",
        "Files are not encrypted in the model; what encryption takes from the CPU is missing.",
    ),
    *(
        Unmodelled(pattern, NO_EFFECT)
        for pattern in (
            "log.*",
            "log-*",
            "slow-log-*",
            "server.addr",
            "server.advertise-*",
            "server.status-*",
            "server.labels*",
            "server.simplify-metrics",
            "server.end-point-*",
            "security.*",
            "pd.*",
            "metric.*",
            "storage.data-dir",
            "storage.reserve-*",
            "storage.enable-ttl",
            "storage.api-version",
            "storage.ttl-*",
            "raftstore.capacity",
            "raft-engine.format-*",
            "coprocessor-v2.*",
            "causal-ts.*",
            "panic-*",
            "abort-on-panic",
        )
    ),
)


def effects(keys: Iterable[str], written: Mapping[str, object]) -> dict[str, list[str]]:
    """Returns keys by what not having them means for an answer, as texts in order of first use.

    Args:
        keys: of a ``tikv.toml``, none of them modelled.
        written: their values; one that is TiKV's default is said to be.
    """
    found: dict[str, list[str]] = {}
    for key in keys:
        row = next((row for row in _ROWS if fnmatchcase(key, row.pattern)), None)
        effect = UNKNOWN if row is None else row.effect
        at_default = (
            row is not None and row.default is not None and same_value(written[key], row.default)
        )
        found.setdefault(effect, []).append(f"{key} (TiKV's default)" if at_default else key)
    return found
