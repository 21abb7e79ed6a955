"""PD's balance-leader scheduler: one leader at a time from the fullest store to the emptiest.

Source: tikv/pd server/schedulers/balance_leader.go and utils.go (shouldBalance); the growing
interval of schedule_controller.go.
"""

from typing import Final

from sim.operations.context import OperationContext, Process
from sim.scenario.schema.operations import BalanceLeader
from sim.units import NS_PER_S

_LONGEST_NS: Final = 5 * NS_PER_S
_GROWTH: Final = 1.3


def balance_leader(context: OperationContext, operation: BalanceLeader) -> Process:
    """Transfers leaders for ever; looks less often while there is nothing to do."""
    pause_ns = operation.every_ns
    while not context.is_over(operation):
        may_add = context.controller.under_way() < operation.leader_schedule_limit
        if may_add and _schedule(context, operation):
            pause_ns = operation.every_ns
        else:
            pause_ns = min(int(pause_ns * _GROWTH), _LONGEST_NS)
        yield pause_ns


def _schedule(context: OperationContext, operation: BalanceLeader) -> bool:
    """Asks for one transfer, if the numbers of leaders differ enough; returns whether it did."""
    controller = context.controller
    up = [store for store in context.cluster.up_stores() if store not in controller.evicted]
    if len(up) < 2:
        return False
    led = {store: controller.led_by(store) for store in up}
    fullest = max(up, key=lambda store: (len(led[store]), -store))
    emptiest = min(up, key=lambda store: (len(led[store]), store))
    if len(led[fullest]) - operation.tolerance <= len(led[emptiest]) + operation.tolerance:
        return False
    route = context.draw(
        [
            route
            for route in led[fullest]
            if emptiest in route.region.stores and not controller.is_busy(route.region.region_id)
        ]
    )
    if route is None:
        return False
    context.record(operation.do, f"region {route.region.region_id} to store {emptiest}")
    controller.transfer_leader(route.region.region_id, emptiest)
    return True
