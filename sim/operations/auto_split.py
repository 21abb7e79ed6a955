"""TiKV's two reasons to split: a region is too large, or it is asked too often.

Source: tikv/tikv components/raftstore/src/coprocessor/split_check/size.rs (from 1.5 times the split
size on); store/worker/split_controller.rs (load: so many seconds in a row above a threshold).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sim.operations.heat import Heat
from sim.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.operations.operator import Hands
    from sim.scenario.resolved_operations import AutoSplit

    Process = Generator[Event, Any, None]


def split_by_size(hands: Hands, operation: AutoSplit) -> Process:
    """Cuts pieces of the split size off regions that are 1.5 times as large."""
    piece_bytes = operation.region_split_size_bytes or hands.region_split_size_bytes
    while not hands.is_over(operation):
        for route in list(hands.cluster.pd.routes.routes):
            start_key, end_key = route.region.start_key, route.region.end_key
            if 2 * hands.ranges.size_bytes(start_key, end_key) >= 3 * piece_bytes:
                key = hands.ranges.key_at(start_key, end_key, piece_bytes)
                _split(hands, operation, route.region.region_id, key, "size")
        yield hands.env.timeout(operation.every_ns)


def split_by_load(hands: Hands, operation: AutoSplit) -> Process:
    """Halves regions whose log grows too fast for so many seconds in a row."""
    heat = Heat(hands.cluster)
    heat.look()
    hot_for: dict[int, int] = {}
    while not hands.is_over(operation):
        yield hands.env.timeout(NS_PER_S)
        for region_id, grown in heat.look().items():
            hot = grown >= operation.qps_threshold_per_s
            hot_for[region_id] = hot_for.get(region_id, 0) + 1 if hot else 0
            route = hands.cluster.pd.routes.by_id(region_id)
            if hot_for[region_id] >= operation.detect_times and route is not None:
                hot_for[region_id] = 0
                key = hands.ranges.middle(route.region.start_key, route.region.end_key)
                _split(hands, operation, region_id, key, "load")


def _split(hands: Hands, operation: AutoSplit, region_id: int, key: bytes | None, why: str) -> None:
    if key is not None:
        hands.journal.note(operation.do, f"region {region_id} by {why}")
        hands.control.split_region(region_id, key)
