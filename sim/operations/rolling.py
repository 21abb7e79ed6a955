"""Emptying a store of leaders, and restarting or upgrading stores one after the other.

As tiup does it: an evict-leader scheduler for the store, wait until it leads nothing (or too long),
stop it, start it, remove the scheduler, go on with the next one. tiup looks every 5 s whether
leaders are left, the first time when there still are; so a store goes on answering NotLeader for
seconds after its last leader has left, and most clients learn the new leaders from it.

Source: pingcap/tiup pkg/cluster/operation (rolling restart, --transfer-timeout), pkg/cluster/api
pdapi.go (EvictStoreLeader: looks every 5 s).
"""

from typing import Final

from sim.operations.context import OperationContext, Process
from sim.operations.pd.evict_leader import evict_leaders
from sim.scenario.schema.operations import EvictLeader, UpgradeStore
from sim.units import NS_PER_S

_POLL_NS: Final = 5 * NS_PER_S


def roll(context: OperationContext, operation: EvictLeader | UpgradeStore) -> Process:
    """Evicts, restarts or upgrades all stores that are meant, one after the other."""
    stores = context.stores(operation.store)
    if not stores:
        context.skip(operation, context.missing(operation.store, "none_up"))
    for place, store in enumerate(stores):
        if place:
            yield operation.pause_ns
        if _is_in_vain(context, operation, store):
            context.skip(operation, "is_down", f"store {store}")
            continue
        context.record(operation.do, f"store {store}")
        if operation.restart:
            yield from _restart(context, operation, store)
        elif isinstance(operation, EvictLeader):
            context.controller.evict(store)
            yield from evict_leaders(context, store, context.env.now_ns + operation.for_ns)
            context.controller.release(store)
        else:
            context.control.upgrade_store(store, operation.to)
        context.record_event(f"{operation.do}_end", f"store {store}")


def _is_in_vain(
    context: OperationContext, operation: EvictLeader | UpgradeStore, store: int
) -> bool:
    """Returns whether nothing but leaders is moved, and the store has none since it is down."""
    only_evicts = isinstance(operation, EvictLeader) and not operation.restart
    return only_evicts and store not in context.cluster.up_stores()


def _restart(
    context: OperationContext, operation: EvictLeader | UpgradeStore, store: int
) -> Process:
    context.controller.evict(store)
    yield from _until_empty(context, store, context.env.now_ns + operation.timeout_ns)
    context.record_event("stop", f"store {store}")
    context.control.crash_store(store)
    stop = context.in_force.stopped(store)
    yield operation.down_ns
    if isinstance(operation, UpgradeStore):
        context.control.upgrade_store(store, operation.to)
    if context.in_force.is_latest_stop(store, stop):
        context.control.restart_store(store)
    context.record_event("start", f"store {store}")
    context.controller.release(store)


def _until_empty(context: OperationContext, store: int, until_ns: int) -> Process:
    """Evicts leaders until tiup, which looks from time to time, finds none, or loses patience."""
    while context.controller.led_by(store) and context.env.now_ns < until_ns:
        next_look_ns = min(context.env.now_ns + _POLL_NS, until_ns)
        yield from evict_leaders(context, store, next_look_ns)
