"""What an estimate leaves out of what the simulation of the same scenario does."""

from collections.abc import Iterator
from typing import Final

from sim.estimate.footprint import Footprint
from sim.scenario.resolved import Scenario

_NO_CLEAR_BALANCE: Final = 0.95
"""Busier than this, commands that wait share entries, and so wait less than formulas say."""


def left_out(scenario: Scenario, footprint: Footprint, used: float) -> Iterator[str]:
    """Yields what is left out, by what the scenario has.

    Args:
        scenario: what was estimated.
        footprint: of its transactions.
        used: utilisation of its busiest station, or pollers in rounds.
    """
    if scenario.operations:
        yield "what happens to the cluster during the run"
    if used > _NO_CLEAR_BALANCE:
        yield "that commands waiting for a busy station share log entries, and so wait less"
    hottest = footprint.contention.hottest_unlocked
    if hottest:
        share = f"{100 * hottest:.0f} % write the same row"
        yield f"second tries of statements in auto-commit ({share})"
    disks = (scenario.hardware.raft_disk, scenario.hardware.kv_disk)
    if any(each is not None and (each.crowding or each.longer) for each in disks):
        yield "disk latency that grows with accesses in flight or with size"
    yield "how stores differ (all but the fullest are taken as alike)"
    yield "quantiles"
