"""Operations on stores, disks, the network and messages, each for a time or until it is ended.

What ends undoes only itself (``in_force``): a partition leaves the cuts of others, a timer starts
no store that has been stopped again since.
"""

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from sim.engine import Wait
from sim.operations.context import OperationContext, Process
from sim.scenario.schema.operations import (
    CrashStore,
    DelayMessages,
    DropMessages,
    FillDisk,
    Partition,
    RestartStore,
    SetConfig,
    SlowDisk,
    StressCpu,
)
from sim.scenario.targets import RegionTarget, StoreTarget
from sim.transport.messages import DiskUsage

_Strength = TypeVar("_Strength", int, float, DiskUsage)


def crash_store(context: OperationContext, operation: CrashStore) -> Process:
    """Kills a store that is up, and starts it again after a while unless somebody else has."""
    up = context.cluster.up_stores()
    store = context.store(operation.store, up)
    if store is None:
        context.skip(operation, context.missing(operation.store, "none_up"))
        return
    if store not in up:
        context.skip(operation, "is_down", f"store {store}")
        return
    context.record(operation.do, f"store {store}")
    context.control.crash_store(store)
    stop = context.in_force.stopped(store)
    if operation.for_ns is not None:
        yield operation.for_ns
        is_down = store not in context.cluster.up_stores()
        if is_down and context.in_force.is_latest_stop(store, stop):
            context.record_event(f"{operation.do}_end", f"store {store}")
            context.control.restart_store(store)


def restart_store(context: OperationContext, operation: RestartStore) -> None:
    """Starts a store that is down."""
    up = context.cluster.up_stores()
    down = [store for store in context.cluster.stores if store not in up]
    store = context.store(operation.store, down)
    if store is None:
        context.skip(operation, context.missing(operation.store, "none_down"))
    elif store not in down:
        context.skip(operation, "is_up", f"store {store}")
    else:
        context.record(operation.do, f"store {store}")
        context.control.restart_store(store)


def partition(context: OperationContext, operation: Partition) -> Process:
    """Cuts the network; healing leaves the links that another partition cuts."""
    control = context.control
    if operation.groups is not None:
        groups = [list(group) for group in operation.groups]
        detail = " | ".join(" ".join(group) for group in groups)
        context.record(operation.do, detail)
        control.partition(groups)
    else:
        assert operation.isolate is not None, "the schema wants groups or isolate"
        store = context.store(operation.isolate, context.cluster.up_stores())
        if store is None:
            context.skip(operation, context.missing(operation.isolate, "none_up"))
            return
        detail = f"store-{store}"
        context.record(operation.do, detail)
        control.isolate([detail])
        groups = control.isolation([detail])
    number = context.in_force.partitioned(groups)
    if (yield from _has_ended(context, operation, detail)):
        control.heal(context.in_force.healed(number))


def slow_disk(context: OperationContext, operation: SlowDisk) -> Process:
    """Makes the disks of a store slower."""
    how, factor = f" by {operation.factor:g}", operation.factor
    return _on_a_store(context, operation, how, factor, 1.0, context.control.slow_disk)


def stress_cpu(context: OperationContext, operation: StressCpu) -> Process:
    """Keeps hardware threads of a store busy with something else."""
    how, workers = f", {_busy_threads(operation.workers)}", operation.workers
    return _on_a_store(context, operation, how, workers, 0, context.control.stress_cpu)


def _busy_threads(workers: int) -> str:
    return f"{workers:,} busy thread{'' if workers == 1 else 's'}"


def fill_disk(context: OperationContext, operation: FillDisk) -> Process:
    """Leaves a store without space."""
    control = context.control

    def set_to(store: int, usage: DiskUsage) -> None:
        if usage is DiskUsage.NORMAL:
            control.free_disk(store)
        else:
            control.fill_disk(store, usage)

    usage = DiskUsage[operation.usage.upper()]
    return _on_a_store(context, operation, "", usage, DiskUsage.NORMAL, set_to)


def set_config(context: OperationContext, operation: SetConfig) -> None:
    """Changes a key online, on one store or on all."""
    store = None
    if operation.store is not None:
        store = context.store(operation.store, context.cluster.up_stores())
        if store is None:
            context.skip(operation, context.missing(operation.store, "none_up"))
            return
    where = "" if store is None else f" on store {store}"
    context.record(operation.do, f"{operation.key} = {operation.value}{where}")
    context.control.set_config(operation.key, operation.value, store=store)


def disturb_messages(context: OperationContext, operation: DropMessages | DelayMessages) -> Process:
    """Loses or delays raft messages of a kind."""
    src = _store_or_any(context, operation.from_store)
    dst = _store_or_any(context, operation.to_store)
    region = _region_or_any(context, operation.region)
    if src is None or dst is None or region is None:
        context.skip(operation, "no_region" if region is None else "no_store", operation.kind)
        return
    delay_ns = operation.delay_ns if isinstance(operation, DelayMessages) else 0
    context.record(operation.do, operation.kind)
    filters = context.cluster.filters
    rule = filters.delay(operation.kind, delay_ns, src=src, dst=dst, region=region)
    if (yield from _has_ended(context, operation, operation.kind)):
        filters.remove(rule)


def _on_a_store(
    context: OperationContext,
    operation: SlowDisk | StressCpu | FillDisk,
    how: str,
    strength: _Strength,
    usual: _Strength,
    set_to: Callable[[int, _Strength], object],
) -> Process:
    """Does something to a store, up or down, and undoes it after a while; records both."""
    store = context.store(operation.store, sorted(context.cluster.stores))
    if store is None:
        context.skip(operation, "no_store")
        return
    detail = f"store {store}{how}"
    context.record(operation.do, detail)
    number = context.in_force.begun(operation.do, store, strength)
    set_to(store, strength)
    if (yield from _has_ended(context, operation, detail)):
        left = context.in_force.ended(operation.do, store, number)
        set_to(store, usual if left is None else left)


def _has_ended(
    context: OperationContext,
    operation: Partition | SlowDisk | StressCpu | FillDisk | DropMessages | DelayMessages,
    detail: str,
) -> Generator[Wait, Any, bool]:
    """Waits for the end of a fault and records it; returns False at once if it has none."""
    if operation.for_ns is None:
        return False
    yield operation.for_ns
    context.record_event(f"{operation.do}_end", detail)
    return True


def _store_or_any(context: OperationContext, target: StoreTarget | None) -> int | None:
    """Returns a store, 0 for any, None if the one that is meant does not exist."""
    return 0 if target is None else context.store(target, sorted(context.cluster.stores))


def _region_or_any(context: OperationContext, target: RegionTarget | None) -> int | None:
    if target is None:
        return 0
    route = context.region(target)
    return None if route is None else route.region.region_id
