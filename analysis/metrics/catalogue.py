"""What a study reports: each metric's facts, unit, statistics, classes and meaning.

``catalogue.yaml`` has an entry a metric; what is not among its facts need not be read.

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
from typing import Any, Final, Literal

import yaml

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
CAPACITY_METRICS: Final = ("capacity_load", "capacity_txn_per_s")
"""What a search for capacity finds, made of no facts; their statistic is ``max``."""


def stat_name(stat: str) -> str:
    """Returns what readers call a statistic of a latency."""
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
    "storage_read_pool": "read pool of point reads alone",
    "tidb_cpu": "cores of a TiDB node",
}
DISK_STATIONS: Final = {
    "raft_disk": "disk of the raft log",
    "kv_disk": "disk of the KV engine",
    "raft_log": "raft log, appending or syncing",
}
"""Classes of ``disk_busy``; the raft log is written by one writer, which waits for the disk."""
NETWORK_STATIONS: Final = {
    "store_network": "network port of a store, sending",
    "tidb_network": "network port of a TiDB node, sending",
}
STATIONS_OF: Final = {
    "cpu_busy": CPU_STATIONS,
    "disk_busy": DISK_STATIONS,
    "network_busy": NETWORK_STATIONS,
}
"""By the metric that says how busy they are."""
STATIONS: Final = CPU_STATIONS | DISK_STATIONS | NETWORK_STATIONS
LOCK_STATIONS: Final = {
    "request": "TiDB and network, to the store, retries included",
    "latch": "waiting for a latch on the key",
    "scheduler": "scheduler thread and reading the row",
    "propose": "waiting to be proposed by a store poller",
    "replicate": "append, fsync, quorum",
    "apply": "apply, and the way back to the scheduler",
    "reply": "network and TiDB, on the way back",
}
"""Classes of ``lock_station_ms``, in the order of a request's way."""
WRITE_PLACES: Final = {
    "raft_log": "raft log",
    "kv_wal": "KV WAL",
    "flush": "flush",
    "compaction": "compaction",
}
"""Where bytes are written."""


def _metrics() -> dict[str, Metric]:
    """Returns what ``catalogue.yaml`` says; executors of a cluster read it from a zip."""
    path = __file__.removesuffix(".py") + ".yaml"
    loader: Any = __spec__.loader
    text = loader.get_data(path).decode()
    listed = {
        "causes": WRITE_CAUSES,
        "places": WRITE_PLACES,
        "cpu_stations": CPU_STATIONS,
        "network_stations": NETWORK_STATIONS,
        "lock_stations": LOCK_STATIONS,
    }
    names = {word: ", ".join(f"`{name}`" for name in of) for word, of in listed.items()}
    said = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {
        name: _metric(each | {"classes": each.get("classes", "").format(**names)})
        for name, each in said.items()
    }


def _metric(said: dict[str, Any]) -> Metric:
    own: dict[str, Any] = {
        word: said[word] for word in ("unit", "is_share", "more_is") if word in said
    }
    stats = tuple(said.get("stats", STATS if "time" in said else ("mean",)))
    made_of: SeriesOf | CountOf | Derived
    match said:
        case {"time": fact}:
            made_of, own = SeriesOf(fact, MS_PER_NS), own | {"unit": "ms"}
        case {"series": fact}:
            made_of = SeriesOf(fact)
        case {"counter": fact, "per": per}:
            made_of = CountOf(fact, per, said.get("always", False))
        case _:
            facts = (said.get(word, ()) for word in ("counters", "of_series"))
            made_of = Derived(*map(tuple, facts))
    return Metric(made_of, said["meaning"], said["classes"], stats=stats, **own)


METRICS: Final = _metrics()
SERIES: Final = {
    name: each.made_of for name, each in METRICS.items() if isinstance(each.made_of, SeriesOf)
}
COUNTERS: Final = {
    name: each.made_of for name, each in METRICS.items() if isinstance(each.made_of, CountOf)
}
HIGHER_IS_BETTER: Final = frozenset(CAPACITY_METRICS) | {
    name for name, each in METRICS.items() if each.more_is == "better"
}
NEITHER_IS_BETTER: Final = frozenset(
    name for name, each in METRICS.items() if each.more_is == "either"
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

    @classmethod
    def parse_reported(cls, text: str) -> MetricKey:
        """Returns the figure that a key means, one that a search for capacity finds included.

        Raises:
            ValueError: as ``parse``.
        """
        found = text.removesuffix(".max")
        return cls(found, stat="max") if found in CAPACITY_METRICS else cls.parse(text)

    def __str__(self) -> str:
        """Returns the shortest text that ``parse`` turns into this key again."""
        class_ = "" if self.class_ == "all" else f".{self.class_}"
        return f"{self.metric}{class_}" + ("" if self.stat == "mean" else f".{self.stat}")


@dataclass(frozen=True, slots=True)
class NeededFacts:
    """Names of facts by table; None: all that there are."""

    moments: tuple[str, ...] | None
    histogram: tuple[str, ...] | None
    counter: tuple[str, ...] | None


def needed_facts(keys: Iterable[MetricKey]) -> NeededFacts:
    """Returns the facts of which some published numbers are made; none for unknown ones."""
    moments: set[str] = set()
    histogram: set[str] = set()
    counter: set[str] = set()
    for key in keys:
        if key.metric not in METRICS:
            continue
        match METRICS[key.metric].made_of:
            case SeriesOf(fact=fact):
                (histogram if key.stat in QUANTILES else moments).add(fact)
            case CountOf(fact=fact, per=per):
                counter |= {fact, COMMITS} if per == "transaction" else {fact}
            case Derived(counters=counters, series=series):
                counter.update(counters)
                moments.update(series)
    return NeededFacts(*(tuple(sorted(names)) for names in (moments, histogram, counter)))
