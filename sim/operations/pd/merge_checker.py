"""PD's merge checker: merges small old regions into the smaller neighbour on the same stores.

Source: tikv/pd server/schedule/checker/merge_checker.go; PD docs, configuration file.
"""

from typing import Final, NamedTuple

from sim.operations.context import OperationContext, Process
from sim.protocol.region import Region, RegionMap, Route
from sim.scenario.schema.operations import AutoMerge
from sim.units import NS_PER_S

_OPERATOR_NS: Final = 10 * 60 * NS_PER_S
"""A merge that has not happened by then is given up (SlowOperatorWaitTime)."""


class _Range(NamedTuple):
    """Since when a region has had the range it has."""

    version: int
    since_ns: int


class MergeChecker:
    """What PD remembers of regions in order to merge them."""

    def __init__(self, context: OperationContext, operation: AutoMerge) -> None:
        self._context = context
        self._operation = operation
        self._ranges: dict[int, _Range] = {}
        self._deadlines_ns: dict[int, int] = {}
        """Of merges under way, by the source region."""

    def run(self) -> Process:
        """Patrols all regions for ever."""
        while not self._context.is_over(self._operation):
            self._patrol()
            yield self._operation.every_ns

    def _patrol(self) -> None:
        context, operation = self._context, self._operation
        now_ns, routes = context.env.now_ns, list(context.routes.routes)
        old = self._unchanged_regions(routes)
        present = {route.region.region_id for route in routes}
        self._deadlines_ns = {
            region_id: deadline_ns
            for region_id, deadline_ns in self._deadlines_ns.items()
            if region_id in present and now_ns < deadline_ns
        }
        mergeable = old - self._deadlines_ns.keys()
        for route in routes:
            if len(self._deadlines_ns) >= operation.merge_schedule_limit:
                break
            source = route.region
            target = self._target(source, mergeable)
            if target is not None:
                mergeable -= {source.region_id, target.region_id}
                self._deadlines_ns[source.region_id] = now_ns + _OPERATOR_NS
                context.record(operation.do, f"region {source.region_id} into {target.region_id}")
                context.control.merge_region(source.region_id, target.region_id)

    def _unchanged_regions(self, routes: list[Route]) -> set[int]:
        """Returns the regions whose range has been the same for an interval."""
        now_ns = self._context.env.now_ns
        for route in routes:
            region = route.region
            known = self._ranges.get(region.region_id)
            if known is None or known.version != region.epoch.version:
                self._ranges[region.region_id] = _Range(region.epoch.version, now_ns)
        oldest_ns = now_ns - self._operation.split_merge_interval_ns
        return {
            route.region.region_id
            for route in routes
            if self._ranges[route.region.region_id].since_ns <= oldest_ns
        }

    def _target(self, source: Region, mergeable: set[int]) -> Region | None:
        """Returns the neighbour that a region is merged into, None if it is left alone."""
        context = self._context
        too_large = context.size_bytes(source) > self._operation.max_merge_region_size_bytes
        if source.region_id not in mergeable or too_large:
            return None
        routes = context.routes
        sides = [next_region(routes, source), previous_region(routes, source)]
        fit = [
            side
            for side in sides
            if side is not None
            and side.region_id in mergeable
            and sorted(side.stores) == sorted(source.stores)
        ]
        return min(fit, key=context.size_bytes, default=None)


def next_region(routes: RegionMap, region: Region) -> Region | None:
    """Returns the region that begins where this one ends."""
    return routes.locate(region.end_key).region if region.end_key else None


def previous_region(routes: RegionMap, region: Region) -> Region | None:
    """Returns the region that ends where this one begins."""
    if not region.start_key:
        return None
    regions = (route.region for route in routes.routes)
    return next((each for each in regions if each.end_key == region.start_key), None)
