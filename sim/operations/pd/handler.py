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
from sim.units import NS_PER_MS, NS_PER_S

_POLL_NS: Final = 100 * NS_PER_MS
"""How often a step looks whether the one before is done. ASSUMED."""

_PATIENCE_NS: Final = 10 * NS_PER_S
"""After which it looks no more. ASSUMED, as a PD operator's."""


def transfer_leader(context: OperationContext, operation: TransferLeader) -> None:
    """Asks one region to move its leader."""
    route = context.region(operation.region)
    if route is None:
        return
    up = context.cluster.up_stores()
    others = [store for store in route.region.stores if store != route.leader_store]
    to_store = context.store(operation.to, [store for store in others if store in up])
    if to_store is not None and to_store in others:
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
        return
    region = route.region
    if target.by == "key":
        key: bytes | None = bytes.fromhex(target.key)
    elif target.row is not None:
        key = context.ranges.key_of(target.table, target.row)
    else:
        key = context.ranges.middle(region.start_key, region.end_key)
    if key is not None and key > region.start_key:
        context.record(operation.do, f"region {region.region_id}")
        context.control.split_region(region.region_id, key)


def merge_region(context: OperationContext, operation: MergeRegion) -> None:
    """Asks for a merge with the neighbour that is meant, if there is one on the same stores."""
    route = context.region(operation.region)
    if route is None:
        return
    source = route.region
    neighbour = next_region if operation.into == "next" else previous_region
    target = neighbour(context.routes, source)
    if target is not None and set(target.stores) == set(source.stores):
        context.record(operation.do, f"region {source.region_id} into {target.region_id}")
        context.control.merge_region(source.region_id, target.region_id)


def change_peer(context: OperationContext, operation: ChangePeerOperation) -> Process:
    """Asks for one more replica, waits until it is there, then asks for one less."""
    route = context.region(operation.region)
    if route is None:
        return
    region_id, has = route.region.region_id, list(route.region.stores)
    if operation.add is not None:
        without = [store for store in context.cluster.up_stores() if store not in has]
        add = context.store(operation.add, without)
        if add is not None and add not in has:
            context.record(operation.do, f"region {region_id} add store {add}")
            context.control.change_peer(region_id, add=add)
            yield from _until_added(context, region_id, add)
    if operation.remove is not None:
        followers = [store for store in has if store != route.leader_store]
        remove = context.store(operation.remove, followers)
        if remove is not None and remove in has:
            context.record(operation.do, f"region {region_id} remove store {remove}")
            context.control.change_peer(region_id, remove=remove)


def _until_added(context: OperationContext, region_id: int, store: int) -> Process:
    """Waits until PD sees a replica on a store, for a limited time."""
    until_ns = context.env.now_ns + _PATIENCE_NS
    while context.env.now_ns < until_ns:
        route = context.routes.by_id(region_id)
        if route is None or store in route.region.stores:
            return
        yield _POLL_NS
