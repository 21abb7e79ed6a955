"""Carries out the operations of a scenario, each in a process of its own.

Law: every operation draws from its own stream, so one more of them moves no draw of another. What
lasts (a fault with an end, a rolling restart) goes on by itself; the next moment does not wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sim.operations import auto_split, faults, region_actions, rolling, schedulers
from sim.operations.choice import Choice
from sim.operations.heat import Heat
from sim.operations.journal import Journal
from sim.operations.key_ranges import KeyRanges
from sim.operations.moments import moments
from sim.operations.transfers import Transfers
from sim.scenario.resolved_operations import AutoSplit, Driven, Operation, Timed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from simpy import Event

    from sim.engine import LeanEnv
    from sim.operations.operated import Control
    from sim.record.recorder import Recorder
    from sim.scenario.resolved import Scenario
    from sim.server.cluster import Cluster
    from sim.streams import Streams
    from sim.workload.layout import Table

    Process = Generator[Event, Any, None]

_ACTIONS: Final[dict[str, Callable[[Hands, Any], Process | None]]] = {
    "transfer_leader": region_actions.transfer_leader,
    "shuffle_leader": region_actions.shuffle_leader,
    "split_region": region_actions.split_region,
    "merge_region": region_actions.merge_region,
    "change_peer": region_actions.change_peer,
    "evict_leader": rolling.rolled,
    "upgrade_store": rolling.rolled,
    "crash_store": faults.crash_store,
    "restart_store": faults.restart_store,
    "partition": faults.partition,
    "slow_disk": faults.slow_disk,
    "fill_disk": faults.fill_disk,
    "set_config": faults.set_config,
    "drop_messages": faults.disturb_messages,
    "delay_messages": faults.disturb_messages,
}
"""What is done at each moment; what lasts comes back as a process."""


@dataclass(frozen=True, slots=True)
class Hands:
    """What an operation works with."""

    env: LeanEnv
    cluster: Cluster
    control: Control
    choice: Choice
    ranges: KeyRanges
    transfers: Transfers
    journal: Journal
    region_split_size_bytes: int

    def is_over(self, operation: Driven) -> bool:
        """Returns whether a scheduler's time has passed."""
        return operation.until_ns is not None and self.env.now_ns >= operation.until_ns


def start_operations(
    scenario: Scenario,
    cluster: Cluster,
    control: Control,
    tables: Sequence[Table],
    streams: Streams,
    recorder: Recorder,
) -> None:
    """Starts a process for every operation of ``scenario``."""
    if not scenario.operations:
        return
    env = cluster.env
    ranges = KeyRanges(tables)
    transfers = Transfers(cluster, control)
    journal = Journal(env, recorder)
    for operation in scenario.operations:
        stream = streams.stream(f"operations/{operation.name}")
        choice = Choice(cluster, ranges, Heat(cluster), stream)
        hands = Hands(
            env,
            cluster,
            control,
            choice,
            ranges,
            transfers,
            journal,
            scenario.tikv.region_split_size_bytes,
        )
        for process in _processes(hands, operation):
            env.process(process)


def _processes(hands: Hands, operation: Operation) -> list[Process]:
    match operation:
        case Timed():
            return [_at_its_moments(hands, operation)]
        case AutoSplit():
            by_size = [_from(hands, operation, auto_split.split_by_size)]
            by_load = [_from(hands, operation, auto_split.split_by_load)]
            return {"size": by_size, "load": by_load, "both": by_size + by_load}[operation.by]
        case Driven():
            return [_from(hands, operation, getattr(schedulers, operation.do))]
        case _:
            raise AssertionError(f"nobody can carry out {operation.do}")


def _at_its_moments(hands: Hands, operation: Timed) -> Process:
    for time_ns in moments(operation, hands.choice.stream):
        yield hands.env.timeout(time_ns - hands.env.now_ns)
        process = _ACTIONS[operation.do](hands, operation)
        if process is not None:
            hands.env.process(process)


def _from(hands: Hands, operation: Driven, drive: Callable[[Hands, Any], Process]) -> Process:
    yield hands.env.timeout(operation.from_ns)
    yield from drive(hands, operation)
