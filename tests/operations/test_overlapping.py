"""Faults that overlap: the end of one of them undoes nothing that another one does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operations.stage import Stage


@pytest.mark.parametrize(
    ("operations", "log"),
    [
        (
            ["1s, do: partition, groups: [[tidb-0], [1]]",
             "1500ms, do: partition, groups: [[tidb-1], [1]], for: 500ms"],
            [(1000, "partition tidb-0 | store-1"), (1500, "partition tidb-1 | store-1"),
             (2000, "heal but tidb-0 | store-1")],
        ),
        (
            ["1s, do: partition, isolate: 2, for: 2s", "2s, do: partition, isolate: 3, for: 2s"],
            [(1000, "isolate store-2"), (2000, "isolate store-3"),
             (3000, "heal but store-3 | all others"), (4000, "heal")],
        ),
        (
            ["1s, do: crash_store, store: 1, for: 2s", "1500ms, do: restart_store, store: 1",
             "2s, do: crash_store, store: 1"],
            [(1000, "crash 1"), (1500, "restart 1"), (2000, "crash 1")],
        ),
        (
            ["1s, do: slow_disk, store: 1, factor: 10, for: 2s",
             "2s, do: slow_disk, store: 1, factor: 3, for: 3s",
             "2s, do: slow_disk, store: 2, factor: 9, for: 1s"],
            [(1000, "slow 1 by 10"), (2000, "slow 1 by 3"), (2000, "slow 2 by 9"),
             (3000, "slow 1 by 3"), (3000, "slow 2 by 1"), (5000, "slow 1 by 1")],
        ),
        (
            ["1s, do: slow_disk, store: 1, factor: 10",
             "2s, do: slow_disk, store: 1, factor: 3, for: 1s"],
            [(1000, "slow 1 by 10"), (2000, "slow 1 by 3"), (3000, "slow 1 by 10")],
        ),
        (
            ["1s, do: stress_cpu, store: 1, workers: 4",
             "2s, do: stress_cpu, store: 1, workers: 7, for: 1s"],
            [(1000, "stress 1 with 4"), (2000, "stress 1 with 7"), (3000, "stress 1 with 4")],
        ),
        (
            ["1s, do: fill_disk, store: 1, usage: almost_full, for: 3s",
             "2s, do: fill_disk, store: 1, for: 1s"],
            [(1000, "fill 1 almost"), (2000, "fill 1"), (3000, "fill 1 almost"), (4000, "free 1")],
        ),
    ],
)  # fmt: skip
def test_an_end_undoes_only_its_own(
    operations: list[str], log: list[tuple[int, str]], tmp_path: Path
) -> None:
    stage = Stage("\n".join(f"  - {{at: {each}}}" for each in operations), tmp_path)
    assert stage.run(9) == log


def test_a_timer_does_not_start_a_store_that_a_rolling_restart_has_stopped(tmp_path: Path) -> None:
    stage = Stage(
        """
  - {at: 1s, do: crash_store, store: 1, for: 3s}
  - {at: 2s, do: restart_store, store: 1}
  - {at: 3s, do: evict_leader, store: 1, restart: true, timeout: 10ms, down: 4s}""",
        tmp_path,
    )
    stage.control.obeys = False
    told = [what for what in stage.run(20) if not what[1].startswith("transfer")]
    assert told == [(1000, "crash 1"), (2000, "restart 1"), (3010, "crash 1"), (7010, "restart 1")]


def test_leaders_keep_away_until_the_last_eviction_ends(tmp_path: Path) -> None:
    stage = Stage(
        """
  - {at: 1s, do: evict_leader, store: 1, for: 2s}
  - {at: 2s, do: evict_leader, store: 1, for: 9s}
  - {at: 4s, do: shuffle_leader}
  - {from: 4500ms, do: balance_leader, tolerance: 1}""",
        tmp_path,
        regions=9,
    )
    stage.run(10)
    assert 1 not in stage.leaders()
