"""What running a unit takes: events, memory, time. Rough: a machine is a machine.

Law: events are counted by mechanism, as the model puts entries into its queue. What an event and a
raft message cost was measured once, on one core of a cloud server of 2023 (Python 3.11); another
machine is as much faster or slower as its single core is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Final

from sim.units import MIB, NS_PER_S

if TYPE_CHECKING:
    from sim.estimate.footprint import Footprint
    from sim.estimate.throughput import Balance
    from sim.scenario.resolved import Scenario

_EVENT_S: Final = 4e-6
_MESSAGE_S: Final = 22e-6
_SETUP_S: Final = 0.1
"""Measured on one core: an entry of the event queue, a raft message with all that it leads to, and
building a unit."""

_PROCESS_BYTES: Final = 60 * MIB
_REGION_BYTES: Final = 11 * 1024
"""Measured: a Python process that has loaded the model, and the replicas of a region in use."""


@dataclass(frozen=True, slots=True)
class RunCost:
    """What one unit takes."""

    events: float
    events_per_txn: float
    simulated_s: float
    memory_bytes: float
    seconds: float
    """On one quiet core."""


def run_cost(scenario: Scenario, footprint: Footprint, found: Balance) -> RunCost:
    """Returns what one unit of a scenario takes; transactions end with the run, not before."""
    run = scenario.run
    warmup_ns = run.measure_ns // 2 if run.warmup_ns is None else run.warmup_ns
    simulated_s = (warmup_ns + run.measure_ns) / NS_PER_S
    load, stores = found.load, scenario.cluster.stores
    followers = scenario.cluster.replicas - 1
    requests = sum(each.count for each in footprint.requests.values()) + found.times.retries
    client = footprint.statements + 2 * footprint.timestamps + 3 * requests
    if scenario.tikv.lock_mode == "pipelined" or not found.in_memory:
        client += footprint.lock_requests * scenario.tikv.pipelined
    rounds_per_s = load.pollers.rounds * NS_PER_S
    proposed = load.messages_per_round * load.commands_per_s / max(load.messages_per_s, 1e-9)
    sent = 2 * followers * (1 - exp(-proposed)) if load.messages_per_s else 0.0
    store_events = rounds_per_s * (1 + sent) + load.fsyncs_per_s + load.entries_per_s
    ticking = 100.0  # Background work is settled every 10 ms.
    per_s = found.txn_per_s * client + stores * (store_events + ticking)
    seconds = simulated_s * (per_s * _EVENT_S + stores * load.messages_per_s * _MESSAGE_S)
    touched = sum(each.regions * (1 - exp(-each.visits * found.txn_per_s * simulated_s))
                  for each in found.store.classes)  # fmt: skip
    return RunCost(
        events=per_s * simulated_s,
        events_per_txn=per_s / found.txn_per_s,
        simulated_s=simulated_s,
        memory_bytes=_PROCESS_BYTES + touched * _REGION_BYTES * scenario.cluster.replicas / 3,
        seconds=_SETUP_S + seconds,
    )
