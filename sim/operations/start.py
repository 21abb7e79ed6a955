"""Starts the operations of a scenario, each in a process of its own.

Every operation draws from its own stream, so one more of them changes no draw of another. What
lasts (a fault with an end, a rolling restart) is a process too; the next time does not wait for it.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from sim.operations import faults, rolling, split_check
from sim.operations.context import OperationContext, Process
from sim.operations.hot_regions import HotRegions
from sim.operations.in_force import FaultsInForce
from sim.operations.key_ranges import KeyRanges
from sim.operations.pd import handler
from sim.operations.pd.balance_leader import balance_leader
from sim.operations.pd.merge_checker import MergeChecker
from sim.operations.pd.operator_controller import OperatorController
from sim.operations.pd.shuffle_leader import shuffle_leader
from sim.operations.times import times_of
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.scenario.schema import operations as ops
from sim.scenario.schema.operations import Driven, Operation, Timed
from sim.server.cluster import Cluster
from sim.server.control import Control
from sim.streams import Streams
from sim.workload.layout import Table

_ACTIONS: Final[dict[type[Timed], Callable[[OperationContext, Any], Process | None]]] = {
    ops.TransferLeader: handler.transfer_leader,
    ops.ShuffleLeader: shuffle_leader,
    ops.SplitRegionOperation: handler.split_region,
    ops.MergeRegion: handler.merge_region,
    ops.ChangePeerOperation: handler.change_peer,
    ops.EvictLeader: rolling.roll,
    ops.UpgradeStore: rolling.roll,
    ops.CrashStore: faults.crash_store,
    ops.RestartStore: faults.restart_store,
    ops.Partition: faults.partition,
    ops.SlowDisk: faults.slow_disk,
    ops.StressCpu: faults.stress_cpu,
    ops.FillDisk: faults.fill_disk,
    ops.SetConfig: faults.set_config,
    ops.DropMessages: faults.disturb_messages,
    ops.DelayMessages: faults.disturb_messages,
}
"""What is done at each of an operation's times; what lasts is returned as a process."""


def start_operations(
    scenario: Scenario,
    cluster: Cluster,
    control: Control,
    tables: Sequence[Table],
    streams: Streams,
    recorder: Recorder,
) -> None:
    """Starts the processes of every operation of ``scenario``."""
    ranges = KeyRanges(tables)
    controller = OperatorController(cluster, control)
    in_force = FaultsInForce()
    for operation in scenario.operations:
        context = OperationContext(
            cluster,
            control,
            ranges,
            controller,
            in_force,
            recorder,
            streams.stream(f"operations/{operation.name}"),
            HotRegions(cluster),
            scenario.tikv.region_split_size_bytes,
        )
        for process in _processes(context, operation):
            cluster.env.process(process)


def _processes(context: OperationContext, operation: Operation) -> list[Process]:
    match operation:
        case Timed():
            return [_act_at_its_times(context, operation)]
        case ops.BalanceLeader():
            loops = [balance_leader(context, operation)]
        case ops.AutoMerge():
            loops = [MergeChecker(context, operation).run()]
        case ops.AutoSplit():
            loops = []
            if operation.by in {"size", "both"}:
                loops.append(split_check.split_by_size(context, operation))
            if operation.by in {"load", "both"}:
                loops.append(split_check.split_by_load(context, operation))
        case _:
            raise AssertionError(f"an operation without an action: {operation.do}")
    return [_from_its_start(operation, loop) for loop in loops]


def _act_at_its_times(context: OperationContext, operation: Timed) -> Process:
    env = context.env
    for time_ns in times_of(operation, context.stream):
        yield time_ns - env.now_ns
        process = _ACTIONS[type(operation)](context, operation)
        if process is not None:
            env.process(process)


def _from_its_start(operation: Driven, loop: Process) -> Process:
    yield operation.from_ns
    yield from loop
