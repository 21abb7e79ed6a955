"""Sections ``run`` and ``cluster``: how long, and how many of everything."""

from __future__ import annotations

from dataclasses import dataclass

from sim.scenario.fields import SWITCH, VERSIONS, ByVersion, Count, Duration, Wrong
from sim.scenario.quantities import DURATION
from sim.scenario.section import Section, SectionOf

_MOST_WINDOWS = 1_000_000

AUTO_WARMUP_SHARE = 2
"""With ``warmup: auto`` a unit runs longer by measure / this; MSER-5 then says what to cut."""


@dataclass(frozen=True, kw_only=True)
class Run(Section):
    """How long, and with which luck."""

    seed: int = Count(0, 2**53 - 1).key(
        "Seed of all random streams. Variants share their draws, replications do not. Source: our "
        "own default, fixed so that a run can be repeated.",
        default=1,
    )
    warmup_ns: int | None = Duration("0s", "24h", auto=True).key(
        "Simulated time excluded from every figure; auto determines it in each replication "
        "(MSER-5). Source: White 1997, An effective truncation heuristic for bias reduction.",
        default="auto",
    )
    measure_ns: int = Duration("1ms", "24h").key(
        "Simulated time measured after the warm-up, in each replication. Source: our own default; "
        "at 1,000 transactions/s p99 rests on 35 observations in each, and with auto MSER-5 has "
        "the 50 windows it needs.",
        default="3500ms",
    )
    window_ns: int = Duration("1ms", "1h").key(
        "Length of the windows over which facts are summed. Source: our own default; short enough "
        "to show a warm-up, long enough for small files.",
        default="100ms",
    )
    checks: bool = SWITCH.key(
        "Whether checkers look for violated invariants (one holder per key, no lost update, bytes "
        "by cause equal bytes by place). Source: our own default.",
        default=True,
    )

    def check(self) -> None:
        """Judges windows."""
        if self.window_ns > self.measure_ns:
            window, measure = map(DURATION.text_of, (self.window_ns, self.measure_ns))
            message = f"a window ({window}) is longer than measure ({measure}); shorten window"
            raise Wrong(message, at="window")
        if self.measure_ns // self.window_ns > _MOST_WINDOWS:
            raise Wrong(f"more than {_MOST_WINDOWS} windows; lengthen it", at="window")

    @property
    def simulated_warmup_ns(self) -> int:
        """Simulated time before ``measure_ns``, of which ``auto`` cuts what the facts say."""
        return self.measure_ns // AUTO_WARMUP_SHARE if self.warmup_ns is None else self.warmup_ns


@dataclass(frozen=True, kw_only=True)
class Tidb(Section):
    """System variables and settings of TiDB that change what it asks of TiKV."""

    async_commit: bool = SWITCH.key(
        "Reply once all keys are prewritten. Source: TiDB docs, system variables: ON for clusters "
        "created since v5.0.",
        default=True,
        name="tidb_enable_async_commit",
    )
    guarantee_linearizability: bool = SWITCH.key(
        "Whether an explicit transaction fetches one more timestamp before an async or one-phase "
        "commit. Source: TiDB docs, system variables: ON; their benchmarks set 0.",
        default=True,
        name="tidb_guarantee_linearizability",
    )
    one_pc: bool = SWITCH.key(
        "Commit transactions of one region batch in one phase. Source: TiDB docs, system "
        "variables: ON for clusters created since v5.0.",
        default=True,
        name="tidb_enable_1pc",
    )
    innodb_lock_wait_timeout_ns: int = Duration("1s", "1h").key(
        "How long a statement waits for locks, from its first request on, retries included. "
        "Source: TiDB docs, system variables.",
        default="50s",
    )
    fair_locking: bool = SWITCH.key(
        "Keep the place in the queue when a single-key lock request meets a conflict. Source: "
        "TiDB docs, system variables.",
        default=ByVersion(first=False, since={"v7.0": True}),
        name="tidb_pessimistic_txn_fair_locking",
    )
    max_retry_count: int = Count(0, 1_000_000).key(
        "Retries of a statement after write conflicts. Source: TiDB docs, configuration file.",
        default=256,
        name="pessimistic-txn.max-retry-count",
    )


@dataclass(frozen=True, kw_only=True)
class Topology(Section):
    """How many of everything, and where."""

    stores: int = Count(1, 1_000).key(
        "TiKV nodes. Source: TiDB docs, hardware requirements: at least three.", default=3
    )
    replicas: int = Count(1, 7).key(
        "Copies of each region. Source: PD docs, replication.max-replicas.", default=3
    )
    zones: int = Count(1, 100).key(
        "Availability zones, to which stores and TiDB nodes are assigned in turn. Source: our own "
        "default; RFC 77 was measured in one.",
        default=1,
    )
    tidb_nodes: int = Count(1, 1_000).key(
        "TiDB nodes, which share the clients. Source: TiDB docs, v6.0 TPC-C benchmark: 3.",
        default=3,
    )
    regions: int | None = Count(1, 10_000_000, auto=True).key(
        "Number of regions; auto: computed from the size of the data and "
        "coprocessor.region-split-size. Source: tikv/tikv raftstore split_check/size.rs.",
        default="auto",
    )
    store_versions: tuple[str, ...] = VERSIONS.key(
        "TiKV's version on every store at the start, one for all or a list, for upgrades: it only "
        "decides whether the feature gate of in-memory locks is open, and whether apply threads "
        "write to RocksDB side by side (both from 6.0.0). Source: tikv/tikv#12078, "
        "tikv/tikv#12060; by default the release that tikv.behaviour names, 6.0.0 for rfc77.",
        default=None,
    )
    tidb: Tidb = SectionOf(Tidb).key(
        "Variables and settings of TiDB, under TiDB's own names. Source: see each key.", default={}
    )

    def check(self) -> None:
        """Judges whether there are enough stores."""
        if self.replicas > self.stores:
            raise Wrong(f"{self.replicas} replicas need as many stores, there are {self.stores}; "
                        f"write {self.stores} or less, or add stores", at="replicas")  # fmt: skip
        if self.zones > self.stores:
            raise Wrong(f"{self.zones} zones, but only {self.stores} stores; "
                        "every zone needs a store", at="zones")  # fmt: skip
        given: str | tuple[str, ...] = self.store_versions
        if isinstance(given, tuple) and len(given) != self.stores:
            raise Wrong(f"{len(given)} versions for {self.stores} stores; "
                        "write one for all, or one for each", at="store_versions")  # fmt: skip
