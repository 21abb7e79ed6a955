"""What a study reports: each metric's facts, unit, statistics, classes and meaning.

A series of facts becomes its statistics in a reader's unit; a counter becomes a rate, an amount per
committed transaction, or a total. Facts that make no metric here are not published; their files
still hold them. Names of facts are those of ``sim.fact_names``.

A metric's key in a file is its name, then its class unless that is ``all``, then its statistic
unless that is ``mean``: ``txn_latency_ms.new_order.p95``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from sim.fact_names import WRITE_CAUSES
from sim.scenario.problems import shown, suggestion

STATS: Final = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
"""Statistics of a latency."""
AT_LEAST: Final = "at_least:"
"""Begins the statistic of a sum that is 1 where the statistic named after it is a lower bound."""
QUANTILES: Final = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
"""The share of values up to a quantile."""
MS_PER_NS: Final = 1e-6
ASKED_FOR: Final = "rollback"
"""The class of ``txn_aborts`` that the workload itself asks for."""
COMMITS: Final = "txns"
"""The counter of committed transactions."""
CAPACITY: Final = "capacity_"
"""Begins the names of what a search for capacity has found: the load, and the transactions."""


def stat_name(stat: str) -> str:
    """Returns a statistic of a latency as a reader is told of it."""
    return {"p999": "p99.9", "max": "longest"}.get(stat, stat)


@dataclass(frozen=True, slots=True)
class SeriesOf:
    """Made of the values of a series, scaled to the published unit."""

    fact: str
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class CountOf:
    """Made of a counter, per ``second``, ``transaction`` or ``run``."""

    fact: str
    per: Literal["second", "transaction", "run"]
    always: bool = False
    """Published as 0 even if no unit ever counted it: its absence would leave a doubt."""


@dataclass(frozen=True)
class Derived:
    """Made of several facts, or of one class of a fact."""

    counters: tuple[str, ...]
    series: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of a study."""

    made_of: SeriesOf | CountOf | Derived
    meaning: str
    classes: str = ""
    """Which classes it has besides ``all``; empty if none."""
    unit: str = ""
    stats: tuple[str, ...] = ("mean",)
    """The first is the one to propose."""
    is_share: bool = False
    """Whether it is a part of something, which a file may write in percent."""
    more_is: Literal["better", "worse", "either"] = "worse"
    """``either`` where it depends: a cluster that does more writes more."""


CPU_STATIONS: Final = {
    "store_cpu": "cores of a store",
    "store_poller": "store pollers",
    "apply": "apply threads",
    "scheduler": "scheduler threads",
    "read_pool": "read pool",
    "tidb_cpu": "cores of a TiDB node",
}
DISK_STATIONS: Final = {
    "raft_disk": "disk of the raft log, bandwidth",
    "kv_disk": "disk of the KV engine, bandwidth",
    "raft_log": "raft log, appending or syncing",
}
"""Classes of ``disk_busy``; the raft log is written by one writer, which waits for the disk."""
GROUPING: Final = frozenset({"store_poller", "raft_log"})
"""Stations that take all that waits in one group: they are busy as soon as there is something to
write, and more load makes their groups larger before it makes waits longer. Their busy share does
not say how much is left."""
LOCK_STATIONS: Final = {
    "request": "network, to the store",
    "latch": "waiting for a latch on the key",
    "scheduler": "scheduler thread and reading the row",
    "propose": "waiting to be proposed by a store poller",
    "replicate": "append, fsync, quorum",
    "apply": "apply, and the way back to the scheduler",
    "reply": "network, back to TiDB",
}
"""Classes of ``lock_station_ms``, in the order of a request's way."""
WRITE_PLACES: Final = {
    "raft_log": "raft log",
    "kv_wal": "KV WAL",
    "flush": "flush",
    "compaction": "compaction",
}
"""Where bytes are written."""


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


_PATH = "`in_memory`, `pipelined`, `sync`, `fallback`: how the lock was taken"
_CAUSE = f"cause: {_quoted(WRITE_CAUSES)}"
_BYTES = f"place: {_quoted(WRITE_PLACES)}; {_CAUSE}; `place/cause`"
_TRANSACTION = "the transaction type, such as `new_order`"
_LOSS = "why: `crash`, `step_down`, `stale_leader`, `proposal_dropped` …"
_REQUEST = "what for: `lock`, `lock_waiting` (for another transaction), `prewrite`, `get` …"
_ABORT = "why: `rollback` (asked for by TPC-C), `Deadlock`, `lock_wait_timeout`, `retry_limit` …"
_STATION = f"the station: {_quoted(CPU_STATIONS)}"


def _time(
    fact: str,
    meaning: str,
    classes: str = "",
    *,
    stats: tuple[str, ...] = STATS,
    more_is: Literal["worse", "either"] = "worse",
) -> Metric:
    """Returns a metric in ms that is made of times in ns."""
    made_of = SeriesOf(fact, MS_PER_NS)
    return Metric(made_of, meaning, classes, "ms", stats=stats, more_is=more_is)


METRICS: Final[dict[str, Metric]] = {
    "lock_latency_ms": _time(
        "lock_latency",
        "Time of a granted lock request from TiDB and back, without waiting for other "
        "transactions.",
        _PATH,
    ),
    "lock_service_ms": _time(
        "lock_service",
        "The part of lock_latency_ms inside the store, from arrival to reply.",
        _PATH,
    ),
    "lock_wait_ms": _time(
        "lock_wait",
        "Time that granted requests waited for other transactions' locks, if they waited.",
        more_is="either",
    ),
    "lock_station_ms": Metric(
        Derived(("lock_station_ns",), series=("lock_latency",)),
        "Mean time of a lock request at each station; the times add up to lock_latency_ms.",
        f"{_quoted(LOCK_STATIONS)}; `path/station`",
        unit="ms",
    ),
    "txn_latency_ms": _time(
        "txn_latency",
        "Time of a committed transaction from its start (open loop: the intended start) to "
        "the commit's answer.",
        _TRANSACTION,
    ),
    "txns_unfinished": Metric(
        Derived((), series=("txn_unfinished",)),
        "Transactions that had not ended when the run did.",
        _TRANSACTION,
        more_is="either",
    ),
    "txn_unfinished_age_ms": _time(
        "txn_unfinished",
        "Age of transactions that had not ended when the run did.",
        _TRANSACTION,
        stats=("max", "mean"),
    ),
    "requests_unfinished": Metric(
        Derived((), series=("request_unfinished",)),
        "Requests of TiDB to stores without an answer when the run ended.",
        _REQUEST,
    ),
    "request_unfinished_age_ms": _time(
        "request_unfinished",
        "Age of requests without an answer when the run ended, since they were first sent.",
        _REQUEST,
        stats=("max", "mean"),
    ),
    "txn_per_s": Metric(
        CountOf(COMMITS, "second"),
        "Committed transactions a second.",
        _TRANSACTION,
        more_is="better",
        unit="1/s",
    ),
    "tpmc": Metric(
        Derived((COMMITS,)),
        "Committed new-order transactions a minute; TPC-C only.",
        more_is="better",
        unit="1/min",
    ),
    "disk_write_bytes_per_s": Metric(
        CountOf("disk_write_bytes", "second", always=True),
        "Bytes written to the disks of all stores.",
        _BYTES,
        more_is="either",
        unit="B/s",
    ),
    "disk_write_bytes_per_txn": Metric(
        CountOf("disk_write_bytes", "transaction", always=True),
        "The same per committed transaction.",
        _BYTES,
        unit="B",
    ),
    "fsync_per_s": Metric(
        CountOf("fsyncs", "second", always=True),
        "Syncs of the raft logs of all stores.",
        "`raft`",
        more_is="either",
        unit="1/s",
    ),
    "network_bytes_per_s": Metric(
        CountOf("network_bytes", "second"),
        "Bytes sent by all nodes.",
        "`raft`: between stores; `kv`: everything else",
        more_is="either",
        unit="B/s",
    ),
    "proposals_per_txn": Metric(
        CountOf("proposals", "transaction", always=True),
        "Commands proposed to Raft, per committed transaction.",
        _CAUSE,
    ),
    "raft_entries_per_txn": Metric(
        CountOf("raft_entries", "transaction"),
        "Raft log entries written by all replicas, per committed transaction.",
    ),
    "lock_rpcs_per_txn": Metric(
        CountOf("lock_rpcs", "transaction", always=True),
        "Lock requests sent, per committed transaction.",
    ),
    "locked_keys_per_txn": Metric(
        CountOf("locked_keys", "transaction"), "Keys asked to be locked, per committed transaction."
    ),
    "mutations_per_txn": Metric(
        CountOf("mutations", "transaction"), "Keys prewritten, per committed transaction."
    ),
    "prewrite_rpcs_per_txn": Metric(
        CountOf("prewrite_rpcs", "transaction"),
        "Prewrite requests sent, per committed transaction.",
    ),
    "commit_rpcs_per_txn": Metric(
        CountOf("commit_rpcs", "transaction"), "Commit requests sent, per committed transaction."
    ),
    "statement_retries": Metric(
        CountOf("statement_retries", "run"), "Statements retried after a write conflict."
    ),
    "cpu_busy": Metric(
        Derived(("busy_ns", "capacity_ns")),
        "Busy time of a pool's threads or of the cores, as a share of their capacity.",
        _STATION,
        is_share=True,
    ),
    "disk_busy": Metric(
        Derived(("busy_ns", "capacity_ns")),
        "Share of time in which a device writes, or a log's writer works.",
        "`raft_disk`, `kv_disk` if there is one, `raft_log`: the one writer of the log",
        is_share=True,
    ),
    "locks_total": Metric(
        CountOf("locks_total", "run", always=True),
        "Granted lock requests.",
        _PATH + ", `fallback:full`, `fallback:status` …",
    ),
    "locks_lost": Metric(
        CountOf("locks_lost", "run", always=True),
        "Granted locks that were lost, not ended by their transaction.",
        _LOSS,
    ),
    "mutual_exclusion_lost": Metric(
        CountOf("mutual_exclusion_lost", "run", always=True),
        "Keys granted to another transaction while a running one still believed that it held them.",
        _LOSS,
    ),
    "lock_fates": Metric(
        CountOf("lock_fates", "run"),
        "How granted locks ended.",
        "`committed`, `rolled_back`, `expired`, `migrated:transfer`, `migrated:split` …, `lost:…`",
    ),
    "txn_aborts": Metric(
        CountOf("txn_aborts", "run", always=True),
        "Transactions that ended without a commit.",
        _ABORT,
        more_is="either",
    ),
    "txn_aborts_per_txn": Metric(
        CountOf("txn_aborts", "transaction", always=True),
        "The same per committed transaction.",
        _ABORT,
        is_share=True,
    ),
    "txn_failures": Metric(
        Derived(("txn_aborts", COMMITS)),
        "Share of ended transactions that failed; rollbacks that the workload itself asks "
        "for do not count.",
        is_share=True,
    ),
    "prewrites_amended": Metric(
        CountOf("prewrites_amended", "run", always=True),
        "Keys that prewrite wrote although their lock was gone, since no other transaction "
        "had written there.",
        _LOSS,
    ),
    "prewrites_aborted": Metric(
        CountOf("prewrites_aborted", "run", always=True),
        "Prewrites that failed because a pessimistic lock was gone.",
        _LOSS,
    ),
    "prewrites_aborted_per_txn": Metric(
        CountOf("prewrites_aborted", "transaction", always=True),
        "The same per committed transaction.",
        _LOSS,
        is_share=True,
    ),
    "region_errors": Metric(
        CountOf("region_errors", "run"),
        "Requests refused with a region error.",
        "TiKV's name, such as `NotLeader`",
    ),
    "lock_table_bytes": Metric(
        SeriesOf("lock_table_bytes"),
        "Memory of a store's in-memory locks, sampled whenever one is granted.",
        "`store-1` …",
        stats=("max", "p99"),
        unit="B",
    ),
    "own_latch_wait_ms": _time(
        "own_latch_wait",
        "How long a prewrite waited for latches, the last of which a lock request of its own "
        "transaction held.",
        _PATH,
    ),
    "own_latch_waits_per_txn": Metric(
        CountOf("own_latch_waits", "transaction"),
        "Prewrites that waited like this, per committed transaction.",
        _PATH,
    ),
    "early_prewrites_waited": Metric(
        Derived(("early_prewrites",)),
        "Of the prewrites that came before a lock of their transaction, on one of their "
        "keys, was applied, the share that ran after it was.",
        is_share=True,
    ),
    "leader_transfers": Metric(
        CountOf("leader_transfers", "run", always=True),
        "How often a region's leader moved to another store.",
    ),
    "leader_transfer_ms": _time(
        "leader_transfer",
        "From PD's order to move a leader until PD hears from the new one; PD's log calls it "
        "`takes`.",
        "`command`: the old leader first proposed a TransferLeader command, as it does with locks "
        "in memory; `direct`: it did not",
    ),
    "leader_transfers_failed": Metric(
        CountOf("leader_transfers_failed", "run"),
        "Orders to move a leader that failed.",
        "`timeout`: not done within 10 s; `replaced`: by another for the same region",
    ),
    "splits": Metric(CountOf("splits", "run", always=True), "Regions split."),
    "merges": Metric(CountOf("merges", "run", always=True), "Regions merged into a neighbour."),
    "operations": Metric(
        CountOf("operations", "run"), "Operations started.", "the kind, such as `transfer_leader`"
    ),
}

SERIES: Final = {
    name: each.made_of for name, each in METRICS.items() if isinstance(each.made_of, SeriesOf)
}
COUNTERS: Final = {
    name: each.made_of for name, each in METRICS.items() if isinstance(each.made_of, CountOf)
}
HIGHER_IS_BETTER: Final = frozenset(
    name for name, each in METRICS.items() if each.more_is == "better"
)

_LIKE_A_STAT: Final = re.compile(r"p\d+|avg|average|median|min|count|sum|std")
"""Words that nobody means as a class."""


@dataclass(frozen=True, slots=True, order=True)
class MetricKey:
    """One figure of the summary: ``lock_latency_ms.p99``, ``txn_latency_ms.new_order.p95``."""

    metric: str
    class_: str = "all"
    stat: str = "mean"

    @property
    def columns(self) -> dict[str, str]:
        """The figure as a row of ``summary.json`` names it."""
        return {"metric": self.metric, "class": self.class_, "stat": self.stat}

    @classmethod
    def parse(cls, text: str) -> MetricKey:
        """Returns the figure that a key means.

        Raises:
            ValueError: if no study reports it; the message says what to write.
        """
        metric, *rest = text.split(".")
        if metric not in METRICS:
            raise ValueError(f"no metric {shown(metric)}; {suggestion(metric, list(METRICS))}")
        if rest and _LIKE_A_STAT.fullmatch(rest[-1]) and rest[-1] not in STATS:
            stats = list(METRICS[metric].stats)
            raise ValueError(f"no statistic {shown(rest[-1])}; {suggestion(rest[-1], stats)}")
        stat = rest.pop() if rest and rest[-1] in STATS else "mean"
        if len(rest) > 1 or not all(rest) or set(rest) & set(STATS):
            raise ValueError(f"{shown(text)} is not a metric; write metric, metric.stat, "
                             "metric.class or metric.class.stat")  # fmt: skip
        key = cls(metric, rest[0] if rest else "all", stat)
        if stat not in METRICS[metric].stats:
            known = (str(cls(metric, key.class_, stat)) for stat in METRICS[metric].stats)
            raise ValueError(f"{metric} has no {stat}; write {' or '.join(known)}")
        return key

    def __str__(self) -> str:
        """Returns the shortest text that ``parse`` turns into this key again."""
        class_ = "" if self.class_ == "all" else f".{self.class_}"
        return f"{self.metric}{class_}" + ("" if self.stat == "mean" else f".{self.stat}")
