"""Leaders that moved, splits and merges, each counted once though every replica shows it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sim.observers.region_counts import RegionCounts
from sim.protocol.region import Region, RegionEpoch, RegionId, StoreId, lay_out_regions
from sim.record.facts import COUNTER, MemorySink
from sim.record.recorder import Recorder


def peer_of(region_id: int, store: int, version: int = 1, *, leads: bool = False) -> Any:
    stores = (StoreId(1), StoreId(2), StoreId(3))
    region = Region(RegionId(region_id), b"", b"", stores, RegionEpoch(1, version))
    return SimpleNamespace(region=region, store=store, is_leader=leads)


class Counted:
    def __init__(self) -> None:
        self.sink = MemorySink()
        self.recorder = Recorder(1, self.sink)
        self.counts = RegionCounts(lay_out_regions([b"", b"m"], 3, 3), self.recorder)

    def result(self) -> dict[object, object]:
        self.recorder.close(1)
        return {metric: value for _, metric, _, value in self.sink.rows(COUNTER)}


def test_a_leader_counts_when_it_is_another_than_before() -> None:
    counted = Counted()
    for store, leads in ((1, False), (2, True), (2, False), (2, True), (1, True)):
        counted.counts.role_changed(peer_of(1, store, leads=leads))
    assert counted.result() == {"leader_transfers": 2}


def test_the_first_leader_of_a_new_region_has_not_moved() -> None:
    counted = Counted()
    counted.counts.role_changed(peer_of(9, 3, leads=True))
    assert counted.result() == {}


def test_a_split_counts_once_for_all_replicas_and_so_does_a_merge() -> None:
    counted = Counted()
    for version, what in ((2, "split"), (3, "PrepareMerge"), (4, "RollbackMerge"), (5, "split"),
                          (7, "CommitMerge"), (7, "change_peer")):  # fmt: skip
        for store in (1, 2, 3):
            counted.counts.region_changed(peer_of(1, store, version), what)
    assert counted.result() == {"splits": 2, "merges": 1}
