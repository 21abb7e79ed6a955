"""PD's schedulers: balance-leader and the merge checker.

Source: tikv/pd server/schedulers/balance_leader.go and utils.go (shouldBalance), the growing
interval of schedule_controller.go; server/schedule/checker/merge_checker.go; PD docs, configuration
file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.operations.region_actions import neighbour
from sim.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.operations.operator import Hands
    from sim.protocol.region import Route
    from sim.scenario.resolved_operations import AutoMerge, BalanceLeader

    Process = Generator[Event, Any, None]

_LONGEST_NS: Final = 5 * NS_PER_S
_GROWTH: Final = 1.3
_OPERATOR_NS: Final = 10 * 60 * NS_PER_S
"""A merge that has not happened by then is forgotten (SlowOperatorWaitTime)."""


def balance_leader(hands: Hands, operation: BalanceLeader) -> Process:
    """Moves a leader from the fullest store to the emptiest; looks less often when in vain."""
    pause_ns = operation.every_ns
    while not hands.is_over(operation):
        moved = hands.transfers.under_way() < operation.leader_schedule_limit and _balance(
            hands, operation
        )
        pause_ns = operation.every_ns if moved else min(int(pause_ns * _GROWTH), _LONGEST_NS)
        yield hands.env.timeout(pause_ns)


def _balance(hands: Hands, operation: BalanceLeader) -> bool:
    """Asks for one transfer, if the numbers of leaders differ enough; returns whether it did."""
    transfers = hands.transfers
    up = [store for store in hands.cluster.up_stores() if store not in transfers.evicted]
    if len(up) < 2:
        return False
    led = {store: transfers.led_by(store) for store in up}
    fullest = max(up, key=lambda store: (len(led[store]), -store))
    emptiest = min(up, key=lambda store: (len(led[store]), store))
    if len(led[fullest]) - operation.tolerance <= len(led[emptiest]) + operation.tolerance:
        return False
    movable = [
        route
        for route in led[fullest]
        if emptiest in route.region.stores and not transfers.is_busy(route.region.region_id)
    ]
    if not movable:
        return False
    route = movable[hands.choice.stream.randint(0, len(movable) - 1)]
    hands.journal.note(operation.do, f"region {route.region.region_id} to store {emptiest}")
    transfers.begin(route.region.region_id, emptiest)
    return True


def auto_merge(hands: Hands, operation: AutoMerge) -> Process:
    """Merges small old regions into the smaller neighbour on the same stores."""
    changed_ns: dict[int, tuple[object, int]] = {}
    merging: dict[int, int] = {}
    while not hands.is_over(operation):
        routes = list(hands.cluster.pd.routes.routes)
        old = _unchanged(hands, routes, changed_ns, operation.split_merge_interval_ns)
        present = {route.region.region_id for route in routes}
        for region_id, deadline_ns in list(merging.items()):
            if region_id not in present or hands.env.now_ns >= deadline_ns:
                del merging[region_id]
        busy: list[int] = list(merging)
        for route in routes:
            if len(merging) >= operation.merge_schedule_limit:
                break
            target = _merge_target(hands, operation, route, old, busy)
            if target is not None:
                source_id, target_id = route.region.region_id, target.region.region_id
                busy += [source_id, target_id]
                merging[source_id] = hands.env.now_ns + _OPERATOR_NS
                hands.journal.note(operation.do, f"region {source_id} into {target_id}")
                hands.control.merge_region(source_id, target_id)
        yield hands.env.timeout(operation.every_ns)


def _unchanged(
    hands: Hands, routes: list[Route], changed_ns: dict[int, tuple[object, int]], interval_ns: int
) -> list[int]:
    """Returns the regions whose range has been the same for an interval."""
    now_ns = hands.env.now_ns
    for route in routes:
        region = route.region
        known = changed_ns.get(region.region_id)
        if known is None or known[0] != region.epoch.version:
            changed_ns[region.region_id] = (region.epoch.version, now_ns)
    return [
        route.region.region_id
        for route in routes
        if now_ns - changed_ns[route.region.region_id][1] >= interval_ns
    ]


def _merge_target(
    hands: Hands, operation: AutoMerge, route: Route, old: list[int], busy: list[int]
) -> Route | None:
    """Returns the neighbour that a region is merged into, None if it is left alone."""
    region = route.region
    limit_bytes = operation.max_merge_region_size_bytes
    if region.region_id not in old or region.region_id in busy or _size(hands, route) > limit_bytes:
        return None
    sides = [neighbour(hands, route, after=True), neighbour(hands, route, after=False)]
    fit = [
        side
        for side in sides
        if side is not None
        and side.region.region_id in old
        and side.region.region_id not in busy
        and sorted(side.region.stores) == sorted(region.stores)
    ]
    return min(fit, key=lambda side: _size(hands, side), default=None)


def _size(hands: Hands, route: Route) -> int:
    return hands.ranges.size_bytes(route.region.start_key, route.region.end_key)
