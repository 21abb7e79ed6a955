"""Leader transfers that schedulers have under way, within PD's limits.

Law: an operator of PD ends when PD sees the leader where it wanted it, or after ten seconds; a
region has one operator at a time; a kind of scheduler has so many under way as its limit allows.

Source: tikv/pd server/schedule/operator (FastOperatorWaitTime), PD docs (leader-schedule-limit).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.units import NS_PER_S

if TYPE_CHECKING:
    from sim.operations.operated import Control
    from sim.protocol.region import Route
    from sim.server.cluster import Cluster

OPERATOR_TIMEOUT_NS: Final = 10 * NS_PER_S
LEADER_SCHEDULE_LIMIT: Final = 4
"""PD docs, configuration file: schedule.leader-schedule-limit."""


class Transfers:
    """All transfers of schedulers, and the stores that shall have no leaders."""

    __slots__ = ("_cluster", "_control", "_under_way", "evicted")

    def __init__(self, cluster: Cluster, control: Control) -> None:
        self._cluster = cluster
        self._control = control
        self._under_way: dict[int, tuple[int, int]] = {}
        self.evicted: dict[int, None] = {}
        """Stores with an evict-leader scheduler (a dict as an ordered set)."""

    def under_way(self) -> int:
        """Returns how many there are, after forgetting those that have ended."""
        now_ns, routes = self._cluster.env.now_ns, self._cluster.pd.routes
        for region_id, (to_store, deadline_ns) in list(self._under_way.items()):
            route = routes.by_id(region_id)
            if route is None or route.leader_store == to_store or now_ns >= deadline_ns:
                del self._under_way[region_id]
        return len(self._under_way)

    def is_busy(self, region_id: int) -> bool:
        """Returns whether a region's leader is on its way."""
        return region_id in self._under_way

    def begin(self, region_id: int, to_store: int) -> None:
        """Asks for a transfer."""
        deadline_ns = self._cluster.env.now_ns + OPERATOR_TIMEOUT_NS
        self._under_way[region_id] = (to_store, deadline_ns)
        self._control.transfer_leader(region_id, to_store)

    def led_by(self, store: int) -> list[Route]:
        """Returns the regions whose leader PD sees on a store."""
        return [route for route in self._cluster.pd.routes.routes if route.leader_store == store]

    def places_for(self, route: Route) -> list[int]:
        """Returns the stores that may take over: up, with a replica, not kept free of leaders."""
        up = self._cluster.up_stores()
        return [
            store
            for store in route.region.stores
            if store != route.leader_store and store in up and store not in self.evicted
        ]
