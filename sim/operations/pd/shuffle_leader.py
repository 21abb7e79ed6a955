"""Shuffling leaders: every region's leader moves to a store drawn from the region's own.

PD's shuffle-leader scheduler moves one random leader at a time; here all of them move at once.

Source of the idea: tikv/pd server/schedulers/shuffle_leader.go.
"""

from sim.operations.context import OperationContext
from sim.operations.pd.handler import order_transfer
from sim.scenario.schema.operations import ShuffleLeader


def shuffle_leader(context: OperationContext, operation: ShuffleLeader) -> None:
    """Asks every region to move its leader; where its own store is drawn it stays."""
    up = context.cluster.up_stores()
    for route in list(context.routes.routes):
        to_store = context.draw([store for store in route.region.stores if store in up])
        if to_store is not None and to_store != route.leader_store:
            order_transfer(context, operation.do, route, to_store)
