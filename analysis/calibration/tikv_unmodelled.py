"""TiKV's keys that the model does not have: what each means for an answer.

Law: of the patterns that match a key the one with the most letters speaks for it. Whether a value
is TiKV's default is said beside the key: then only the model departs from a usual cluster, not this
cluster as well.

Source: TiDB docs, TiKV configuration file, v8.5 (defaults); docs/MODEL.md (what is simplified).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final

from sim.scenario.tikv_toml import same_value

NO_EFFECT: Final = "No part in locks, writes or their latency."
UNKNOWN: Final = "Not among the keys known to matter; look it up if you changed it on purpose."

_EFFECTS: Final[Mapping[str, Mapping[str, str | int | bool | None]]] = {
    "One connection between two stores is simulated; with more, regions wait less for each "
    "other's messages.": {"server.grpc-raft-conn-num": 1},
    "Messages travel uncompressed in the model; compression takes CPU and spares the network.": {
        "server.grpc-compression-type": "none",
    },
    "Requests never wait for a free stream in the model.": {"server.grpc-concurrent-stream": 1024},
    "gRPC's memory has no limit in the model; one that is reached stalls requests.": {
        "server.grpc-memory-pool-quota": None,
    },
    "A store that is cut off is noticed after 13 s in the model, whatever is set.": {
        "server.grpc-keepalive-time": "10s", "server.grpc-keepalive-timeout": "3s",
    },
    "A snapshot holds only what the run wrote; moving replicas takes less time than in your "
    "cluster.": {
        "server.concurrent-*-snap-limit": 32, "server.snap-*": None, "raftstore.snap-*": None,
    },
    "Blocks have 64 KiB and filters let nothing through in the model; others change how long "
    "locks and point reads wait for the disk.": {
        "storage.block-cache.*": None, "rocksdb.*cf.*block*": None, "rocksdb.*cf.*filter*": None,
    },
    "Compaction never falls behind in the model, so writes are neither slowed nor refused for it; "
    "days of heavy writing may carry less than the answer says.": {
        "storage.flow-control.enable": True, "storage.flow-control.memtables-threshold": 5,
        "storage.flow-control.l0-files-threshold": 20,
        "storage.flow-control.soft-pending-compaction-bytes-limit": "192GB",
        "storage.flow-control.hard-pending-compaction-bytes-limit": "1024GB",
    },
    "A prewrite is answered after it was applied; with true, async commits are a little quicker "
    "than the answer says.": {"storage.enable-async-apply-prewrite": False},
    "No limit on bytes is simulated; if this one is below what the disk can do, write it as "
    "hardware.disk.kv.write_bandwidth.": {
        "storage.io-rate-limit.max-bytes-per-sec": "0KB", "storage.io-rate-limit.*": None,
        "rocksdb.rate-bytes-per-sec": "10GB", "rocksdb.rate-limiter-*": None,
    },
    "Only raft-kv is simulated; with another engine the answer does not hold.": {
        "storage.engine": "raft-kv",
    },
    "The scheduler's memory has no limit in the model; waiting writes that reach this one are "
    "answered ServerIsBusy.": {"storage.memory-quota": "256MB"},
    "A write worker takes all that has come in the model; it differs only for batches above this "
    "size.": {"raftstore.raft-write-size-limit": "1MB"},
    "Messages of one round leave together and at once in the model; up to this long is missing "
    "from an append's way to a follower.": {"raftstore.raft-msg-flush-interval": "250us"},
    "An append carries all entries that are due in the model; it differs only when a follower "
    "catches up.": {"raftstore.raft-max-size-per-msg": "1MB"},
    "An apply thread finishes a region's entries before the next region in the model; beside a "
    "very hot region others wait a little longer.": {"raftstore.apply-yield-write-size": "32KB"},
    "A poller's loop takes all mail of a region in the model; it differs only for one very hot "
    "region.": {"raftstore.messages-per-tick": 4096, "raftstore.notify-capacity": 40960},
    "A region stays with its write worker in the model; with several workers the busiest one is a "
    "little busier than yours.": {"raftstore.io-reschedule-*": None},
    "Log entries stay in memory until every replica has them; a store that was away for long "
    "catches up sooner than yours would.": {
        "raftstore.raft-log-*": None, "raftstore.raft-entry-cache-life-time": "30s",
    },
    "Purging the raft log rewrites nothing in the model; with thousands of idle regions that is "
    "0.3 % of the bytes.": {
        "raftstore.raft-engine-purge-interval": "10s", "raft-engine.purge-threshold": "10GB",
        "raft-engine.target-file-size": "128MB",
    },
    "Compaction is one factor in the model; put what your dashboards show into "
    "hardware.lsm.write_amplification.": {
        "raftstore.lock-cf-compact-interval": "10m",
        "raftstore.lock-cf-compact-bytes-threshold": "256MB", "raftstore.region-compact-*": None,
        "raftstore.periodic-full-compact-*": None, "rocksdb.*cf.*": None,
    },
    "Regions split and merge only where the scenario's operations say so; their size is "
    "coprocessor.region-split-size.": {
        "raftstore.split-region-check-tick-interval": "10s",
        "raftstore.region-split-check-diff": None, "raftstore.right-derive-when-split": True,
        "split.*": None, "coprocessor.*": None,
    },
    "Slow stores are neither found nor relieved of their leaders unless operations do it.": {
        "raftstore.inspect-interval": None,
    },
    "Pre-vote is always on in the model.": {"raftstore.prevote": True},
    "An election begins after one to two times raftstore.raft-election-timeout-ticks in the "
    "model.": {"raftstore.raft-*-election-timeout-ticks": 0},
    "How a silent replica is found and replaced is not simulated beyond elections.": {
        "raftstore.peer-stale-state-check-interval": "5m", "raftstore.*-duration": None,
    },
    "Log and data share one disk unless the scenario says otherwise; if this is another disk, "
    "write hardware.disk.raft and hardware.disk.kv.": {
        "raftstore.raftdb-path": "", "raft-engine.dir": "", "raftdb.wal-dir": "",
        "rocksdb.wal-dir": "",
    },
    "The model compresses batches from 8 KiB on (from 4 KiB with write workers, as v8.5 does); "
    "another threshold changes how many bytes the log writes.": {
        "raft-engine.batch-compression-threshold": "8KB",
    },
    "Memory never runs short in the model; nothing is evicted or refused because of it.": {
        "raft-engine.memory-limit": None, "memory-usage-*": None,
    },
    "Recycled files are there from the start in the model, as after hours of writing.": {
        "raft-engine.prefill-for-recycle": False,
    },
    "Restarting a store takes no time for reading its log.": {"raft-engine.recovery-*": None},
    "Memtables and levels never fill up in the model, so there are no write stalls; latency tails "
    "under heavy writing are too short.": {
        "rocksdb.lockcf.write-buffer-size": "32MB", "rocksdb.*cf.write-buffer-size": "128MB",
        "rocksdb.*cf.max-write-buffer-number": 5,
        "rocksdb.*cf.level0-slowdown-writes-trigger": 20,
        "rocksdb.*cf.level0-stop-writes-trigger": None,
        "rocksdb.*cf.*-pending-compaction-bytes-limit": None, "rocksdb.max-total-wal-size": "4GB",
        "rocksdb.write-buffer-*": None,
    },
    "Large values stay in the LSM tree in the model; with Titan they are compacted less often.": {
        "rocksdb.*titan.*": None,
    },
    "Compaction has no threads of its own in the model; its CPU is "
    "hardware.cpu.compaction_byte and its bytes are part of hardware.lsm.write_amplification.": {
        "rocksdb.max-background-*": None, "rocksdb.max-sub-compactions": 3,
    },
    "Data reaches the disk evenly in the model; bursts of writing back are missing.": {
        "rocksdb.*bytes-per-sync": None,
    },
    "The KV engine is a WAL, memtables and one factor for compaction in the model.": {
        "rocksdb.*": None,
    },
    "The raftdb is a WAL and one factor for its flushes in the model, "
    "hardware.lsm.raftdb_rewrite.": {"raftdb.*": None},
    "All reads share one pool in the model, of 80 % of the cores and at least 4 threads; a "
    "smaller one would let point reads wait longer.": {"readpool.*": None},
    "No quota is simulated; a cluster that reaches this one is slower than the answer says.": {
        "quota.*-cpu-time": 0, "quota.*-bandwidth": "0KB", "quota.*": None,
        "resource-control.*": None,
    },
    "Old versions vanish at no cost in the model; reading and writing for garbage collection "
    "comes on top.": {"gc.*": None},
    "This load is not simulated; what it takes from CPU and disk is missing from the answer.": {
        "resolved-ts.*": None, "cdc.*": None, "backup*": None, "log-backup.*": None,
        "import.*": None,
    },
    "Range reads have no cache of their own in the model; locks do not use it.": {
        "in-memory-engine.*": None,
    },
    "Files are not encrypted in the model; what encryption takes from the CPU is missing.": {
        "security.encryption.*": None,
    },
    NO_EFFECT: dict.fromkeys((
        "log.*", "log-*", "slow-log-*", "server.addr", "server.advertise-*", "server.status-*",
        "server.labels*", "server.simplify-metrics", "server.end-point-*", "security.*", "pd.*",
        "metric.*", "storage.data-dir", "storage.reserve-*", "storage.enable-ttl",
        "storage.api-version", "storage.ttl-*", "raftstore.capacity", "raft-engine.format-*",
        "coprocessor-v2.*", "causal-ts.*", "panic-*", "abort-on-panic",
    )),
}  # fmt: skip
"""By what the model does instead, and what an answer lacks: the keys, ``*`` for any part, and
TiKV's default as its documentation writes it; None: it depends on machine or version."""

_BY_PATTERN: Final = {
    pattern: (effect, default)
    for effect, defaults in _EFFECTS.items()
    for pattern, default in defaults.items()
}


def effects(keys: Iterable[str], written: Mapping[str, object]) -> dict[str, list[str]]:
    """Returns keys by what not having them means for an answer, as texts in order of first use.

    Args:
        keys: of a ``tikv.toml``, none of them modelled.
        written: their values; one that is TiKV's default is said to be.
    """
    found: dict[str, list[str]] = {}
    for key in keys:
        matching = (pattern for pattern in _BY_PATTERN if fnmatchcase(key, pattern))
        pattern = max(matching, key=lambda each: len(each.replace("*", "")), default="")
        effect, default = _BY_PATTERN.get(pattern, (UNKNOWN, None))
        at_default = default is not None and same_value(written[key], default)
        found.setdefault(effect, []).append(f"{key} (TiKV's default)" if at_default else key)
    return found
