"""PD's evict-leader scheduler: transfers leaders away from a store, a batch at a time.

Source: tikv/pd server/schedulers/evict_leader.go (batch 3, every 10 ms, a random follower takes
over).
"""

from typing import Final

from sim.operations.context import OperationContext, Process
from sim.operations.pd.operator_controller import LEADER_SCHEDULE_LIMIT
from sim.units import NS_PER_MS

_BATCH: Final = 3
_INTERVAL_NS: Final = 10 * NS_PER_MS


def evict_leaders(context: OperationContext, store: int, until_ns: int) -> Process:
    """Transfers leaders away until a time, also those that come later."""
    while context.env.now_ns < until_ns:
        _transfer_batch(context, store)
        yield _INTERVAL_NS


def _transfer_batch(context: OperationContext, store: int) -> None:
    """Asks for some transfers, as far as the limit allows."""
    controller = context.controller
    free = min(_BATCH, LEADER_SCHEDULE_LIMIT - controller.under_way())
    for route in controller.led_by(store):
        if free <= 0:
            return
        if controller.is_busy(route.region.region_id):
            continue
        to_store = context.draw(controller.candidates(route))
        if to_store is not None:
            controller.transfer_leader(route.region.region_id, to_store)
            free -= 1
