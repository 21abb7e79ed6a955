"""What follows from how commands spread over regions: heartbeats, shared entries, full lock tables.

Law: a region that has committed something its followers have not been told of stays awake until a
heartbeat has told them, so a region that is written to now and then costs a heartbeat each time;
one that is written to all the time, one in every heartbeat interval. Commands that wait in one
peer's mailbox at the same time share an entry.

A sample shows busy regions as they are; of the quiet ones it meets only some, so regions of one
table that were met rarely share what was met there evenly.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Final

from sim.estimate.formulas import erlang_b
from sim.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.estimate.footprint import Footprint
    from sim.scenario.resolved import Scenario

_MOST_TICKS: Final = 400
"""A longer run goes on as it has gone so far."""

_BUSY: Final = 8
"""A region drawn more often than this is taken as it was drawn."""


@dataclass(frozen=True, slots=True)
class RegionClass:
    """Regions that are alike."""

    regions: int
    commands: float
    """Per transaction and region."""
    visits: float
    """Transactions that write to the region, per transaction and region."""


def region_classes(footprint: Footprint, lock_share: float) -> list[RegionClass]:
    """Returns the regions written to, by how often.

    Args:
        footprint: whose commands.
        lock_share: share of the lock requests that are proposed.
    """
    tables: dict[int, list[int]] = {}
    for region_id, table in footprint.table_of_region.items():
        tables.setdefault(table, []).append(region_id)
    classes = []
    for members in tables.values():
        busy = [r for r in members if footprint.drawn_by_region[r] > _BUSY]
        groups = [[r] for r in busy] + [sorted(set(members) - set(busy))]
        for group in groups:
            commands, visits = _written(footprint, group, lock_share)
            if commands:
                size = len(group)
                classes.append(RegionClass(size, commands / size, visits / size))
    return classes


def _written(
    footprint: Footprint, regions: Sequence[int], lock_share: float
) -> tuple[float, float]:
    """Returns the commands of some regions, and the transactions that write there."""
    found = [footprint.by_region[r] for r in regions if r in footprint.by_region]
    commands = sum(locks * lock_share + others for locks, others, _ in found)
    return commands, sum(visits for _, _, visits in found)


def heartbeats_per_s(scenario: Scenario, classes: Sequence[RegionClass], txn_per_s: float) -> float:
    """Returns how many rounds of heartbeats all leaders send, per second of the measured time.

    Every region sleeps when a run begins, and wakes with its first commit: a short run has fewer
    heartbeats than a long one.
    """
    tikv = scenario.tikv
    tick_ns = tikv.raft_base_tick_interval_ns
    if not tikv.hibernate_regions:
        regions = sum(each.regions for each in classes)
        return regions * NS_PER_S / (tick_ns * tikv.raft_heartbeat_ticks)
    run = scenario.run
    warmup_ns = run.measure_ns // 2 if run.warmup_ns is None else run.warmup_ns
    ends = [warmup_ns / tick_ns, (warmup_ns + run.measure_ns) / tick_ns]
    total = 0.0
    for each in classes:
        rate = each.visits * txn_per_s * tick_ns / NS_PER_S
        before, until = _heartbeats_until(ends, rate, tikv.raft_heartbeat_ticks)
        total += each.regions * (until - before)
    return total * NS_PER_S / run.measure_ns


def _heartbeats_until(ends: Sequence[float], rate: float, ticks: int) -> list[float]:
    """Returns the mean number of heartbeats of a region until some times, in ticks.

    A renewal process on ticks: first a tick with a commit since the last heartbeat, then as many
    more as make a heartbeat. The ticks' phase is random, which smooths the steps.
    """
    if rate <= 0:
        return [0.0] * len(ends)
    last = min(int(max(ends)) + 2, _MOST_TICKS)
    written = 1 - exp(-rate)
    asleep = [0.0] * (last + 1)
    asleep[0] = 1.0
    beats = []
    for tick in range(last):
        woken = asleep[tick] * (1 - (1 - exp(-rate)) / rate if tick == 0 else written)
        asleep[tick + 1] += asleep[tick] - woken
        beats.append(0.0)
        if tick + ticks <= last:
            asleep[tick + ticks] += woken
        due = tick + ticks - 1
        while len(beats) <= due:
            beats.append(0.0)
        beats[due] += woken
    return [
        sum(beat * min(1.0, max(0.0, end - tick)) for tick, beat in enumerate(beats))
        * (max(1.0, end / last))
        for end in ends
    ]


def heard_share(scenario: Scenario, classes: Sequence[RegionClass], txn_per_s: float) -> float:
    """Returns the share of the commands of the measured time that followers apply in it.

    A follower hears of a commit with the next append or heartbeat of its region. Of the commands
    of one transaction in one region all but the last are told of by the next one; the last waits
    for another transaction or the heartbeat, and in a short run of many regions may not be told.
    """
    tikv, run = scenario.tikv, scenario.run
    warmup_ns = run.measure_ns // 2 if run.warmup_ns is None else run.warmup_ns
    interval_ns = tikv.raft_base_tick_interval_ns * tikv.raft_heartbeat_ticks
    latest_s = (interval_ns - tikv.raft_base_tick_interval_ns / 2) / NS_PER_S
    ends_s = (warmup_ns / NS_PER_S, (warmup_ns + run.measure_ns) / NS_PER_S)
    heard = commands = 0.0
    for each in classes:
        rate = each.visits * txn_per_s
        untold_s = [_untold_s(rate, min(end, latest_s)) for end in ends_s]
        untold = (untold_s[1] - untold_s[0]) / (ends_s[1] - ends_s[0])
        count = each.regions * each.commands
        commands += count
        heard += count - each.regions * each.visits * untold
    return heard / commands if commands else 1.0


def _untold_s(rate: float, until: float) -> float:
    """Returns for how long of a time from 0 nobody would have told of a commit as old as that."""
    return (1 - exp(-rate * until)) / rate if rate else until


@dataclass(frozen=True, slots=True)
class Sharing:
    """How commands of one region travel together."""

    entries: float = 1.0
    """Entries per command."""
    answers: float = 1.0
    """Answers of one follower per command."""

    def halfway(self, other: Sharing) -> Sharing:
        """Returns the mean of the two: a step that does not overshoot."""
        return Sharing((self.entries + other.entries) / 2, (self.answers + other.answers) / 2)


def sharing(
    classes: Sequence[RegionClass], txn_per_s: float, gathering_s: float, owned_s: float
) -> Sharing:
    """Returns how many entries and answers a command takes: less than 1 where some share them.

    Args:
        classes: regions written to.
        txn_per_s: transactions.
        gathering_s: how long a message waits for a poller.
        owned_s: how long a poller owns a peer for one visit; what comes meanwhile waits for it.
    """
    entries = answers = commands = 0.0
    for each in classes:
        count = each.regions * each.commands
        rate = each.commands * txn_per_s
        proposed = _together(rate, gathering_s, owned_s)
        answered = _together(rate / proposed, gathering_s, owned_s)
        commands += count
        entries += count / proposed
        answers += count / proposed / answered
    return Sharing(entries / commands, answers / commands) if commands else Sharing()


def _together(rate: float, gathering_s: float, owned_s: float) -> float:
    """Returns how many messages of one peer a visit finds."""
    owned = 1 - exp(-rate * owned_s)
    return 1 + rate * (gathering_s + owned * owned_s / 2)


def refused_by_memory(
    scenario: Scenario, footprint: Footprint, txn_per_s: float, held_s: float
) -> float:
    """Returns the share of lock requests that find their region's lock table full.

    Each region's table is a loss system (Erlang B): requests of a mean size take places in it
    for as long as their transaction holds them.
    """
    locks = footprint.commands.get("lock")
    if locks is None or not locks.count:
        return 0.0
    size = locks.memory / locks.count
    places = int(scenario.tikv.in_memory_peer_size_limit_bytes // size)
    refused = 0.0
    for memory in footprint.memory_by_region.values():
        requests = memory / size
        refused += requests * erlang_b(places, requests * txn_per_s * held_s)
    return refused / locks.count
