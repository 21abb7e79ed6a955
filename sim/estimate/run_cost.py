"""What running a unit takes: events, memory, time. Rough: a machine is a machine.

Events are counted by mechanism, as the model puts entries into its queue. What an event and a raft
message cost was measured once, on one core of a cloud server of 2023 (Python 3.11); another machine
is as much faster or slower as its single core is.
"""

from dataclasses import dataclass
from math import exp
from typing import Final

from sim.estimate.footprint import Footprint
from sim.estimate.throughput import Balance
from sim.scenario.resolved import Scenario
from sim.units import MIB, NS_PER_S

_EVENT_S: Final = 4e-6
_MESSAGE_S: Final = 22e-6
_SETUP_S: Final = 0.1
"""Measured on one core: an entry of the event queue, a raft message with all that it leads to, and
building a unit."""

_PROCESS_BYTES: Final = 60 * MIB
_REGION_BYTES: Final = 11 * 1024
"""Measured: a Python process that has loaded the model, and three replicas of a region in use."""

_TICKS_PER_S: Final = 100.0
"""Of a store: background work is settled every 10 ms."""


@dataclass(frozen=True, slots=True)
class RunCost:
    """What one unit takes."""

    events: float
    events_per_txn: float
    simulated_s: float
    memory_bytes: float
    seconds: float
    """On one quiet core."""


def run_cost(scenario: Scenario, footprint: Footprint, balance: Balance) -> RunCost:
    """Returns what one unit of a scenario takes; transactions end with the run, not before."""
    run, load, cluster = scenario.run, balance.load, scenario.cluster
    simulated_s = (run.simulated_warmup_ns + run.measure_ns) / NS_PER_S
    requests = sum(each.count for each in footprint.requests.values()) + balance.response.retries
    client = footprint.statements + 2 * footprint.timestamps + 3 * requests
    if scenario.tikv.pipelined and not balance.in_memory:
        client += footprint.lock_requests
    rounds_per_s = load.pollers.rounds * NS_PER_S
    proposed = (
        balance.store.proposed.count * balance.txn_per_s / cluster.stores / max(rounds_per_s, 1e-9)
    )
    sends = 2 * (cluster.replicas - 1) * (1 - exp(-proposed))
    store = rounds_per_s * (1 + sends) + load.fsyncs_per_s + load.entries_per_s + _TICKS_PER_S
    per_s = balance.txn_per_s * client + cluster.stores * store
    message_s = cluster.stores * load.messages_per_s * _MESSAGE_S
    touched = sum(
        group.regions * (1 - exp(-group.visits / group.regions * balance.txn_per_s * simulated_s))
        for group in footprint.region_groups
    )
    return RunCost(
        events=per_s * simulated_s,
        events_per_txn=per_s / balance.txn_per_s,
        simulated_s=simulated_s,
        memory_bytes=_PROCESS_BYTES + touched * _REGION_BYTES * cluster.replicas / 3,
        seconds=_SETUP_S + simulated_s * (per_s * _EVENT_S + message_s),
    )
