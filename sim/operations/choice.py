"""Which region and which store an operation is about, chosen at the moment it is carried out.

Chosen is from what PD believes, and at random from one stream for each operation; where there is
nothing to choose from the answer is None and the operation is left out this time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.operations.heat import Heat
    from sim.operations.key_ranges import KeyRanges
    from sim.protocol.region import Route
    from sim.scenario.resolved_operations import RegionTarget, StoreTarget
    from sim.server.cluster import Cluster
    from sim.streams import Stream

_T = TypeVar("_T")


def drawn(candidates: Sequence[_T], stream: Stream) -> _T | None:
    """Returns one of the candidates, each equally likely; None if there is none."""
    return candidates[stream.randint(0, len(candidates) - 1)] if candidates else None


class Choice:
    """Chooses for one operation."""

    __slots__ = ("_cluster", "_heat", "_ranges", "stream")

    def __init__(self, cluster: Cluster, ranges: KeyRanges, heat: Heat, stream: Stream) -> None:
        self._cluster = cluster
        self._ranges = ranges
        self._heat = heat
        self.stream = stream

    def region(self, target: RegionTarget) -> Route | None:
        """Returns the region that is meant, with the leader PD knows."""
        routes = self._cluster.pd.routes
        match target.by:
            case "id":
                return routes.by_id(target.region_id)
            case "key":
                return routes.locate(bytes.fromhex(target.key))
            case "table":
                return routes.locate(self._ranges.key_of(target.table, target.row or 1))
            case "hottest":
                hottest = self._heat.hottest()
                return None if hottest is None else routes.by_id(hottest)
            case "random":
                return drawn(routes.routes, self.stream)

    def store(self, target: StoreTarget, among: Sequence[int]) -> int | None:
        """Returns the store that is meant; ``among`` are those that a random one is drawn from."""
        match target.by:
            case "id":
                return target.store
            case "leader_of":
                assert target.region is not None, "the schema gives leader_of a region"
                route = self.region(target.region)
                return None if route is None else route.leader_store or None
            case _:
                return drawn(among, self.stream)

    def stores(self, target: StoreTarget) -> list[int]:
        """Returns the stores that are meant, one after the other."""
        if target.by == "each":
            return sorted(self._cluster.stores)
        store = self.store(target, self._cluster.up_stores())
        return [] if store is None else [store]
