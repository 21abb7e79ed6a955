"""Warnings that only a scenario's load shows: what is implausible, and what will never happen."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from sim.estimate.footprint import Footprint
from sim.estimate.throughput import Balance
from sim.scenario.resolved import Scenario
from sim.scenario.schema.operations import UpgradeStore
from sim.units import NS_PER_S

_IDLE: Final = 0.02
_FULL: Final = 0.9
_SELDOM: Final = 30
"""Fewer than this many of anything in a run say nothing about it."""


class LoadWarning(NamedTuple):
    """One warning."""

    place: str
    """Key of the scenario that it is about."""
    text: str
    """What is doubtful, and what to do about it."""


def load_warnings(
    scenario: Scenario, footprint: Footprint, balance: Balance, busiest: str, used: float
) -> Iterator[LoadWarning]:
    """Yields what an analyst would ask about, given the load.

    Args:
        scenario: what was estimated.
        footprint: of its transactions.
        balance: its load, and the times that go with it.
        busiest: name of the busiest station.
        used: its utilisation.
    """
    hot = balance.txn_per_s * footprint.contention.hottest
    hot_row_used = hot * (balance.response.held + balance.response.lock) / NS_PER_S
    hot_row_is_full = hot_row_used >= 0.5
    if not (hot_row_is_full and used < _IDLE):  # more load would only lengthen the row's queue
        yield from _of_load(scenario, busiest, used)
    if hot_row_is_full:
        yield LoadWarning(
            "workload",
            f"one row is locked {_percent(min(hot_row_used, 1.0))} of the time: transactions wait "
            "for each other there, not for a station; spread the rows if that is not the question",
        )
    yield from _of_locks(scenario, balance)
    ended = balance.txn_per_s * scenario.run.measure_ns / NS_PER_S
    if ended < _SELDOM:
        yield LoadWarning(
            "run.measure",
            f"about {ended:.0f} transactions will end in it: too few to say anything; measure "
            "longer",
        )


def _of_load(scenario: Scenario, busiest: str, used: float) -> Iterator[LoadWarning]:
    closed = scenario.workload.threads is not None
    key = "workload.threads" if closed else "workload.rate"
    if used < _IDLE:
        yield LoadWarning(
            key,
            f"the busiest station ({busiest}) is {100 * used:.1f} % busy: nothing will queue; add "
            "load",
        )
    elif used > _FULL and closed:
        yield LoadWarning(
            key,
            f"{busiest} is {_percent(used)} busy: clients wait for each other there, so latencies "
            "grow with their number; take fewer threads, or a rate",
        )
    elif used > 1:
        yield LoadWarning(
            key,
            f"{busiest} would have to be {_percent(used)} busy: queues grow without end; lower the "
            "rate",
        )
    elif used > _FULL:
        yield LoadWarning(
            key,
            f"{busiest} is {_percent(used)} busy: latencies are mostly queueing; lower the rate "
            "to compare services",
        )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _of_locks(scenario: Scenario, balance: Balance) -> Iterator[LoadWarning]:
    upgrades = any(isinstance(each, UpgradeStore) for each in scenario.operations)
    if upgrades and scenario.tikv.lock_mode == "in_memory" and not balance.in_memory:
        yield LoadWarning(
            "cluster.store_versions",
            f"computed as before the upgrade, when a store of "
            f"{min(scenario.cluster.store_versions)} keeps all locks out of memory",
        )
    elif balance.in_memory and balance.store.lock_share > 0.001:
        yield LoadWarning(
            "tikv.pessimistic-txn.in-memory-peer-size-limit",
            f"{balance.store.lock_share:.1%} of the lock requests will not fit into their region's "
            "memory and be proposed",
        )
