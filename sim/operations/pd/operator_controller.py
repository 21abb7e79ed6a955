"""Leader transfers that schedulers have under way, within PD's limits.

An operator of PD ends when PD sees the leader where it wanted it, or after ten seconds; a region
has one operator at a time; a kind of scheduler has as many under way as its limit allows.

Source: tikv/pd server/schedule/operator_controller.go, operator (FastOperatorWaitTime); PD docs
(leader-schedule-limit).
"""

from typing import Final, NamedTuple

from sim.protocol.region import Route
from sim.server.cluster import Cluster
from sim.server.control import Control
from sim.units import NS_PER_S

OPERATOR_TIMEOUT_NS: Final = 10 * NS_PER_S
LEADER_SCHEDULE_LIMIT: Final = 4
"""PD docs, configuration file: schedule.leader-schedule-limit."""


class _Transfer(NamedTuple):
    """One transfer under way."""

    to_store: int
    deadline_ns: int


class OperatorController:
    """All transfers of schedulers, and the stores that must not have leaders."""

    def __init__(self, cluster: Cluster, control: Control) -> None:
        self._cluster = cluster
        self._control = control
        self._transfers: dict[int, _Transfer] = {}
        self.evicted: dict[int, int] = {}
        """Stores that are to have no leaders, with the number of operations that want it so."""

    def evict(self, store: int) -> None:
        """Keeps leaders away from a store until all who wanted it so have released it."""
        self.evicted[store] = self.evicted.get(store, 0) + 1

    def release(self, store: int) -> None:
        """Takes back one ``evict``."""
        self.evicted[store] -= 1
        if not self.evicted[store]:
            del self.evicted[store]

    def under_way(self) -> int:
        """Returns how many transfers are under way; those that have ended are dropped."""
        now_ns, routes = self._cluster.env.now_ns, self._cluster.pd.routes
        for region_id, transfer in list(self._transfers.items()):
            route = routes.by_id(region_id)
            is_done = route is None or route.leader_store == transfer.to_store
            if is_done or now_ns >= transfer.deadline_ns:
                del self._transfers[region_id]
        return len(self._transfers)

    def is_busy(self, region_id: int) -> bool:
        """Returns whether a region has an operator."""
        return region_id in self._transfers

    def transfer_leader(self, region_id: int, to_store: int) -> None:
        """Adds an operator that transfers a region's leader."""
        deadline_ns = self._cluster.env.now_ns + OPERATOR_TIMEOUT_NS
        self._transfers[region_id] = _Transfer(to_store, deadline_ns)
        self._control.transfer_leader(region_id, to_store)

    def led_by(self, store: int) -> list[Route]:
        """Returns the regions whose leader PD sees on a store."""
        return [route for route in self._cluster.pd.routes.routes if route.leader_store == store]

    def candidates(self, route: Route) -> list[int]:
        """Returns the stores that may take over: up, with a replica, not being evicted."""
        up = self._cluster.up_stores()
        return [
            store
            for store in route.region.stores
            if store != route.leader_store and store in up and store not in self.evicted
        ]
