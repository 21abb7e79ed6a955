"""Schedulers and rolling restarts: PD's limits, orders and ends."""

from __future__ import annotations

from pathlib import Path

from tests.operations.stage import Stage


def test_evicting_moves_three_leaders_every_ten_milliseconds(tmp_path: Path) -> None:
    stage = Stage("  - {at: 1s, do: evict_leader, store: 1, for: 1s}", tmp_path, regions=24)
    times = [time for time, _ in stage.run(1.5)]
    assert times == [1000] * 3 + [1010] * 3 + [1020] * 2
    assert 1 not in stage.leaders()


def test_at_most_four_transfers_are_under_way_and_each_is_given_up_after_ten_seconds(
    tmp_path: Path,
) -> None:
    stage = Stage("  - {at: 1s, do: evict_leader, store: 1}", tmp_path, regions=24)
    stage.control.obeys = False
    assert [time for time, _ in stage.run(12)] == [
        1000,
        1000,
        1000,
        1010,
        11000,
        11000,
        11000,
        11010,
    ]


def test_leaders_that_come_back_are_moved_again_while_it_lasts(tmp_path: Path) -> None:
    stage = Stage("  - {at: 1s, do: evict_leader, store: 1, for: 2s}", tmp_path, regions=3)
    stage.run(2)
    stage.cluster.pd.routes.set_leader(1, 1)
    stage.run(2.5)
    assert 1 not in stage.leaders()
    stage.run(3.5)
    stage.cluster.pd.routes.set_leader(1, 1)
    stage.run(4)
    assert 1 in stage.leaders()


def test_a_rolling_restart_empties_stops_and_starts_one_store_after_the_other(
    tmp_path: Path,
) -> None:
    stage = Stage(
        "  - {at: 1s, do: evict_leader, store: each, restart: true, down: 5s, pause: 2s}",
        tmp_path,
        regions=3,
    )
    stops = [entry for entry in stage.run(60) if entry[1].startswith(("crash", "restart"))]
    assert [what for _, what in stops] == [
        "crash 1", "restart 1", "crash 2", "restart 2", "crash 3", "restart 3",
    ]  # fmt: skip
    for (crash, _), (restart, _) in zip(stops[::2], stops[1::2], strict=True):
        assert restart - crash == 5000
    counts, events = stage.facts()
    assert counts == {"evict_leader": 3}
    assert [kind for _, kind, _ in events][:4] == [
        "evict_leader",
        "stop",
        "start",
        "evict_leader_end",
    ]


def test_an_empty_store_is_stopped_when_somebody_looks_the_next_time(tmp_path: Path) -> None:
    stage = Stage("  - {at: 1s, do: evict_leader, store: 1, restart: true}", tmp_path, regions=3)
    assert (6000, "crash 1") in stage.run(9)


def test_a_store_that_does_not_empty_is_stopped_after_the_timeout(tmp_path: Path) -> None:
    stage = Stage("  - {at: 1s, do: evict_leader, store: 1, restart: true, timeout: 3s}", tmp_path)
    stage.control.obeys = False
    assert (4000, "crash 1") in stage.run(9)


def test_an_upgrade_happens_while_the_store_is_down(tmp_path: Path) -> None:
    stage = Stage("  - {at: 1s, do: upgrade_store, store: 2, to: 6.0.0, down: 1s}", tmp_path)
    assert [what for _, what in stage.run(9)][-3:] == ["crash 2", "upgrade 2 to 6.0.0", "restart 2"]


def test_balancing_ends_within_the_tolerance(tmp_path: Path) -> None:
    stage = Stage("  - {do: balance_leader, tolerance: 1}", tmp_path, regions=30)
    for region_id in range(1, 31):
        stage.cluster.pd.routes.set_leader(region_id, 1)
    stage.run(20)
    leaders = stage.leaders()
    counts = [leaders.count(store) for store in (1, 2, 3)]
    assert max(counts) - min(counts) <= 2
    quiet = len(stage.control.log)
    stage.run(40)
    assert len(stage.control.log) == quiet


def test_balancing_keeps_away_from_a_store_that_is_evicted(tmp_path: Path) -> None:
    stage = Stage(
        """
  - {do: balance_leader, tolerance: 0}
  - {at: 1s, do: evict_leader, store: 1, for: 10s}""",
        tmp_path,
        regions=30,
    )
    stage.run(5)
    assert 1 not in stage.leaders()
    stage.run(30)
    assert 1 in stage.leaders()


def test_regions_above_one_and_a_half_times_the_size_are_split(tmp_path: Path) -> None:
    stage = Stage(
        "  - {do: auto_split, by: size, region-split-size: 40KiB, every: 1s}", tmp_path, regions=1
    )
    ranges = [(r.region.start_key, r.region.end_key) for r in stage.cluster.pd.routes.routes]
    assert len(ranges) == 1
    stage.run(20)
    assert len(stage.cluster.pd.routes.routes) == 4, "about 150 KiB make pieces of 40 and a rest"


def test_a_region_is_split_by_load_after_ten_seconds_above_the_threshold(tmp_path: Path) -> None:
    stage = Stage("  - {do: auto_split, by: load, qps-threshold: 100/s, detect-times: 3}", tmp_path)
    stage.run(0.5)
    for second in range(1, 9):
        stage.grow(1, 150 * second)
        stage.grow(2, 50 * second)
        if second != 4:  # then the growth of two seconds is seen in one, and none in the next
            stage.run(second + 0.5)
    assert [time for time, what in stage.control.log if what.startswith("split 1")] == [3000, 8000]
    assert len(stage.control.log) == 2


def test_small_regions_merge_when_they_are_old_enough(tmp_path: Path) -> None:
    stage = Stage(
        """
  - {at: 5s, do: split_region, region: 1}
  - {do: auto_merge, every: 1s, split-merge-interval: 20s}""",
        tmp_path,
        regions=1,
    )
    merges = [entry for entry in stage.run(60) if "merge" in entry[1]]
    assert len(merges) == 1
    assert 25_000 <= merges[0][0] <= 27_000
    assert len(stage.cluster.pd.routes.routes) == 1


def test_large_regions_are_left_alone(tmp_path: Path) -> None:
    stage = Stage(
        "  - {do: auto_merge, every: 1s, split-merge-interval: 0s, max-merge-region-size: 10KiB}",
        tmp_path,
    )
    assert stage.run(20) == []
