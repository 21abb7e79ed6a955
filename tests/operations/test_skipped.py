"""Operations that could not be done are counted by their names, and say why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operations.stage import Stage

FOUR = "cluster.stores=4"


@pytest.mark.parametrize(
    ("operations", "why", "event"),
    [
        (["do: transfer_leader, region: 9"], "no_region",
         "transfer leader: there is no such region"),
        (["do: transfer_leader, region: 1, to: 1"], "is_leader",
         "transfer leader, region 1 to store 1: the store leads the region already"),
        (["do: transfer_leader, region: 1, to: 4"], "no_replica",
         "transfer leader, region 1 to store 4: the store has no replica of the region"),
        (["do: crash_store, store: 2", "do: crash_store, store: 2"], "is_down",
         "crash store, store 2: the store is down"),
        (["do: restart_store, store: 2"], "is_up", "restart store, store 2: the store is up"),
        (["do: restart_store, store: random"], "none_down", "restart store: no store is down"),
        (["do: partition, isolate: {leader_of: 9}"], "no_store",
         "partition: there is no such store"),
        (["do: crash_store, store: 1", "do: evict_leader, store: 1, for: 1s"], "is_down",
         "evict leader, store 1: the store is down"),
        (["do: split_region, region: {table: acct, row: 301}"], "no_split_key",
         "split region, region 2: the region begins at that key, or has too few rows to be split"),
        (["do: merge_region, region: 1, into: previous"], "no_neighbour",
         "merge region, region 1: the region has no neighbour on that side"),
        (["do: merge_region, region: 1"], "other_stores",
         "merge region, region 1: the neighbour is on other stores"),
        (["do: change_peer, region: 1, add: 1"], "has_replica",
         "change peer, region 1 add store 1: the store has a replica of the region already"),
        (["do: change_peer, region: 1, remove: 4"], "no_replica",
         "change peer, region 1 remove store 4: the store has no replica of the region"),
        (["do: drop_messages, kind: Append, region: 9"], "no_region",
         "drop messages, Append: there is no such region"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_counted_with_its_reason(
    operations: list[str], why: str, event: str, tmp_path: Path
) -> None:
    lines = [
        f"  - {{name: it{place}, at: {place + 1}s, {each}}}"
        for place, each in enumerate(operations)
    ]
    stage = Stage("\n".join(lines), tmp_path, FOUR)
    stage.run(9)
    counts, events = stage.facts()
    skipped = {name: times for name, times in counts.items() if ":" in name}
    assert skipped == {f"it{len(operations) - 1}:{why}": 1}
    assert [detail for _, kind, detail in events if kind == "skipped"] == [event]


def test_a_replica_for_which_there_is_no_store_is_not_added(tmp_path: Path) -> None:
    stage = Stage("  - {name: it, at: 1s, do: change_peer, region: 1, add: random}", tmp_path)
    assert stage.run(9) == []
    assert stage.facts()[0] == {"it:all_have_one": 1}
