"""Keys of section ``tikv`` that matter when regions move: ticks, leases, leader transfer, merge.

Source: tikv/tikv components/raftstore/src/store/config.rs, src/storage/config.rs.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import field_validator

from sim.protocol.ablations import ABLATIONS
from sim.scenario.fields import Count, Quantity, Section, Switch, Text, key, wrong
from sim.scenario.problems import shown, suggestion
from sim.scenario.quantities import DURATION, SIZE

_Tick = Annotated[int, Quantity(DURATION, "1ms", "1h")]
_STORE_CONFIG = "Source: raftstore store/config.rs."


class RegionLifeKeys(Section):
    """What TikvSection takes over from here."""

    reactive_memory_lock_tick_interval: _Tick = key(
        default="2s",
        alias="raftstore.reactive-memory-lock-tick-interval",
        description="After locks were proposed for a transfer the table is looked at this often. "
        + _STORE_CONFIG,
    )
    reactive_memory_lock_timeout_tick: Annotated[int, Count(1, 100_000)] = key(
        default=5,
        alias="raftstore.reactive-memory-lock-timeout-tick",
        description="Ticks after which the table takes locks again, if the transfer did not "
        "happen. " + _STORE_CONFIG,
    )
    raft_election_timeout_ticks: Annotated[int, Count(2, 10_000)] = key(
        default=10,
        alias="raftstore.raft-election-timeout-ticks",
        description="A follower without a leader campaigns after one to two times this. "
        + _STORE_CONFIG,
    )
    raft_store_max_leader_lease: Annotated[int, Quantity(DURATION, "1ms", "1h")] = key(
        default="9s",
        alias="raftstore.raft-store-max-leader-lease",
        description="A leader serves reads this long after a quorum answered. " + _STORE_CONFIG,
    )
    raft_entry_max_size: Annotated[int, Quantity(SIZE, "1KiB", "3GiB")] = key(
        default="8MiB",
        alias="raftstore.raft-entry-max-size",
        description="A larger proposal is refused; in-memory locks of a transfer are proposed up "
        "to this. " + _STORE_CONFIG,
    )
    leader_transfer_max_log_lag: Annotated[int, Count(1, 1_000_000)] = key(
        default=128,
        alias="raftstore.leader-transfer-max-log-lag",
        description="A follower further behind does not become leader. " + _STORE_CONFIG,
    )
    merge_max_log_gap: Annotated[int, Count(1, 1_000_000)] = key(
        default=10,
        alias="raftstore.merge-max-log-gap",
        description="A region does not merge while a follower is further behind. " + _STORE_CONFIG,
    )
    merge_check_tick_interval: _Tick = key(
        default="2s",
        alias="raftstore.merge-check-tick-interval",
        description="Between two attempts to commit a prepared merge. " + _STORE_CONFIG,
    )
    hibernate_regions: Switch = key(
        default=True,
        alias="raftstore.hibernate-regions",
        description="A region without requests stops ticking. Source: raftstore "
        "store/config.rs: true since v5.0.",
    )
    max_entry_cache_warmup_duration: Annotated[int, Quantity(DURATION, "0ms", "1h")] = key(
        default="1s",
        alias="raftstore.max-entry-cache-warmup-duration",
        description="A leader-to-be fills its entry cache for at most this long. " + _STORE_CONFIG,
    )
    scheduler_pending_write_threshold: Annotated[int, Quantity(SIZE, "1KiB", "1TiB")] = key(
        default="100MiB",
        alias="storage.scheduler-pending-write-threshold",
        description="A store with more unfinished writes answers ServerIsBusy. "
        "Source: src/storage/config.rs.",
    )
    force_in_memory: Switch = key(
        default=False,
        alias="pessimistic-txn.force-in-memory",
        description="Use in-memory locks although stores older than v6.0 are in the cluster. Not a "
        "key of TiKV. Source: our own, to see what the feature gate prevents.",
    )
    ablations: list[Text] = key(
        default=[],
        description="Protections to leave out, by name. Not a key of TiKV. Source: our own, to see "
        "what each of them prevents.",
        max_length=len(ABLATIONS),
    )

    @field_validator("ablations")
    @classmethod
    def _are_known(cls, names: list[str]) -> list[str]:
        for name in names:
            if name not in ABLATIONS:
                raise wrong(f"no ablation {shown(name)}; {suggestion(name, list(ABLATIONS))}")
        return sorted(set(names))
