"""Every scenario of the project loads, asks one question, and can be written out and run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.study.load import load_study
from analysis.study.study import Study
from sim.scenario import ScenarioError

FOLDER = Path(__file__).resolve().parents[2] / "scenarios"
FILES = sorted(FOLDER.glob("*.yaml"))
COOKBOOK = sorted(FOLDER.glob("cookbook/*.yaml"))


def hashes(study: Study) -> dict[tuple[str, str], str]:
    return {
        (str(point), variant): study.config_hash(point, variant, 0)
        for point in study.points
        for variant in study.variants
    }


def test_none_is_missing() -> None:
    names = {file.stem for file in FILES}
    assert names >= {
        "hot_row", "open_loop", "quickstart", "rfc77", "rfc77_nvme", "sysbench_update_non_index",
        "sysbench_write_only", "tikv_v8", "leader_transfer", "evict_leader", "split_merge", "crash",
        "hot_region_full", "rolling_upgrade", "shuffle_leader",
    }  # fmt: skip


def test_the_cookbook_has_ten() -> None:
    assert len(COOKBOOK) == 10
    assert not {file.stem for file in COOKBOOK} & {file.stem for file in FILES}


@pytest.mark.parametrize("file", FILES + COOKBOOK, ids=lambda file: file.stem)
def test_asks_one_question_of_several_variants(file: Path) -> None:
    study = load_study(file)
    assert study.name == file.stem
    assert study.about.count("?") == 1
    assert study.about.endswith("?")
    assert len(study.variants) > 1


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_has_pipelined_as_baseline(file: Path) -> None:
    study = load_study(file)
    if next(iter(study.variants.values())).workload.kind == "etcd":
        return  # it has no locks
    assert next(iter(study.variants)) == "pipelined"
    for name, scenario in study.variants.items():
        assert name.startswith(scenario.tikv.lock_mode)


@pytest.mark.parametrize("file", FILES + COOKBOOK, ids=lambda file: file.stem)
def test_units_have_hashes_of_their_own(file: Path) -> None:
    study = load_study(file)
    found = hashes(study).values()
    assert len(set(found)) == len(study.points) * len(study.variants)
    assert all(len(one) == 64 for one in found)
    point, variant = study.points[0], next(iter(study.variants))
    assert study.config_hash(point, variant, 0) != study.config_hash(point, variant, 1)


@pytest.mark.parametrize("file", FILES + COOKBOOK, ids=lambda file: file.stem)
def test_written_out_it_is_the_same_study(file: Path, tmp_path: Path) -> None:
    study = load_study(file)
    written = tmp_path / file.name
    written.write_text(study.resolved_yaml(), encoding="utf-8")
    again = load_study(written)
    assert hashes(again) == hashes(study)
    assert again.expect == study.expect
    assert again.about == study.about
    for point in study.points:
        for variant in study.variants:
            assert again.scenario(point, variant) == study.scenario(point, variant)
    assert again.resolved_yaml() == study.resolved_yaml()


def test_the_rfc_study_is_the_setting_it_says() -> None:
    scenario = load_study(FOLDER / "rfc77.yaml").variants["in_memory"]
    assert scenario.workload.warehouses == 5_000
    assert scenario.workload.threads == 50
    assert scenario.tikv.store_io_pool_size == 0
    assert not scenario.tikv.raft_engine_enable
    assert scenario.hardware.raft_disk.throttled
    assert scenario.hardware.kv_disk is None
    assert scenario.hardware.lsm.write_amplification == 1


def test_defaults_follow_the_version() -> None:
    old = load_study(FOLDER / "quickstart.yaml").variants["in_memory"].tikv
    new = load_study(FOLDER / "tikv_v8.yaml").variants["in_memory"].tikv
    assert (old.store_io_pool_size, old.raft_engine_enable) == (0, False)
    assert (new.store_io_pool_size, new.raft_engine_enable) == (1, True)
    assert new.region_split_size_bytes == 256 << 20


@pytest.mark.parametrize("name", ["quickstart", "quickstart.yaml", "scenarios/quickstart.yaml"])
def test_a_file_that_is_not_here_but_comes_along_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match="no such file; did you mean pessim:quickstart, which"):
        load_study(name)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(
        "about: Mine?\nworkload: {kind: tpcc, warehouses: 1, threads: 1}\n"
    )
    assert load_study(name).about == "Mine?"
