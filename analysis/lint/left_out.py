"""Operations that were due and could not be done: which, why, and what would let them be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from analysis.statistics.amounts import count
from sim.fact_names import SKIPPED
from sim.scenario.schema.operations import Operation, Rolling, Timed

REMEDIES: Final = {
    "no_region": "write a region that there is then, or random",
    "no_store": "write a store, or random",
    "none_up": "do it while such a store is up",
    "none_down": "do it while a store is down, or write crash_store before it",
    "is_down": "do it while the store is up, or write restart_store before it",
    "is_up": "do it while the store is down, or write crash_store before it",
    "is_leader": "write another store, or random",
    "no_replica": "write a store that has one, or random",
    "has_replica": "write a store without one; there is none unless cluster.stores is more than "
    "cluster.replicas",
    "all_have_one": "write more cluster.stores than cluster.replicas",
    "no_follower": "write cluster.replicas: 3",
    "no_split_key": "write another region, or a row in its midst",
    "no_neighbour": "write another region, or the other side (into)",
    "other_stores": "write a region whose neighbour is on the same stores, or as many "
    "cluster.replicas as cluster.stores",
}
"""By the reason."""


def repeats(operation: Operation) -> bool:
    """Returns whether it is done again and again, so that one time more or less is nothing."""
    endless = isinstance(operation, Timed) and operation.at_ns is None and operation.count is None
    return endless and not isinstance(operation, Rolling)


def left_out_words(operation: Operation, times: Mapping[str, int], done: int) -> str | None:
    """Returns the words of a warning, without the variant; None if there is nothing to warn of.

    Args:
        operation: which.
        times: how often it was left out, by reason; zeros do not matter.
        done: how often operations of its kind were done.
    """
    total = sum(times.values())
    if not total or (repeats(operation) and total < done):
        return None
    why = max(times, key=lambda reason: (times[reason], reason))
    return (
        f"{operation.do} (operations.{operation.name}) was left out {count(total, 'time')} in all "
        f"replications: {SKIPPED[why]}; {REMEDIES[why]}"
    )
