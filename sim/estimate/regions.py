"""What follows from how commands spread over regions: ticks, shared entries, full lock tables.

A follower learns of a commit from the next append or heartbeat of its region. A region that sleeps
is woken by a write and sleeps again after the heartbeat that follows; each region sleeps when a run
begins. Commands that wait in one peer's mailbox at the same time share an entry.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sim.estimate.footprint import AlikeRegions
from sim.queueing.formulas import erlang_b
from sim.scenario.resolved import Scenario
from sim.streams import Streams
from sim.units import NS_PER_S
from sim.workload import build_workload
from sim.workload.layout import even_start_keys, safe_regions

FloatArray = NDArray[np.float64]


def too_many_regions(scenario: Scenario) -> int | None:
    """Returns how many regions its rows can be cut into; None: into as many as it asks for."""
    asked = scenario.cluster.regions
    if asked is None:
        return None
    tables = build_workload(scenario.workload, Streams(scenario.run.seed, 0)).tables()
    most = safe_regions(tables)
    if asked <= most:
        return None
    try:
        even_start_keys(tables, asked)
    except ValueError:
        return most
    return None


def heartbeats_per_s(scenario: Scenario, groups: Sequence[AlikeRegions], txn_per_s: float) -> float:
    """Returns how many rounds of heartbeats all leaders send, per second of the measured time.

    A region's first one is due after half an interval, in the mean; a short run may end before.
    """
    interval_s = _heartbeat_interval_s(scenario)
    return _awake(scenario, groups, txn_per_s, interval_s / 2) / interval_s


def ticks_per_s(scenario: Scenario, groups: Sequence[AlikeRegions], txn_per_s: float) -> float:
    """Returns how many ticks of replicas a poller is asked for, per second, in the cluster."""
    tick_s = scenario.tikv.raft_base_tick_interval_ns / NS_PER_S
    awake = _awake(scenario, groups, txn_per_s, tick_s / 2)
    return awake * scenario.cluster.replicas / tick_s


def _awake(
    scenario: Scenario, groups: Sequence[AlikeRegions], txn_per_s: float, first_s: float
) -> float:
    """Returns how many regions are awake on average, in the time from ``first_s`` of the run.

    A region that hibernates has a cycle: asleep until a write, then awake for a heartbeat interval
    (a renewal process).
    """
    if not scenario.tikv.hibernate_regions:
        return float(sum(group.regions for group in groups))
    interval_s = _heartbeat_interval_s(scenario)
    begin_s, end_s = _measured_s(scenario)
    due = max(0.0, end_s - max(begin_s, first_s)) / (end_s - begin_s)
    return due * sum(
        group.regions / (1 + group.regions / (group.visits * txn_per_s * interval_s))
        for group in groups
    )


def _heartbeat_interval_s(scenario: Scenario) -> float:
    tikv = scenario.tikv
    return tikv.raft_base_tick_interval_ns * tikv.raft_heartbeat_ticks / NS_PER_S


def _measured_s(scenario: Scenario) -> tuple[float, float]:
    begin_ns = scenario.run.simulated_warmup_ns
    return begin_ns / NS_PER_S, (begin_ns + scenario.run.measure_ns) / NS_PER_S


def entries_per_command(
    commands: FloatArray, regions: FloatArray, txn_per_s: float, waiting_s: float
) -> float:
    """Returns how many entries a command takes: less than 1 where some share one.

    Args:
        commands: of a transaction to all regions of a group; shape (groups,).
        regions: of each group; shape (groups,).
        txn_per_s: transactions.
        waiting_s: how long a command waits for a poller; what comes to the same region meanwhile
            shares its entry.
    """
    entries = commands / (1 + commands / regions * txn_per_s * waiting_s)
    return float(entries.sum() / commands.sum()) if commands.any() else 1.0


_MANY: Final = 30.0
"""Messages during a round; more change nothing."""


@dataclass(frozen=True, slots=True)
class Mail:
    """What comes to the peers of a command's region."""

    visits: float = 1.0
    """Of a peer, per message."""
    met: float = 0.0
    """Share of the messages whose peer is in a round."""
    results: float = 0.0
    """Of applying, per command, over all replicas."""


def mail_of_peers(  # noqa: PLR0913 - a formula's variables, named
    commands: FloatArray,
    regions: FloatArray,
    txn_per_s: float,
    *,
    followers: int,
    entries: float,
    applying_s: float,
    waiting_s: float,
    round_s: float,
) -> Mail:
    """Returns what comes to peers, and how they find it.

    A visit finds what has come while the peer waited for a poller. What comes while its poller is
    in a round with it waits for that poller. A leader gets commands and an answer of each follower
    to each entry, a follower the entries; both hear when entries have been applied, of all that
    waited for it together.

    Args:
        commands: of a transaction to all regions of a group; shape (groups,).
        regions: of each group; shape (groups,).
        txn_per_s: transactions.
        followers: of a region.
        entries: that a command takes.
        applying_s: from an entry's commit until it is applied.
        waiting_s: how long a message waits for a poller.
        round_s: how long a poller's round takes.
    """
    asked = float(commands.sum())
    if not asked:
        return Mail()
    results = entries / (1 + commands * (entries * txn_per_s) / regions * applying_s)
    messages = visits = met = 0.0
    to_leader, to_follower = 1 + followers * entries + results, entries + results
    for to_peer, peers in ((to_leader, 1), (to_follower, followers)):
        count = commands * to_peer * peers
        per_s = commands * to_peer * txn_per_s / regions
        messages += float(count.sum())
        visits += float((count / (1 + per_s * waiting_s)).sum())
        # A peer's rounds follow each other while there is mail, as the groups of a bulk server do.
        in_round = np.minimum(per_s * round_s, _MANY)
        in_round *= np.exp(in_round)
        met += float((count * in_round / (1 + in_round)).sum())
    told = float((commands * results).sum()) * (1 + followers)
    return Mail(visits / messages, met / messages, told / asked)


def refused_by_memory(
    scenario: Scenario, groups: Sequence[AlikeRegions], txn_per_s: float, held_s: float
) -> float:
    """Returns the share of lock requests that find their region's lock table full.

    Each region's table is a loss system (Erlang B): requests of a mean size take places in it
    for as long as their transaction holds them.
    """
    refused = requests = 0.0
    for group in groups:
        if group.lock_bytes:
            size = group.lock_bytes / group.locks
            places = int(scenario.tikv.in_memory_peer_size_limit_bytes // size)
            offered = group.locks / group.regions * txn_per_s * held_s
            refused += group.locks * erlang_b(places, offered)
            requests += group.locks
    return refused / requests if requests else 0.0
