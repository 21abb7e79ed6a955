"""Doubts that only a scenario's load shows: what is implausible, and what will never fire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sim.units import NS_PER_S

if TYPE_CHECKING:
    from sim.estimate.footprint import Footprint
    from sim.estimate.throughput import Balance
    from sim.scenario.resolved import Scenario

_IDLE: Final = 0.02
_FULL: Final = 0.9
_SELDOM: Final = 30
"""Fewer than this many of anything in a run say nothing about it."""


class Doubt(NamedTuple):
    """One doubt."""

    place: str
    """Key of the scenario that it is about."""
    text: str
    """What is doubtful, and what to do about it."""


def doubts(
    scenario: Scenario, footprint: Footprint, found: Balance, busiest: str, used: float
) -> tuple[Doubt, ...]:
    """Returns what an analyst would ask about, given the load.

    Args:
        scenario: what was estimated.
        footprint: of its transactions.
        found: in balance.
        busiest: name of the busiest station.
        used: its utilisation.
    """
    made = [
        _load(scenario, busiest, used),
        _contention(footprint, found),
        _locks(scenario, footprint, found),
        _memory(footprint, found),
        _transactions(scenario, found),
    ]
    return tuple(doubt for doubt in made if doubt is not None)


def _load(scenario: Scenario, busiest: str, used: float) -> Doubt | None:
    if scenario.workload.threads is None:
        if used > 1:
            return Doubt(
                "workload.rate",
                f"{busiest} would have to be {used:.0%} busy: queues grow without end; lower the "
                "rate",
            )
        if used > _FULL:
            return Doubt(
                "workload.rate",
                f"{busiest} is {used:.0%} busy: latencies are mostly queueing; lower the rate to "
                "compare services",
            )
    elif used > _FULL:
        return Doubt(
            "workload.threads",
            f"{busiest} is {used:.0%} busy: clients wait for each other there, and latencies say "
            "how many they are; take fewer threads, or a rate",
        )
    if used < _IDLE:
        key = "workload.threads" if scenario.workload.threads else "workload.rate"
        return Doubt(
            key, f"the busiest station ({busiest}) is {used:.1%} busy: nothing will queue; add load"
        )
    return None


def _contention(footprint: Footprint, found: Balance) -> Doubt | None:
    rate = found.txn_per_s * footprint.contention.hottest
    used = rate * (found.times.held + found.times.requests["lock"].mean) / NS_PER_S if rate else 0.0
    if used < 0.5:
        return None
    return Doubt(
        "workload",
        f"one row is locked {min(used, 1.0):.0%} of the time: transactions wait for each other "
        "there, not for a station; spread the rows if that is not the question",
    )


def _locks(scenario: Scenario, footprint: Footprint, found: Balance) -> Doubt | None:
    tikv = scenario.tikv
    if not footprint.lock_requests:
        return Doubt(
            "workload.kind",
            "takes no pessimistic locks: lock modes cannot differ; use explicit transactions",
        )
    if tikv.pipelined and tikv.in_memory and not found.in_memory:
        oldest = min(scenario.cluster.store_versions)
        return Doubt(
            "cluster.store_versions",
            f"a store of {oldest} keeps all locks out of memory as long as it is there; they are "
            "pipelined",
        )
    return None


def _memory(footprint: Footprint, found: Balance) -> Doubt | None:
    if not found.in_memory or not footprint.lock_requests:
        return None
    refused = found.store.lock_share
    if refused > 0.001:
        return Doubt(
            "tikv.pessimistic-txn.in-memory-peer-size-limit",
            f"{refused:.1%} of the lock requests will not fit into their region's memory and be "
            "proposed",
        )
    return None


def _transactions(scenario: Scenario, found: Balance) -> Doubt | None:
    ended = found.txn_per_s * scenario.run.measure_ns / NS_PER_S
    if ended < _SELDOM:
        return Doubt(
            "run.measure",
            f"about {ended:.0f} transactions will end in it: too few to say anything; measure "
            "longer",
        )
    return None
