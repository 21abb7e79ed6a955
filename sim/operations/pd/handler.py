"""Operators that somebody adds by hand: transfer, split, merge, change of replicas.

Source: tikv/pd server/handler.go (pd-ctl's ``operator add``).
"""

from typing import Final

from sim.operations.context import OperationContext, Process
from sim.operations.pd.merge_checker import next_region, previous_region
from sim.protocol.region import Route
from sim.scenario.schema.operations import (
    ChangePeerOperation,
    MergeRegion,
    SplitRegionOperation,
    TransferLeader,
)
from sim.scenario.targets import StoreTarget
from sim.units import NS_PER_MS, NS_PER_S

_POLL_NS: Final = 100 * NS_PER_MS
"""How often a step looks whether the one before is done. ASSUMED."""

_PATIENCE_NS: Final = 10 * NS_PER_S
"""After which it looks no more. ASSUMED, as a PD operator's."""


def transfer_leader(context: OperationContext, operation: TransferLeader) -> None:
    """Asks one region to move its leader."""
    route = context.region(operation.region)
    if route is None:
        context.skip(operation, "no_region")
        return
    up = context.cluster.up_stores()
    others = [store for store in route.region.stores if store != route.leader_store]
    to_store = context.store(operation.to, [store for store in others if store in up])
    region = f"region {route.region.region_id}"
    if to_store is None:
        context.skip(operation, context.missing(operation.to, "none_up"), region)
    elif to_store not in others:
        why = "is_leader" if to_store == route.leader_store else "no_replica"
        context.skip(operation, why, f"{region} to store {to_store}")
    else:
        order_transfer(context, operation.do, route, to_store)


def order_transfer(context: OperationContext, do: str, route: Route, to_store: int) -> None:
    """Records a transfer and asks for it."""
    region_id = route.region.region_id
    context.record(do, f"region {region_id} from store {route.leader_store} to {to_store}")
    context.control.transfer_leader(region_id, to_store)


def split_region(context: OperationContext, operation: SplitRegionOperation) -> None:
    """Asks for a split at a row, or in the middle of the data."""
    target = operation.region
    route = context.region(target)
    if route is None:
        context.skip(operation, "no_region")
        return
    region = route.region
    if target.by == "key":
        key: bytes | None = bytes.fromhex(target.key)
    elif target.row is not None:
        key = context.ranges.key_of(target.table, target.row)
    else:
        key = context.ranges.middle(region.start_key, region.end_key)
    if key is None or key <= region.start_key:
        context.skip(operation, "no_split_key", f"region {region.region_id}")
    else:
        context.record(operation.do, f"region {region.region_id}")
        context.control.split_region(region.region_id, key)


def merge_region(context: OperationContext, operation: MergeRegion) -> None:
    """Asks for a merge with the neighbour that is meant, if there is one on the same stores."""
    route = context.region(operation.region)
    if route is None:
        context.skip(operation, "no_region")
        return
    source = route.region
    neighbour = next_region if operation.into == "next" else previous_region
    target = neighbour(context.routes, source)
    if target is None:
        context.skip(operation, "no_neighbour", f"region {source.region_id}")
    elif set(target.stores) != set(source.stores):
        context.skip(operation, "other_stores", f"region {source.region_id}")
    else:
        context.record(operation.do, f"region {source.region_id} into {target.region_id}")
        context.control.merge_region(source.region_id, target.region_id)


def change_peer(context: OperationContext, operation: ChangePeerOperation) -> Process:
    """Asks for one more replica, waits until it is there, then asks for one less."""
    route = context.region(operation.region)
    if route is None:
        context.skip(operation, "no_region")
        return
    if operation.add is not None:
        yield from _add_peer(context, operation, operation.add, route)
    if operation.remove is not None:
        _remove_peer(context, operation, operation.remove, route)


def _add_peer(
    context: OperationContext, operation: ChangePeerOperation, target: StoreTarget, route: Route
) -> Process:
    region, has = f"region {route.region.region_id}", route.region.stores
    without = [store for store in context.cluster.up_stores() if store not in has]
    add = context.store(target, without)
    if add is None:
        context.skip(operation, context.missing(target, "all_have_one"), region)
    elif add in has:
        context.skip(operation, "has_replica", f"{region} add store {add}")
    else:
        context.record(operation.do, f"{region} add store {add}")
        context.control.change_peer(route.region.region_id, add=add)
        yield from _until_added(context, route.region.region_id, add)


def _remove_peer(
    context: OperationContext, operation: ChangePeerOperation, target: StoreTarget, route: Route
) -> None:
    region, has = f"region {route.region.region_id}", route.region.stores
    remove = context.store(target, [store for store in has if store != route.leader_store])
    if remove is None:
        context.skip(operation, context.missing(target, "no_follower"), region)
    elif remove not in has:
        context.skip(operation, "no_replica", f"{region} remove store {remove}")
    else:
        context.record(operation.do, f"{region} remove store {remove}")
        context.control.change_peer(route.region.region_id, remove=remove)


def _until_added(context: OperationContext, region_id: int, store: int) -> Process:
    """Waits until PD sees a replica on a store, for a limited time."""
    until_ns = context.env.now_ns + _PATIENCE_NS
    while context.env.now_ns < until_ns:
        route = context.routes.by_id(region_id)
        if route is None or store in route.region.stores:
            return
        yield _POLL_NS
