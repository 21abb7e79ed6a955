"""Operations on regions: transfer, split, merge, shuffle and change of replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.operations.operator import Hands
    from sim.protocol.region import Route
    from sim.scenario.resolved_operations import (
        ChangePeer,
        MergeRegion,
        ShuffleLeader,
        SplitRegion,
        TransferLeader,
    )

_LOOK_NS: Final = 100 * NS_PER_MS
"""How often a step looks whether the one before is done. ASSUMED."""

_PATIENCE_NS: Final = 10 * NS_PER_S
"""After which it looks no more. ASSUMED, as a PD operator's."""


def transfer_leader(hands: Hands, operation: TransferLeader) -> None:
    """Asks one region to move its leader."""
    route = hands.choice.region(operation.region)
    if route is None:
        return
    up = hands.cluster.up_stores()
    others = [store for store in route.region.stores if store != route.leader_store]
    to_store = hands.choice.store(operation.to, [store for store in others if store in up])
    if to_store is not None and to_store in others:
        _transfer(hands, operation.do, route, to_store)


def shuffle_leader(hands: Hands, operation: ShuffleLeader) -> None:
    """Asks every region to move its leader to a store drawn from its own; some stay."""
    up = hands.cluster.up_stores()
    for route in list(hands.cluster.pd.routes.routes):
        stores = [store for store in route.region.stores if store in up]
        to_store = stores[hands.choice.stream.randint(0, len(stores) - 1)] if stores else 0
        if to_store and to_store != route.leader_store:
            _transfer(hands, operation.do, route, to_store)


def _transfer(hands: Hands, do: str, route: Route, to_store: int) -> None:
    region_id = route.region.region_id
    hands.journal.note(do, f"region {region_id} from store {route.leader_store} to {to_store}")
    hands.control.transfer_leader(region_id, to_store)


def split_region(hands: Hands, operation: SplitRegion) -> None:
    """Asks for a split at a row, or in the middle of the data."""
    target = operation.region
    route = hands.choice.region(target)
    if route is None:
        return
    region = route.region
    if target.by == "key":
        key: bytes | None = bytes.fromhex(target.key)
    elif target.row is not None:
        key = hands.ranges.key_of(target.table, target.row)
    else:
        key = hands.ranges.middle(region.start_key, region.end_key)
    if key is not None and key > region.start_key:
        hands.journal.note(operation.do, f"region {region.region_id}")
        hands.control.split_region(region.region_id, key)


def merge_region(hands: Hands, operation: MergeRegion) -> None:
    """Asks for a merge with the neighbour that is meant, if there is one on the same stores."""
    route = hands.choice.region(operation.region)
    if route is None:
        return
    target = neighbour(hands, route, after=operation.into == "next")
    if target is None or set(target.region.stores) != set(route.region.stores):
        return
    source_id, target_id = route.region.region_id, target.region.region_id
    hands.journal.note(operation.do, f"region {source_id} into {target_id}")
    hands.control.merge_region(source_id, target_id)


def neighbour(hands: Hands, route: Route, *, after: bool) -> Route | None:
    """Returns the region that begins where this one ends, or ends where it begins."""
    routes = hands.cluster.pd.routes
    region = route.region
    if after:
        return routes.locate(region.end_key) if region.end_key else None
    if not region.start_key:
        return None
    return next((each for each in routes.routes if each.region.end_key == region.start_key), None)


def change_peer(hands: Hands, operation: ChangePeer) -> Generator[Event, Any, None]:
    """Asks for a replica more, waits until there is one, then asks for one less."""
    route = hands.choice.region(operation.region)
    if route is None:
        return
    region_id, has = route.region.region_id, list(route.region.stores)
    if operation.add is not None:
        without = [store for store in hands.cluster.up_stores() if store not in has]
        add = hands.choice.store(operation.add, without)
        if add is not None and add not in has:
            hands.journal.note(operation.do, f"region {region_id} add store {add}")
            hands.control.change_peer(region_id, add=add)
            yield from _until_there(hands, region_id, add)
    if operation.remove is not None:
        followers = [store for store in has if store != route.leader_store]
        remove = hands.choice.store(operation.remove, followers)
        if remove is not None and remove in has:
            hands.journal.note(operation.do, f"region {region_id} remove store {remove}")
            hands.control.change_peer(region_id, remove=remove)


def _until_there(hands: Hands, region_id: int, store: int) -> Generator[Event, Any, None]:
    """Waits until PD sees a replica on a store, but not for ever."""
    until_ns = hands.env.now_ns + _PATIENCE_NS
    while hands.env.now_ns < until_ns:
        route = hands.cluster.pd.routes.by_id(region_id)
        if route is None or store in route.region.stores:
            return
        yield hands.env.timeout(_LOOK_NS)
