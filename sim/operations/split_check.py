"""TiKV's two reasons to split: a region is too large, or it is asked too often.

Source: tikv/tikv components/raftstore/src/coprocessor/split_check/size.rs (from 1.5 times the split
size on); store/worker/split_controller.rs (load: so many seconds in a row above a threshold).
"""

from sim.operations.context import OperationContext, Process
from sim.operations.hot_regions import HotRegions
from sim.scenario.schema.operations import AutoSplit
from sim.units import NS_PER_S


def split_by_size(context: OperationContext, operation: AutoSplit) -> Process:
    """Cuts pieces of the split size off regions that are 1.5 times as large."""
    piece_bytes = operation.region_split_size_bytes or context.region_split_size_bytes
    while not context.is_over(operation):
        for route in list(context.routes.routes):
            region = route.region
            if 2 * context.size_bytes(region) >= 3 * piece_bytes:
                key = context.ranges.key_at(region.start_key, region.end_key, piece_bytes)
                _split(context, operation, region.region_id, key, "size")
        yield operation.every_ns


def split_by_load(context: OperationContext, operation: AutoSplit) -> Process:
    """Halves regions whose log grows too fast for so many seconds in a row."""
    activity = HotRegions(context.cluster)
    activity.grown()
    hot_seconds: dict[int, int] = {}
    while not context.is_over(operation):
        yield NS_PER_S
        for region_id, entries in activity.grown().items():
            hot = entries >= operation.qps_threshold_per_s
            hot_seconds[region_id] = hot_seconds.get(region_id, 0) + 1 if hot else 0
            route = context.routes.by_id(region_id)
            if hot_seconds[region_id] >= operation.detect_times and route is not None:
                hot_seconds[region_id] = 0
                key = context.ranges.middle(route.region.start_key, route.region.end_key)
                _split(context, operation, region_id, key, "load")


def _split(
    context: OperationContext, operation: AutoSplit, region_id: int, key: bytes | None, why: str
) -> None:
    if key is not None:
        context.record(operation.do, f"region {region_id} by {why}")
        context.control.split_region(region_id, key)
