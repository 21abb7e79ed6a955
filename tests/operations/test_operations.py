"""Operations carried out on a cluster that obeys: what is asked for, when, and what is noted."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from sim.units import NS_PER_S
from tests.operations.stage import Stage


def test_every_begins_after_one_interval_and_ends_before_until(tmp_path: Path) -> None:
    stage = Stage(
        "  - {every: 2s, until: 6s, do: transfer_leader, region: 1, to: 2}", tmp_path, regions=1
    )
    stage.control.obeys = False
    assert stage.run(20) == [(2000, "transfer 1 to 2"), (4000, "transfer 1 to 2")]


def test_at_happens_once_and_count_limits(tmp_path: Path) -> None:
    stage = Stage(
        """
  - {at: 500ms, do: fill_disk, store: 1}
  - {every: 1s, from: 0s, count: 2, do: fill_disk, store: 2}""",
        tmp_path,
    )
    assert stage.run(9) == [(0, "fill 2"), (500, "fill 1"), (1000, "fill 2")]


def test_a_rate_is_a_poisson_process_of_its_own_stream(tmp_path: Path) -> None:
    operation = "  - {name: a, rate: 5/s, do: fill_disk, store: 1}"
    alone = Stage(operation, tmp_path).run(200)
    other = "  - {name: b, rate: 9/s, do: fill_disk, store: 2}\n"
    together = Stage(other + operation, tmp_path).run(200)
    assert [entry for entry in together if entry[1] == "fill 1"] == alone
    assert 900 < len(alone) < 1100
    gaps = [after - before for (before, _), (after, _) in pairwise(alone)]
    mean = sum(gaps) / len(gaps)
    variance = sum((gap - mean) ** 2 for gap in gaps) / len(gaps)
    assert 0.8 < variance**0.5 / mean < 1.2


def test_targets_by_key_table_and_id(tmp_path: Path) -> None:
    stage = Stage(
        """
  - {at: 1s, do: transfer_leader, region: {table: acct, row: 300}, to: 3}
  - {at: 2s, do: transfer_leader, region: {table: acct, row: 301}, to: 1}
  - {at: 3s, do: transfer_leader, region: {key: "ff"}, to: 1}
  - {at: 4s, do: transfer_leader, region: 9, to: 1}
  - {at: 5s, do: fill_disk, store: {leader_of: 2}}""",
        tmp_path,
    )
    assert stage.run(9) == [
        (1000, "transfer 1 to 3"), (2000, "transfer 2 to 1"), (3000, "transfer 3 to 1"),
        (5000, "fill 1"),
    ]  # fmt: skip


def test_the_hottest_is_what_grew_most_since_the_last_look(tmp_path: Path) -> None:
    stage = Stage("  - {every: 1s, do: split_region, region: hottest}", tmp_path)
    assert stage.run(1.5) == []
    stage.grow(1, 100)
    stage.grow(2, 300)
    stage.run(2.5)
    stage.grow(1, 150)
    stage.grow(2, 310)
    assert stage.run(3.5) == [
        (2000, "split 2 into 4 and itself"), (3000, "split 1 into 5 and itself"),
    ]  # fmt: skip


def test_a_random_target_is_never_where_the_leader_is_or_a_store_that_is_down(
    tmp_path: Path,
) -> None:
    stage = Stage("  - {every: 1s, do: transfer_leader, region: 1}", tmp_path)
    stage.cluster.down.append(3)
    assert {what for _, what in stage.run(30)} == {"transfer 1 to 1", "transfer 1 to 2"}


def test_shuffling_moves_about_two_thirds_of_the_leaders(tmp_path: Path) -> None:
    stage = Stage("  - {every: 3s, do: shuffle_leader}", tmp_path, regions=90)
    moved = [what for time, what in stage.run(3.1) if time == 3000]
    assert 45 < len(moved) < 75


def test_a_split_halves_the_data_or_cuts_at_a_row(tmp_path: Path) -> None:
    stage = Stage(
        """
  - {at: 1s, do: split_region, region: 1}
  - {at: 2s, do: split_region, region: {table: acct, row: 451}}""",
        tmp_path,
        regions=1,
    )
    stage.run(1.5)
    keys = [route.region.start_key for route in stage.cluster.pd.routes.routes]
    assert keys[1][-2:] == (451).to_bytes(2, "big")
    assert len(stage.run(2.5)) == 1, "a region that begins there already cannot be split there"


def test_a_merge_takes_the_neighbour_that_is_meant(tmp_path: Path) -> None:
    stage = Stage(
        """
  - {at: 1s, do: merge_region, region: 1, into: previous}
  - {at: 2s, do: merge_region, region: 1}
  - {at: 3s, do: merge_region, region: 3, into: previous}""",
        tmp_path,
    )
    assert stage.run(9) == [(2000, "merge 1 into 2"), (3000, "merge 3 into 2")]


def test_moving_a_replica_adds_before_it_removes(tmp_path: Path) -> None:
    stage = Stage(
        "  - {at: 1s, do: change_peer, region: 1, add: random, remove: random}",
        tmp_path,
        "cluster.stores=4",
    )
    (added, removed) = stage.run(9)
    assert added == (1000, "change 1 add 4 remove 0")
    assert removed[1] in {"change 1 add 0 remove 2", "change 1 add 0 remove 3"}


@pytest.mark.parametrize(
    ("operation", "log"),
    [
        ("crash_store, store: 2, for: 1s", ["crash 2", "restart 2"]),
        ("crash_store, store: 2", ["crash 2"]),
        ("slow_disk, store: 2, factor: 10, for: 1s", ["slow 2 by 10", "slow 2 by 1"]),
        ("stress_cpu, store: 2, workers: 3, for: 1s", ["stress 2 with 3", "stress 2 with 0"]),
        ("fill_disk, store: 2, for: 1s", ["fill 2", "free 2"]),
        ("partition, isolate: 2, for: 1s", ["isolate store-2", "heal"]),
        ("partition, groups: [[1], [2, 3]]", ["partition store-1 | store-2 store-3"]),
        ("upgrade_store, store: 2, to: 6.0.0, restart: false", ["upgrade 2 to 6.0.0"]),
        ("set_config, key: pessimistic-txn.in-memory, value: false",
         ["set pessimistic-txn.in-memory False on None"]),
        ("drop_messages, kind: Append, from_store: 2, for: 1s",
         ["filter Append 0 {'src': 2, 'dst': 0, 'region': 0}", "unfilter Append"]),
        ("delay_messages, kind: Append, region: 3, delay: 2us".replace("2us", "2ms"),
         ["filter Append 2000000 {'src': 0, 'dst': 0, 'region': 3}"]),
    ],
)  # fmt: skip
def test_a_fault_begins_and_ends(operation: str, log: list[str], tmp_path: Path) -> None:
    stage = Stage(f"  - {{at: 1s, do: {operation}}}", tmp_path)
    assert stage.run(9) == [(1000 + 1000 * place, what) for place, what in enumerate(log)]


def test_a_store_that_somebody_restarted_is_not_restarted_again(tmp_path: Path) -> None:
    stage = Stage(
        """
  - {at: 1s, do: crash_store, store: 2, for: 5s}
  - {at: 2s, do: restart_store, store: random}""",
        tmp_path,
    )
    assert stage.run(9) == [(1000, "crash 2"), (2000, "restart 2")]


def test_what_was_done_is_counted_and_noted(tmp_path: Path) -> None:
    stage = Stage("  - {at: 1s, do: crash_store, store: 2, for: 1s}", tmp_path)
    stage.run(9)
    assert stage.facts() == (
        {"crash_store": 1},
        [(NS_PER_S, "crash_store", "store 2"), (2 * NS_PER_S, "crash_store_end", "store 2")],
    )


@pytest.mark.parametrize(
    ("operation", "detail"),
    [
        ("stress_cpu, store: 2, workers: 1000", "store 2, 1,000 busy threads"),
        ("stress_cpu, store: 2, workers: 1", "store 2, 1 busy thread"),
        ("slow_disk, store: 2, factor: 1000", "store 2 by 1000"),
        ("partition, groups: [[1], [2, 3]]", "store-1 | store-2 store-3"),
        ("partition, isolate: 2", "store-2"),
    ],
)
def test_an_end_says_what_its_beginning_says(operation: str, detail: str, tmp_path: Path) -> None:
    stage = Stage(f"  - {{at: 1s, do: {operation}, for: 1s}}", tmp_path)
    stage.run(9)
    kind = operation.partition(",")[0]
    assert stage.facts()[1] == [
        (NS_PER_S, kind, detail), (2 * NS_PER_S, f"{kind}_end", detail)
    ]  # fmt: skip
