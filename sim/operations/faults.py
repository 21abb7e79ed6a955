"""Operations on stores, disks, the network and messages, each for a time or until it is ended."""

from collections.abc import Callable, Generator
from typing import Any

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


def crash_store(context: OperationContext, operation: CrashStore) -> Process:
    """Kills a store that is up, and starts it again after a while unless somebody else has."""
    up = context.cluster.up_stores()
    store = context.store(operation.store, up)
    if store is None or store not in up:
        return
    context.record(operation.do, f"store {store}")
    context.control.crash_store(store)
    if operation.for_ns is not None:
        yield operation.for_ns
        if store not in context.cluster.up_stores():
            context.record_event(f"{operation.do}_end", f"store {store}")
            context.control.restart_store(store)


def restart_store(context: OperationContext, operation: RestartStore) -> None:
    """Starts a store that is down."""
    up = context.cluster.up_stores()
    down = [store for store in context.cluster.stores if store not in up]
    store = context.store(operation.store, down)
    if store is not None and store in down:
        context.record(operation.do, f"store {store}")
        context.control.restart_store(store)


def partition(context: OperationContext, operation: Partition) -> Process:
    """Cuts the network; healing ends every cut there is."""
    if operation.groups is not None:
        context.record(operation.do, " | ".join(" ".join(group) for group in operation.groups))
        context.control.partition([list(group) for group in operation.groups])
    else:
        assert operation.isolate is not None, "the schema wants groups or isolate"
        store = context.store(operation.isolate, context.cluster.up_stores())
        if store is None:
            return
        context.record(operation.do, f"store-{store}")
        context.control.isolate([f"store-{store}"])
    if (yield from _has_ended(context, operation, "")):
        context.control.heal()


def slow_disk(context: OperationContext, operation: SlowDisk) -> Process:
    """Makes the disks of a store slower."""
    slow = context.control.slow_disk
    how = f" by {operation.factor:g}"
    return _on_a_store(
        context, operation, how, lambda at: slow(at, operation.factor), lambda at: slow(at, 1.0)
    )


def stress_cpu(context: OperationContext, operation: StressCpu) -> Process:
    """Keeps hardware threads of a store busy with something else."""
    stress = context.control.stress_cpu
    how = f", {operation.workers} of its threads"
    return _on_a_store(
        context, operation, how, lambda at: stress(at, operation.workers), lambda at: stress(at, 0)
    )


def fill_disk(context: OperationContext, operation: FillDisk) -> Process:
    """Leaves a store without space."""
    fill, usage = context.control.fill_disk, DiskUsage[operation.usage.upper()]
    return _on_a_store(
        context, operation, "", lambda at: fill(at, usage), context.control.free_disk
    )


def set_config(context: OperationContext, operation: SetConfig) -> None:
    """Changes a key online, on one store or on all."""
    store = None
    if operation.store is not None:
        store = context.store(operation.store, context.cluster.up_stores())
        if store is None:
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
    begin: Callable[[int], object],
    end: Callable[[int], object],
) -> Process:
    """Does something to a store, up or down, and undoes it after a while; records both."""
    store = context.store(operation.store, sorted(context.cluster.stores))
    if store is None:
        return
    context.record(operation.do, f"store {store}{how}")
    begin(store)
    if (yield from _has_ended(context, operation, f"store {store}")):
        end(store)


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
