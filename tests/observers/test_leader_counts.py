"""How many regions a store leads, from the counters of leaders gained and lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.study.load import load_study
from sim.observers.region_counts import LeaderCounts
from sim.protocol.region import Region, RegionEpoch, RegionId, StoreId, lay_out_regions
from sim.record.facts import COUNTER, MemorySink
from sim.record.recorder import Recorder
from sim.simulation import SimulatedUnit

KEYS = [b"", b"g", b"m"]


def peer_of(
    region_id: int, store: int, start: bytes, end: bytes, version: int = 1, *, leads: bool = False
) -> Any:
    stores = (StoreId(1), StoreId(2), StoreId(3))
    region = Region(RegionId(region_id), start, end, stores, RegionEpoch(1, version))
    return SimpleNamespace(region=region, store=store, is_leader=leads)


def led(sink: MemorySink) -> dict[str, int]:
    net: Counter[str] = Counter()
    for _, metric, class_, value in sink.rows(COUNTER):
        sign = {"leaders_gained": 1, "leaders_lost": -1}.get(str(metric), 0)
        net[str(class_)] += sign * int(value)
    return {store: count for store, count in net.items() if count}


class Counted:
    def __init__(self) -> None:
        self.sink = MemorySink()
        self.recorder = Recorder(1, self.sink)
        self.counts = LeaderCounts(lay_out_regions(KEYS, 3, 3), self.recorder)

    def result(self) -> dict[str, int]:
        self.recorder.close(1)
        return led(self.sink)


def test_every_region_is_led_where_it_was_placed() -> None:
    assert Counted().result() == {"store-1": 1, "store-2": 1, "store-3": 1}


def test_a_leader_moves_whoever_tells_of_it_first() -> None:
    counted = Counted()
    for store, leads in ((2, True), (1, False)):
        counted.counts.role_changed(peer_of(1, store, b"", b"g", leads=leads))
    assert counted.result() == {"store-2": 2, "store-3": 1}


def test_nobody_leads_between_stepping_down_and_the_next_election() -> None:
    counted = Counted()
    counted.counts.role_changed(peer_of(1, 1, b"", b"g"))
    assert counted.result() == {"store-2": 1, "store-3": 1}


def test_a_dead_store_leads_nothing() -> None:
    counted = Counted()
    counted.counts.store_crashed(2)
    assert counted.result() == {"store-1": 1, "store-3": 1}


def test_a_merged_region_has_no_leader_and_a_late_replica_changes_nothing() -> None:
    counted = Counted()
    for store in (1, 2):
        counted.counts.region_changed(peer_of(1, store, b"", b"m", 3), "CommitMerge")
    assert counted.result() == {"store-1": 1, "store-3": 1}
    counted = Counted()
    counted.counts.region_changed(peer_of(1, 1, b"", b"m", 3), "CommitMerge")
    counted.counts.region_changed(peer_of(1, 1, b"c", b"m", 4), "split")
    counted.counts.role_changed(peer_of(9, 2, b"", b"c", 4, leads=True))
    counted.counts.region_changed(peer_of(1, 3, b"", b"m", 3), "CommitMerge")
    assert counted.result() == {"store-1": 1, "store-2": 1, "store-3": 1}


@pytest.mark.parametrize(("name", "measured"), [("crash", "7s"), ("split_merge", "4s")])
def test_the_counters_are_what_the_replicas_say(name: str, measured: str) -> None:
    scenarios = Path(__file__).parents[2] / "scenarios"
    study = load_study(
        scenarios / f"{name}.yaml", [f"run.measure={measured}", "workload.rate=30/s"]
    )
    sink = MemorySink()
    unit = SimulatedUnit(study.scenario(study.points[0], list(study.variants)[-1]), 0, sink)
    unit.run()
    assert any(metric == "leaders_lost" for _, metric, _, _ in sink.rows(COUNTER))
    leading = {
        f"store-{number}": sum(peer.is_leader for peer in store.peers.values())
        for number, store in unit.cluster.stores.items()
    }
    assert led(sink) == {store: count for store, count in leading.items() if count}
