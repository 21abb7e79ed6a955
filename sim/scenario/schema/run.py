"""Sections ``run`` and ``cluster``: how long, how often, and how many of everything."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import model_validator

from sim.scenario.fields import (
    Count,
    Percent,
    Quantity,
    Section,
    Switch,
    Timeout,
    Versions,
    key,
    wrong,
)
from sim.scenario.figures import Figure
from sim.scenario.quantities import DURATION

_MOST_WINDOWS = 1_000_000
_MOST_REPLICATIONS = 50


class RunSection(Section):
    """How long, how often, and with which luck."""

    seed: Annotated[int, Count(0, 2**53 - 1)] = key(
        default=1,
        description="Of all random streams. Variants share their draws, replications do not. "
        "Source: our own default, fixed so that a run can be repeated.",
    )
    warmup: Annotated[int | None, Quantity(DURATION, "0s", "24h", auto=True)] = key(
        default="auto",
        description="Simulated time left out of every figure; auto finds it in each replication "
        "(MSER-5). Source: White 1997, An effective truncation heuristic for bias reduction.",
    )
    measure: Annotated[int, Quantity(DURATION, "1ms", "24h")] = key(
        default="30s",
        description="Simulated time after the warm-up that figures are made from. Source: our own "
        "default; at 1,000 transactions/s it gives p99 from 300 observations.",
    )
    replications: Annotated[int, Count(1, 10_000)] = key(
        default=5,
        description="Independent runs of each variant; intervals need two. Source: Law, "
        "Simulation Modeling and Analysis, 5th ed., 9.4: three to five at least.",
    )
    precision: dict[Figure, Percent] | None = key(
        default=None,
        description="Replications are added in rounds until the 95 % interval of each of these "
        "figures is at most so wide to either side, such as lock_latency_ms.p99: 5%. Source: Law, "
        "Simulation Modeling and Analysis, 5th ed., 9.4.1: relative precision.",
        min_length=1,
        max_length=20,
    )
    max_replications: Annotated[int, Count(2, 10_000)] | None = key(
        default=None,
        description="With precision: where rounds end even so; 50, or replications if those are "
        "more. Source: our own default.",
    )
    window: Annotated[int, Quantity(DURATION, "1ms", "1h")] = key(
        default="100ms",
        description="Facts are summed up per window of this length. Source: our own default; "
        "short enough for a warm-up to be seen, long enough for small files.",
    )
    checks: Switch = key(
        default=True,
        description="Whether observers watch for broken invariants (one holder per key, no lost "
        "update, bytes by cause equal bytes by place). Source: our own default.",
    )

    @model_validator(mode="after")
    def _windows_fit(self) -> Self:
        if self.window > self.measure:
            raise wrong("a window is longer than the whole measurement; shorten it", at="window")
        if self.measure // self.window > _MOST_WINDOWS:
            raise wrong(f"more than {_MOST_WINDOWS} windows; lengthen it", at="window")
        return self

    @model_validator(mode="after")
    def _rounds_make_sense(self) -> Self:
        most = self.max_replications
        if self.precision is None:
            if most is not None:
                raise wrong("has no effect without run.precision; remove it", at="max_replications")
            return self
        if self.replications < 2:
            raise wrong("an interval needs two to begin with; write 2 or more", at="replications")
        if most is not None and most < self.replications:
            raise wrong(f"is less than run.replications ({self.replications}), the first round; "
                        f"write {self.replications} or more", at="max_replications")  # fmt: skip
        return self

    @property
    def most_replications(self) -> int:
        """Returns where rounds of replications end."""
        return self.max_replications or max(_MOST_REPLICATIONS, self.replications)


class TidbSection(Section):
    """System variables and settings of TiDB that change what it asks of TiKV."""

    tidb_enable_async_commit: Switch = key(
        default=True,
        description="Reply once all keys are prewritten. Source: TiDB docs, system variables: ON "
        "for clusters created since v5.0.",
    )
    tidb_guarantee_linearizability: Switch = key(
        default=True,
        description="An explicit transaction fetches one more timestamp before an async or "
        "one-phase commit. Source: TiDB docs, system variables: ON; their benchmarks set 0.",
    )
    tidb_enable_1pc: Switch = key(
        default=True,
        description="Commit transactions of one region batch in one phase. Source: TiDB docs, "
        "system variables: ON for clusters created since v5.0.",
    )
    innodb_lock_wait_timeout: Timeout = key(
        default="50s",
        description="How long a statement waits for a lock. Source: TiDB docs, system variables.",
    )
    tidb_pessimistic_txn_fair_locking: Switch | None = key(
        default=None,
        description="Keep the place in the queue when a single-key lock meets a conflict. Source: "
        "TiDB docs, system variables: ON since v7.0, so on for v8.5 and off before.",
    )
    max_retry_count: Annotated[int, Count(0, 1_000_000)] = key(
        default=256,
        alias="pessimistic-txn.max-retry-count",
        description="Retries of a statement after write conflicts. Source: TiDB docs, "
        "configuration file.",
    )


class ClusterSection(Section):
    """How many of everything, and where."""

    stores: Annotated[int, Count(1, 1_000)] = key(
        default=3,
        description="TiKV nodes. Source: TiDB docs, hardware requirements: three at least.",
    )
    replicas: Annotated[int, Count(1, 7)] = key(
        default=3, description="Copies of each region. Source: PD docs, replication.max-replicas."
    )
    zones: Annotated[int, Count(1, 100)] = key(
        default=1,
        description="Availability zones; stores and TiDB nodes are dealt out to them in turn. "
        "Source: our own default; RFC 77 was measured inside one.",
    )
    tidb_nodes: Annotated[int, Count(1, 1_000)] = key(
        default=3,
        description="TiDB nodes, among which clients are spread. Source: TiDB docs, v6.0 TPC-C "
        "benchmark: 3.",
    )
    regions: Annotated[int | None, Count(1, 10_000_000, auto=True)] = key(
        default="auto",
        description="Number of regions; auto: from the size of the data and "
        "coprocessor.region-split-size. Source: tikv/tikv raftstore split_check/size.rs.",
    )
    store_versions: Versions | None = key(
        default=None,
        description="TiKV's version on every store at the start, one for all or a list; the "
        "feature gate of in-memory locks opens at 6.0.0. Source: tikv/tikv#12078; by default the "
        "version of tikv.behaviour, 6.0.0 for rfc77.",
    )
    tidb: TidbSection = key(
        default_factory=TidbSection,
        description="Variables and settings of TiDB, under TiDB's own names. Source: key by key.",
    )

    @model_validator(mode="after")
    def _replicas_fit(self) -> Self:
        if self.replicas > self.stores:
            raise wrong(f"{self.replicas} replicas need as many stores, there are {self.stores}; "
                        f"write {self.stores} or less, or add stores", at="replicas")  # fmt: skip
        if self.zones > self.stores:
            raise wrong(f"{self.zones} zones, but only {self.stores} stores; "
                        "every zone needs a store", at="zones")  # fmt: skip
        given = self.store_versions
        if isinstance(given, list) and len(given) != self.stores:
            raise wrong(f"{len(given)} versions for {self.stores} stores; "
                        "write one for all, or one for each", at="store_versions")  # fmt: skip
        return self

    def versions(self, default: str) -> tuple[str, ...]:
        """Returns the version of each store."""
        given = self.store_versions or default
        return tuple(given) if isinstance(given, list) else (given,) * self.stores
