"""Points: listed, sampled, left out, replaced on the command line."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from analysis.study.load import load_study
from analysis.study.sweep import latin_hypercube
from tests.study.study_files import BASE, COMPARE, study_of, told


def test_points_are_as_written(tmp_path: Path) -> None:
    points = "[{workload.threads: 3, cluster.stores: 5}, {cluster.stores: 3, workload.threads: 9}]"
    study = study_of(tmp_path, f"{BASE}sweep: {{points: {points}}}\n")
    assert study.points == (
        {"workload.threads": 3, "cluster.stores": 5},
        {"workload.threads": 9, "cluster.stores": 3},
    )
    assert list(study.points[1]) == ["workload.threads", "cluster.stores"]


def test_a_hypercube_becomes_points(tmp_path: Path) -> None:
    sweep = """sweep:
  latin_hypercube:
    samples: 4
    ranges:
      workload.threads: {between: [10, 410]}
      hardware.disk.raft.append.mean: {between: [100us, 1ms], scale: log}
"""
    study = study_of(tmp_path, BASE + sweep)
    assert [point["workload.threads"] for point in study.points] == [60, 160, 260, 360]
    assert study.points[0]["hardware.disk.raft.append.mean"] == "133.4us"
    written = study.resolved_yaml()
    assert "latin_hypercube" not in written
    (tmp_path / "y.yaml").write_text(written, encoding="utf-8")
    assert load_study(tmp_path / "y.yaml").points == study.points


def test_whole_numbers_that_coincide_are_one_point(tmp_path: Path) -> None:
    sweep = "sweep: {latin_hypercube: {samples: 40, ranges: {cluster.stores: {between: [3, 5]}}}}"
    study = study_of(tmp_path, BASE + sweep)
    assert [point["cluster.stores"] for point in study.points] == [3, 4, 5]


@pytest.mark.parametrize(
    ("skip", "kept"),
    [
        ("[]", [(5, "1ms"), (5, "4ms"), (300, "1ms"), (300, "4ms")]),
        ("[{workload.threads: 5}]", [(300, "1ms"), (300, "4ms")]),
        ("[{workload.threads: 5, hardware.disk.raft.append: 4ms}]",
         [(5, "1ms"), (300, "1ms"), (300, "4ms")]),
        ("[{hardware.disk.raft.append: [4000us]}]", [(5, "1ms"), (300, "1ms")]),
        ("[{hardware.disk.raft.append: {above: 0.5ms, below: 3999us}}]",
         [(5, "4ms"), (300, "4ms")]),
        ("[{workload.threads: {above: 299}}, {hardware.disk.raft.append: {below: 2ms}}]",
         [(5, "4ms")]),
        ("[{workload.threads: {above: 300}}]",
         [(5, "1ms"), (5, "4ms"), (300, "1ms"), (300, "4ms")]),
    ],
)  # fmt: skip
def test_a_point_is_left_out_if_one_entry_applies_wholly(
    tmp_path: Path, skip: str, kept: list[tuple[int, str]]
) -> None:
    grid = "{workload.threads: [5, 300], hardware.disk.raft.append: [1ms, 4ms]}"
    study = study_of(tmp_path, f"{BASE}sweep: {{grid: {grid}, skip: {skip}}}\n")
    assert [tuple(point.values()) for point in study.points] == kept
    assert study.skipped == 4 - len(kept)
    again = study_of(tmp_path, study.resolved_yaml())
    assert (again, again.skipped) == (study, study.skipped)


def test_a_grid_of_the_command_line_replaces_the_files(tmp_path: Path) -> None:
    swept = BASE + "sweep: {grid: {workload.threads: [5, 300]}}\n"
    study = study_of(tmp_path, swept, "sweep.grid.workload.threads=[7, 8, 9]")
    assert [point["workload.threads"] for point in study.points] == [7, 8, 9]
    study = study_of(tmp_path, BASE, "sweep.grid.workload.threads=[7]")
    assert study.points == ({"workload.threads": 7},)


def test_contours_are_ratios_by_figure(tmp_path: Path) -> None:
    sweep = "sweep: {grid: {workload.threads: [5, 9]}, map: {lock_latency_ms.mean: 0.5}}\n"
    assert study_of(tmp_path, BASE + COMPARE + sweep).contours == {"lock_latency_ms": 0.5}


def test_a_study_travels_without_what_can_be_made_again(tmp_path: Path) -> None:
    values = ", ".join(map(str, range(1, 101)))
    swept = f"{BASE}{COMPARE}sweep: {{grid: {{workload.threads: [{values}]}}}}\n"
    study = study_of(tmp_path, swept)
    packed = pickle.dumps(study)
    assert len(packed) < 20_000
    again = pickle.loads(packed)
    assert again == study
    assert again.scenario(study.points[7], "b") == study.scenario(study.points[7], "b")
    assert again.config_hash(study.points[7], "b", 3) == study.config_hash(study.points[7], "b", 3)


def test_a_wrong_point_is_found_among_many(tmp_path: Path) -> None:
    values = "\n".join(f"      - {threads}" for threads in [*range(1, 60), 0])
    lines = told(tmp_path, f"{BASE}sweep:\n  grid:\n    workload.threads:\n{values}\n")
    assert lines.endswith("x.yaml:66:9: workload.threads: must be 1 to 100000, is 0; change it")
    assert "\n" not in lines


@pytest.mark.parametrize(("samples", "dimensions"), [(2, 1), (40, 3), (7, 20)])
def test_each_part_of_each_range_has_one_point(samples: int, dimensions: int) -> None:
    points = latin_hypercube(samples, dimensions, 1)
    assert len(points) == samples
    for shares in zip(*points, strict=True):
        assert sorted(int(share * samples) for share in shares) == list(range(samples))


def test_a_seed_gives_its_points_and_another_gives_others() -> None:
    assert latin_hypercube(10, 2, 1) == latin_hypercube(10, 2, 1)
    assert latin_hypercube(10, 2, 1) != latin_hypercube(10, 2, 2)
